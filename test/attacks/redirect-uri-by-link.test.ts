// Attack: a link that fills in a redirect URI on an application's page (`/admin/applications/:id?add_redirect_uri=…`, or
// `?add_post_logout_redirect_uri=…` for one after a sign-out) comes from anyone: error pages and guides have it, and so may a stranger's mail. It may do nothing but fill in a form: nothing is
// registered by a GET, nothing runs, and the page names the host before anyone presses Save.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, challengeOf, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let id: string;
const REGISTERED = 'https://app.acme.example/callback';
const EVIL = 'https://evil.example/callback';

const signedIn = async (username: string, role: string): Promise<Agent> => {
  await app.createUser(username, { role });
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(signIn, { username, password: PASSWORD })).status, 200);
  return agent;
};

before(async () => {
  app = await startApp();
  admin = await signedIn('root-admin', 'admin');
  ({ id } = await app.register({ client_name: 'Acme', redirect_uris: [REGISTERED] }));
});
after(() => app.stop());

const pathOf = (...uris: string[]): string =>
  `/admin/applications/${id}?${uris.map((uri) => `add_redirect_uri=${encodeURIComponent(uri)}`).join('&')}`;
const open = (...uris: string[]): Promise<Page> => admin.get(pathOf(...uris));
const stored = async () => {
  const { redirect_uris, updated_at } = (await app.admin('GET', `/clients/${id}`)).body.data;
  return { redirect_uris, updated_at };
};
const linesIn = (page: Page): string[] =>
  (/<textarea[^>]*name="redirect_uris"[^>]*>([^<]*)</.exec(page.body)?.[1] ?? '').trim().split('\n');
/** What the page says about the link. */
const noteIn = (page: Page): string => /<section class="asked"[\s\S]*?<\/section>/.exec(page.body)?.[0] ?? '';

test('redirect URI by link: filled in, its host named, not saved; then saved by the form', async () => {
  const before = await stored();
  const page = await open(EVIL);
  equal(page.status, 200);
  deepEqual(linesIn(page), [REGISTERED, EVIL]);
  match(noteIn(page), /Nothing is saved yet/);
  match(noteIn(page), /It leads to <bdi class="where">evil\.example<\/bdi>/);
  match(noteIn(page), /No redirect URI of this application is on this host so far/);
  match(page.body, /<li class="yes">[\s\S]{0,400}evil\.example/);
  // A fragment may scroll past the note: the button says it again.
  match(page.body, /saving adds it/);
  deepEqual(await stored(), before);

  const near = await open('https://app.acme.example/other', 'http://localhost:3000/cb', REGISTERED);
  doesNotMatch(noteIn(near), /on this host so far/);
  match(noteIn(near), /user’s own computer/);
  match(noteIn(near), /registered already/);
  deepEqual(linesIn(near), [REGISTERED, 'https://app.acme.example/other', 'http://localhost:3000/cb']);
  doesNotMatch((await admin.get(`/admin/applications/${id}`)).body, /class="asked"/);

  const { body } = near;
  const values = {
    ...hiddenFields(body),
    client_name: 'Acme',
    rotate_refresh_tokens: 'auto',
    'grant_types.authorization_code': 'on',
  };
  const saved = await admin.post(`/admin/applications/${id}`, {
    ...values,
    redirect_uris: linesIn(near).join('\n'),
  });
  equal(saved.status, 303, saved.body);
  deepEqual((await stored()).redirect_uris, linesIn(near));
  await app.admin('PATCH', `/clients/${id}`, { redirect_uris: [REGISTERED] });
});

const REFUSED = [
  'javascript:alert(1)//https://app.acme.example/callback',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  '//evil.example/callback',
  'https://app.acme.example@evil.example/callback',
  'https://evil.example\\@app.acme.example/callback',
  'http://evil.example/callback',
  'https://*.acme.example/callback',
  `${EVIL}#fragment`,
  `${REGISTERED}\n${EVIL}`,
  `${REGISTERED}\r\n${EVIL}`,
  `${REGISTERED} ${EVIL}`,
  `https://app.acme.example/${'x'.repeat(3000)}`,
  '"><script>alert(1)</script>',
  '</textarea><svg onload=alert(1)>',
  "'-alert(1)-'",
  '{{4321*8765}}',
];

