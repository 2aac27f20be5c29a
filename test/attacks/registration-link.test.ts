// Attack: a link that fills in the form for a new application (`/admin/applications/new?name=…`) comes from anyone. It may do
// nothing but fill in: no application by a GET, no script, no unseen redirect, no trust that the administrator did not give.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
const NEW = '/admin/applications/new';
const HOME = 'http://localhost:4000';
const link = (fields: Record<string, string>): string => `${NEW}?${new URLSearchParams(fields)}`;
/** Leads to the form of that kind of application. */
const open = async (fields: Record<string, string>): Promise<Page> =>
  admin.follow(await admin.get(link(fields)));

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const count = async (): Promise<unknown> => (await app.admin('GET', '/clients')).body.data.total;

const GOOD = {
  name: 'Sample',
  type: 'native',
  redirect_uris: `${HOME}/callback`,
  return_to: `${HOME}/registered?state=abc`,
};

test('registration link: fills in the form, says so, and registers nothing before the press', async () => {
  const before = await count();
  const page = await open(GOOD);
  equal(page.status, 200);
  match(page.body, /A link filled in this form\. Nothing is registered yet/);
  match(page.body, /value="Sample"/);
  match(page.body, /action="\/admin\/applications\/new\/native"/);
  match(page.body, /you can return to <bdi>localhost:4000<\/bdi>/);
  equal(await count(), before);
  doesNotMatch((await admin.get(NEW)).body, /A link filled in/);
});

test('attack: a link whose form is refused at first, so that the next has no warning', async () => {
  const page = await open(GOOD);
  const { return_to: _, ...typed } = GOOD;
  for (const wrong of [{ redirect_uris: `${HOME}/callback\nftp://nowhere` }, { name: '' }]) {
    const refused = await admin.post('/admin/applications/new/native', {
      ...hiddenFields(page.body),
      ...typed,
      ...wrong,
    });
    equal(refused.status, 400);
    match(refused.body, /A link filled in this form/);
    match(refused.body, /you can return to <bdi>localhost:4000<\/bdi>/);
    equal(hiddenFields(refused.body).by_link, 'on');
  }
});

test('registration link: after the press the way back carries the client ID, and no secret', async () => {
  for (const type of ['native', 'web']) {
    const page = await open({ ...GOOD, type });
    const { return_to: _, ...typed } = GOOD;
    const sent = await admin.post(`/admin/applications/new/${type}`, {
      ...hiddenFields(page.body),
      ...typed,
    });
    equal(sent.status, 303, sent.body);
    const done = await admin.get(sent.location ?? '');
    const [, href = ''] = /href="([^"]+)"><span>Continue at <bdi>localhost:4000</.exec(done.body) ?? [];
    const back = new URL(href.replaceAll('&amp;', '&'));
    const [, id] = /applications\/([^/]+)\/secret/.exec(sent.location ?? '') ?? [];
    equal(back.origin + back.pathname, `${HOME}/registered`);
    deepEqual([...back.searchParams.keys()].sort(), ['client_id', 'state']);
    equal(back.searchParams.get('client_id'), id);
  }
});

test('attack: the link or a foreign form registers an application (CSRF)', async () => {
  const before = await count();
  await open({ ...GOOD, csrf: 'x', submit: '1', _method: 'POST' });
  for (const csrf of [undefined, 'x', '']) {
    const sent = await admin.post('/admin/applications/new/native', {
      ...GOOD,
      ...(csrf !== undefined && { csrf }),
    });
    equal(sent.status, 403);
  }
  equal((await admin.post(link(GOOD), GOOD)).status >= 400, true);
  equal(await count(), before);
});

test('attack: the link brings more trust than a form without it', async () => {
  const page = await open({
    ...GOOD,
    type: 'web',
    first_party: 'on',
    skip_consent: 'on',
    is_first_party: 'true',
    require_pkce: '',
    csrf: 'forged',
  });
  match(page.body, /name="first_party"(?! checked)/);
  match(page.body, /name="require_pkce" checked/);
  ok(hiddenFields(page.body).csrf !== 'forged');
  // The form that changes the language leads back to this address, whatever is in it.
  doesNotMatch(page.body.replace(/<input type="hidden" name="to"[^>]*>/, ''), /forged/);
});

const SCRIPTS = [
  '"><script>alert(1)</script>',
  "'-alert(1)-'",
  '</textarea><svg onload=alert(1)>',
  '{{ 4321*8765 }}',
];

test('attack: markup in every parameter of the link (XSS)', async () => {
  for (const hostile of SCRIPTS) {
    for (const name of ['name', 'type', 'redirect_uris', 'post_logout_redirect_uris', 'return_to']) {
      const page = await open({ ...GOOD, [name]: hostile });
      equal(page.status, 200);
      doesNotMatch(page.body, /<script>alert|<svg onload|37873565/, name);
    }
    const page = await open({ ...GOOD, return_to: `${HOME}/${hostile}` });
    doesNotMatch(page.body, /<script>alert|<svg onload/);
  }
});

test('attack: a way back to another place than the application’s (open redirect)', async () => {
  const hostile = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example',
    'javascript:alert(1)//localhost:4000',
    'data:text/html,x',
    'http://localhost:4000@evil.example/',
    'http://evil:pw@localhost:4000/',
    'http://localhost:4001/registered',
    'https://localhost:4000/registered',
    'http://localhost.evil.example:4000/',
    'com.example.app:/registered',
  ];
  for (const address of hostile) {
    const page = await open({ ...GOOD, return_to: address });
    doesNotMatch(page.body, /you can return to/, address);
    const { return_to: _, ...typed } = GOOD;
    const sent = await admin.post('/admin/applications/new/native', {
      ...hiddenFields(page.body),
      ...typed,
      return_to: address,
    });
    equal(sent.status, 303, address);
    match(sent.location ?? '', /^\S*\/admin\/applications\/[^/]+\/secret/);
    const done = await admin.get(sent.location ?? '');
    equal(done.status, 200);
    doesNotMatch(done.body, /Continue at|evil/, address);
  }
  // The redirect URIs decide as they are registered, not as the link had them.
  const page = await open(GOOD);
  const sent = await admin.post('/admin/applications/new/native', {
    ...hiddenFields(page.body),
    name: 'Sample',
    type: 'native',
    redirect_uris: 'http://localhost:5000/callback',
  });
  doesNotMatch((await admin.get(sent.location ?? '')).body, /Continue at/);
});

test('attack: an auditor or a stranger opens the link', async () => {
  await app.createUser('reader', { role: 'auditor' });
  const reader = new Agent(app);
  const signIn = await reader.follow(await reader.get('/admin'));
  equal((await reader.submit(signIn, { username: 'reader', password: PASSWORD })).status, 200);
  equal((await reader.get(link(GOOD))).status, 403);
  const stranger = await new Agent(app).get(link(GOOD));
  equal(stranger.status, 303);
  match(stranger.location ?? '', /\/oauth2\/authorize\?/);
});

test('a link of a great length is cut, not refused', async () => {
  const page = await open({ ...GOOD, name: 'x'.repeat(5_000) });
  equal(page.status, 200);
  ok(!page.body.includes('x'.repeat(2_001)));
});