test('attack: a link to what may not be registered: schemes, lines, markup, great length', async () => {
  for (const uri of REFUSED) {
    const page = await open(uri);
    equal(page.status, 200, uri);
    deepEqual(linesIn(page), [REGISTERED], uri);
    match(noteIn(page), /It cannot be registered/, uri);
    match(noteIn(page), /Nothing was changed/);
    doesNotMatch(page.body, /<script>alert|<svg onload|href="(?:javascript|data|vbscript):|37873565/i, uri);
    ok(!noteIn(page).includes('x'.repeat(2500)), 'shown in full');
  }
  const many = await open(...Array.from({ length: 80 }, (_, at) => `${EVIL}/${at}`));
  equal(linesIn(many).length, 6);
});

test('attack: a host that only looks like another one is named as it is (homograph, port, case)', async () => {
  const named = async (uri: string) => /class="where">([^<]*)</.exec(noteIn(await open(uri)))?.[1];
  match((await named('https://аpp.acme.example/callback')) ?? 'xn--', /^xn--/);
  equal(await named('https://app.acme.example.evil.example/callback'), 'app.acme.example.evil.example');
  equal(await named('https://app.acme.example:8443/callback'), 'app.acme.example:8443');
});

test('attack: the link leads away or saves, by whatever else it has (open redirect, CSRF)', async () => {
  const before = await stored();
  const more = `${pathOf(EVIL)}&csrf=x&version=1&_method=POST&save=1&return_to=${encodeURIComponent(EVIL)}`;
  const page = await admin.get(more);
  equal(page.status, 200);
  doesNotMatch(page.body, /(?:href|action|src)="[^"]*\/\/evil\.example/);
  equal(page.headers.get('x-frame-options'), 'DENY');
  match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
  for (const csrf of [undefined, '', 'x']) {
    const sent = await admin.post(pathOf(EVIL), { redirect_uris: EVIL, ...(csrf !== undefined && { csrf }) });
    equal(sent.status, 403);
  }
  deepEqual(await stored(), before);
});

test('attack: an auditor or a stranger opens the link; the built-in application ignores it', async () => {
  const reader = await signedIn('reader', 'auditor');
  const page = await reader.get(pathOf(EVIL));
  match(noteIn(page), /Only an administrator can add it/);
  doesNotMatch(page.body, /name="redirect_uris"/);
  const stranger = await new Agent(app).get(pathOf(EVIL));
  deepEqual([stranger.status, /\/oauth2\/authorize\?/.test(stranger.location ?? '')], [303, true]);
  const { items = [] } = (await app.admin('GET', '/clients?limit=50')).body.data;
  const ours = items.find(({ origin }) => origin === 'seed');
  const builtIn = await admin.get(
    `/admin/applications/${ours?.client_id}?add_redirect_uri=${encodeURIComponent(EVIL)}`,
  );
  match(builtIn.body, /This is the Admin UI itself/);
  doesNotMatch(builtIn.body, /class="asked"/);
});

const AFTER = 'https://app.acme.example/bye';
const afterPathOf = (uri: string): string =>
  `/admin/applications/${id}?add_post_logout_redirect_uri=${encodeURIComponent(uri)}`;
const afterLinesIn = (page: Page): string[] =>
  (/<textarea[^>]*name="post_logout_redirect_uris"[^>]*>([^<]*)</.exec(page.body)?.[1] ?? '')
    .trim()
    .split('\n');
const storedAfter = async () =>
  (await app.admin('GET', `/clients/${id}`)).body.data.post_logout_redirect_uris;

test('post-logout redirect URI by link: from the error page into the form, saved by that alone', async () => {
  await app.admin('PATCH', `/clients/${id}`, { post_logout_redirect_uris: [AFTER] });
  const wrong = 'https://elsewhere.example/bye?a=1&b=2';
  const query = new URLSearchParams({ client_id: id, post_logout_redirect_uri: wrong });
  const refused = await new Agent(app).get(`/oauth2/logout?${query}`);
  equal(refused.status, 400);
  match(refused.body, /to an address that is not registered for that/);
  const [, href = ''] = /<a href="([^"]*\/admin\/applications\/[^"]*)"/.exec(refused.body) ?? [];
  const url = new URL(href.replaceAll('&amp;', '&'));
  deepEqual(
    [url.origin, url.pathname, url.searchParams.get('add_post_logout_redirect_uri')],
    [new URL(app.url).origin, `/admin/applications/${id}`, wrong],
  );
  const form = await admin.get(url.pathname + url.search);
  equal(form.status, 200);
  equal(afterLinesIn(form).at(-1)?.replaceAll('&amp;', '&'), wrong);
  deepEqual(linesIn(form), [REGISTERED]);
  match(noteIn(form), /A link filled in a post-logout redirect URI/);
  match(noteIn(form), /Nothing is saved yet/);
  match(noteIn(form), /It leads to <bdi class="where">elsewhere\.example<\/bdi>/);
  match(noteIn(form), /No redirect URI of this application is on this host so far/);
  match(noteIn(form), /href="#post_logout_redirect_uris"/);
  deepEqual(await storedAfter(), [AFTER]);

  const good = 'https://app.acme.example/goodbye';
  const page = await admin.get(afterPathOf(good));
  doesNotMatch(noteIn(page), /on this host so far/);
  const saved = await admin.post(`/admin/applications/${id}`, {
    ...hiddenFields(page.body),
    client_name: 'Acme',
    'grant_types.authorization_code': 'on',
    rotate_refresh_tokens: 'auto',
    redirect_uris: REGISTERED,
    post_logout_redirect_uris: afterLinesIn(page).join('\n'),
  });
  equal(saved.status, 303, saved.body);
  deepEqual(await storedAfter(), [AFTER, good]);
  await app.admin('PATCH', `/clients/${id}`, { post_logout_redirect_uris: [AFTER] });

  // Too long for a link; unknown applications have no page.
  const long = new URLSearchParams({
    client_id: id,
    post_logout_redirect_uri: `${EVIL}/${'%'.repeat(2500)}`,
  });
  doesNotMatch((await new Agent(app).get(`/oauth2/logout?${long}`)).body, /add_post_logout/);
  const unknown = new URLSearchParams({ client_id: 'nobody', post_logout_redirect_uri: wrong });
  doesNotMatch((await new Agent(app).get(`/oauth2/logout?${unknown}`)).body, /add_post_logout/);
});

test('attack: a link registers where users go after a sign-out, or what may not be registered', async () => {
  const before = [await stored(), await storedAfter()];
  for (const uri of REFUSED) {
    const page = await admin.get(afterPathOf(uri));
    equal(page.status, 200, uri);
    deepEqual(afterLinesIn(page), [AFTER], uri);
    match(noteIn(page), /It cannot be registered/, uri);
    doesNotMatch(page.body, /<script>alert|<svg onload|href="(?:javascript|data|vbscript):|37873565/i, uri);
  }
  const more = `${afterPathOf(EVIL)}&add_redirect_uri=${encodeURIComponent(`${EVIL}/2`)}&csrf=x&_method=POST&save=1`;
  const both = await admin.get(more);
  doesNotMatch(both.body, /(?:href|action|src)="[^"]*\/\/evil\.example/);
  // One field by one link: what is filled in is what the note names.
  deepEqual([linesIn(both), afterLinesIn(both)], [[REGISTERED, `${EVIL}/2`], [AFTER]]);
  for (const csrf of [undefined, '', 'x']) {
    const sent = { post_logout_redirect_uris: EVIL, ...(csrf !== undefined && { csrf }) };
    equal((await admin.post(afterPathOf(EVIL), sent)).status, 403);
  }
  const reader = await signedIn('reader-after', 'auditor');
  const seen = await reader.get(afterPathOf(EVIL));
  match(noteIn(seen), /Only an administrator can add it/);
  doesNotMatch(seen.body, /name="post_logout_redirect_uris"/);
  equal((await new Agent(app).get(afterPathOf(EVIL))).status, 303);
  deepEqual([await stored(), await storedAfter()], before);
});

const ask = (fields: Record<string, string | undefined>): Promise<Page> =>
  new Agent(app).authorize({
    client_id: id,
    redirect_uri: REGISTERED,
    response_type: 'code',
    scope: 'openid',
    code_challenge: challengeOf('v'.repeat(43)),
    code_challenge_method: 'S256',
    ...fields,
  });

test('error page of a wrong redirect URI: links to the application with it filled in', async () => {
  const wrong = 'https://app.acme.example/wrong?a=1&b=<2>';
  const page = await ask({ redirect_uri: wrong });
  equal(page.status, 400);
  match(page.body, /not registered for it/);
  const [, href = ''] = /<a href="([^"]*\/admin\/applications\/[^"]*)"/.exec(page.body) ?? [];
  const url = new URL(href.replaceAll('&amp;', '&'));
  deepEqual([url.origin, url.searchParams.get('add_redirect_uri')], [new URL(app.url).origin, wrong]);
  const form = await admin.get(url.pathname + url.search);
  match(noteIn(form), /app\.acme\.example/);
  // The link has to fit into what browsers and proxies take.
  const long = await ask({ redirect_uri: `${EVIL}/${'%'.repeat(2500)}` });
  equal(long.status, 400);
  doesNotMatch(long.body, /add_redirect_uri/);
});

test('error pages of other refusals: say what is missing or unknown, and where to check it', async () => {
  const unknown = await ask({ client_id: '<b>nobody</b>' });
  match(unknown.body, /No application with this client ID can be used here/);
  match(unknown.body, /href="[^"]*\/admin\/applications"/);
  doesNotMatch(unknown.body, /<b>nobody/);
  for (const name of ['client_id', 'redirect_uri'])
    match((await ask({ [name]: undefined })).body, new RegExp(`left out a required parameter: ${name}\\.`));
  match((await ask({ redirect_uri: undefined })).body, new RegExp(`href="[^"]*/admin/applications/${id}"`));
  // A deactivated application is told from an unknown one by nobody.
  await app.admin('PATCH', `/clients/${id}`, { is_active: false });
  match((await ask({})).body, /No application with this client ID can be used here/);
  await app.admin('PATCH', `/clients/${id}`, { is_active: true });
});
