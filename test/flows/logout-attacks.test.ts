// Attacks: signing other users out, and logout as an open redirector (CVE-2020-10734, CVE-2026-9086). A
// request not proven to come from a client of this very session asks the user, and redirects only to registered addresses.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test, { after } from 'node:test';
import { SignJWT } from 'jose';
import { createSealer } from '../../src/keys/index.ts';
import { createSigningKeys } from '../../src/keys/signing-keys.ts';
import { signingKeys } from '../../src/store/collections.ts';
import { Agent, type Page, redeem } from '../support/agent.ts';
import { REDIRECT_URI, SECRET_KEY, startApp } from '../support/app.ts';
import { bearer, call, claimsOf, headerOf, isActive, type Json, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(() => app.stop());
const BYE = 'https://rp.example/bye';
const client = await app.register({ post_logout_redirect_uris: [BYE] });
const other = await app.register({ post_logout_redirect_uris: ['https://other.example/bye'] });
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');
const agent = new Agent(app);
/** The session that others try to end, and its tokens. */
let own: string;
let access: string;
async function signIn(): Promise<void> {
  const tokens = await tokensOf(app, client, alice, {}, agent);
  own = tokens.id_token;
  access = tokens.access_token;
}
await signIn();
const theirs = await tokensOf(app, client, bob);
const earlier = await tokensOf(app, client, alice);

const NAVIGATION = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
const SIBLING = { ...NAVIGATION, 'sec-fetch-site': 'same-site' };
const logout = (parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> =>
  agent.get(`/oauth2/logout?${new URLSearchParams(parameters)}`, { headers });

/** The person is still signed in, and was at most asked. */
async function expectAsked(page: Page, what: string): Promise<void> {
  ok(page.location === undefined, `${what}: ${page.location}`);
  ok([200, 400, 403].includes(page.status), `${what}: ${page.status}`);
  if (page.status === 200) ok(page.body.includes('action="/oauth2/logout"'), `${what}: ${page.body}`);
  equal(await isActive(app, access), true, what);
  ok((await agent.signIn(client.id, { username: 'nobody' }, { prompt: 'none' })).code, what);
}

/** What another site did not send is obeyed first, the mistake reported after (decision 0005). The user signs in again. */
async function expectEnded(page: Page, what: string): Promise<void> {
  ok(page.location === undefined, `${what}: ${page.location}`);
  equal(await isActive(app, access), false, what);
  await signIn();
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const keys: { keys: object[] } = JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text);

/** Of the session as it is now. */
const badHints: Readonly<Record<string, () => string>> = {
  'another person’s': () => theirs.id_token,
  'an earlier session’s of the same person': () => earlier.id_token,
  'an access token of this session': () => access,
  'one with a wrong signature': () => {
    const [head, payload, signature = ''] = own.split('.');
    return `${head}.${payload}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`;
  },
  'one without a signature': () => `${own.split('.').slice(0, 2).join('.')}.`,
  'one with alg none': () => `${part({ ...headerOf(own), alg: 'none' })}.${own.split('.')[1]}.`,
  'one signed with the public key': () => {
    const input = `${part({ ...headerOf(own), alg: 'HS256' })}.${own.split('.')[1]}`;
    return `${input}.${createHmac('sha256', JSON.stringify(keys.keys[0])).update(input).digest('base64url')}`;
  },
  'one changed to this session': () =>
    `${theirs.id_token.split('.')[0]}.${part({ ...claimsOf(theirs.id_token), sub: alice.id, sid: claimsOf(own).sid })}.${theirs.id_token.split('.')[2]}`,
  nonsense: () => 'nonsense',
};

for (const [what, hintOf] of Object.entries(badHints)) {
  test(`attack: an id_token_hint that is ${what} signs a user out silently (R064)`, async () => {
    for (const headers of [NAVIGATION, SIBLING]) {
      const id_token_hint = hintOf();
      await expectAsked(await logout({ id_token_hint }, headers), what);
      const parameters = { id_token_hint, client_id: client.id, post_logout_redirect_uri: BYE };
      await expectAsked(await logout(parameters, headers), what);
    }
  });
}

test('id_token_hint of another session: this session ends, without a redirect', async () => {
  for (const what of ['another person’s', 'nonsense'])
    await expectEnded(await logout({ id_token_hint: badHints[what]?.() ?? '' }), what);
});

test('attack: an id_token_hint that does not count names a client to return to (R064)', async () => {
  const stranger = new Agent(app);
  const hints = [
    ...Object.entries(badHints).map(([what, of]) => [what, of()] as const),
    ['forged', `${part({ alg: 'RS256' })}.${part({ aud: client.id })}.AAAA`] as const,
  ];
  const elsewhere = { id_token_hint: own, post_logout_redirect_uri: BYE };
  const headers = { ...NAVIGATION, 'sec-fetch-site': 'none' };
  const other = await stranger.get(`/oauth2/logout?${new URLSearchParams(elsewhere)}`, { headers });
  deepEqual([other.status, other.location], [200, undefined], 'of a session that this browser does not have');
  equal(await isActive(app, access), true);
  for (const [what, hint] of hints) {
    for (const beside of [undefined, { client_id: client.id }]) {
      const parameters = { id_token_hint: hint, post_logout_redirect_uri: BYE, ...beside };
      const page = await stranger.get(`/oauth2/logout?${new URLSearchParams(parameters)}`, { headers });
      deepEqual([page.status, page.location], [200, undefined], what);
      const ended = await logout(parameters);
      deepEqual([ended.status, ended.location], [200, undefined], what);
      await expectEnded(ended, what);
    }
  }
});

test('attack: an id_token_hint that is not an ID token, signed by our key, names a client', async () => {
  const { current } = await createSigningKeys({
    collection: app.store.collection(signingKeys),
    sealer: createSealer([SECRET_KEY]),
    clock: Date.now,
  }).load();
  const signed = (header: Json, claims: Json): Promise<string> =>
    new SignJWT({ ...claimsOf(own), ...claims })
      .setProtectedHeader({ ...headerOf(own), alg: 'RS256', ...header })
      .sign(current.privateJwk);
  for (const [header, claims] of [
    [{ typ: 'at+jwt' }, {}],
    [{ typ: 'logout+jwt' }, {}],
    [{}, { scope: 'openid' }],
    [{ typ: 'JWT' }, { client_id: client.id }],
    [{}, { typ: 'Bearer' }],
    [{}, { typ: 'Refresh' }],
    [{}, { sid: undefined }],
    [{}, { exp: undefined }],
    [{}, { aud: [client.id, other.id] }],
    [{}, { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
    [{}, { response: {} }],
  ] as const) {
    const parameters = { id_token_hint: await signed(header, claims), post_logout_redirect_uri: BYE };
    await expectAsked(await logout(parameters, NAVIGATION), JSON.stringify([header, claims]));
  }
  const page = await logout(
    { id_token_hint: await signed({}, { typ: 'ID' }), post_logout_redirect_uri: BYE },
    NAVIGATION,
  );
  deepEqual([page.status, page.location], [303, BYE]);
  await signIn();
});

test('id_token_hint of one client with the client_id of another: asked across sites', async () => {
  for (const parameters of [{ id_token_hint: own, client_id: other.id }, { client_id: 'nobody' }]) {
    const crossed = await logout(parameters, NAVIGATION);
    equal(crossed.status, 400);
    await expectAsked(crossed, 'from elsewhere');
    const page = await logout(parameters);
    equal(page.status, 400);
    await expectEnded(page, 'from nowhere else');
  }
});

test('attack: an unregistered post-logout redirect URI (R064)', async () => {
  const addresses = [
    'https://evil.example/',
    `${BYE}/`,
    `${BYE}?x=1`,
    `${BYE}#x`,
    'https://rp.example.evil.example/bye',
    'https://rp.example@evil.example/bye',
    'https://RP.example/bye',
    'HTTPS://rp.example/bye',
    'http://rp.example/bye',
    'https://rp.example:443/bye',
    'https://rp.example/../bye',
    REDIRECT_URI,
    'https://other.example/bye',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    '//evil.example',
    '/\\evil.example',
    '\thttps://evil.example/',
  ];
  for (const post_logout_redirect_uri of addresses) {
    const crossed = await logout({ client_id: client.id, post_logout_redirect_uri }, NAVIGATION);
    equal(crossed.status, 400, post_logout_redirect_uri);
    await expectAsked(crossed, post_logout_redirect_uri);
    // Where it acts at once it ends first and then tells what was wrong with the request.
    const page = await logout({ id_token_hint: own, post_logout_redirect_uri }, NAVIGATION);
    equal(page.status, 400, post_logout_redirect_uri);
    ok(!page.body.includes(`href="${post_logout_redirect_uri}"`));
    await expectEnded(page, post_logout_redirect_uri);
  }
});

test('post-logout redirect: none without a proven client', async () => {
  const stranger = new Agent(app);
  for (const address of [BYE, 'https://evil.example/']) {
    const page = await stranger.get(
      `/oauth2/logout?${new URLSearchParams({ post_logout_redirect_uri: address })}`,
    );
    deepEqual([page.status, page.location], [200, undefined], address);
    ok(!page.body.includes(`href="${address}"`));
  }
});

const subresources: readonly (readonly [mode: string, dest: string])[] = [
  ['no-cors', 'image'],
  ['no-cors', 'script'],
  ['no-cors', 'empty'],
  ['cors', 'empty'],
  ['navigate', 'iframe'],
  ['navigate', 'object'],
];

for (const site of ['cross-site', 'same-site', 'same-origin']) {
  for (const [mode, dest] of subresources) {
    test(`attack: a ${site} ${dest} (${mode}) signs a user out, whatever it contains (R065)`, async () => {
      // Browsers keep a SameSite=Lax cookie back in most of these; the answer must not depend on it.
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
      for (const parameters of [{}, { id_token_hint: own }]) {
        for (const page of [
          await logout(parameters, headers),
          await agent.post('/oauth2/logout', parameters, { headers }),
        ]) {
          equal(page.status, 403);
          ok(!page.headers.has('clear-site-data') && page.headers.getSetCookie().length === 0);
          await expectAsked(page, dest);
        }
      }
    });
  }
}

test('attack: a navigation from another site or a sibling is asked first (R065)', async () => {
  const { 'sec-fetch-dest': _, ...older } = SIBLING;
  for (const headers of [NAVIGATION, SIBLING, older, { 'sec-fetch-site': 'same-site' }]) {
    await expectAsked(await logout({}, headers), 'GET');
    await expectAsked(await agent.post('/oauth2/logout', {}, { headers }), 'POST');
  }
});

test('logout without Sec-Fetch-Site: Origin, Referer and request kind decide (R065)', async () => {
  const plain = { 'sec-fetch-mode': 'navigate' };
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { referer: 'http://evil.example/page' },
    { referer: `${app.url}.evil.example/` },
    { 'upgrade-insecure-requests': '1' },
  ])
    await expectAsked(await logout({}, { ...plain, ...headers }), JSON.stringify(headers));
  const ownPage = { referer: `${app.url}/account`, 'upgrade-insecure-requests': '1' };
  for (const headers of [{}, { origin: app.url }, ownPage])
    await expectEnded(await logout({}, { ...plain, ...headers }), JSON.stringify(headers));
});

test('attack: a bearer beside a session cookie ends another session', async () => {
  const page = await agent.get('/oauth2/logout', {
    headers: { ...bearer(theirs.access_token), ...NAVIGATION },
  });
  await expectAsked(page, 'own session');
  equal(await isActive(app, theirs.access_token), true);
});

test('attack: a forged logout confirmation form', async () => {
  const page = await agent.post('/oauth2/logout', { csrf: 'x' });
  deepEqual([page.status, page.location], [403, undefined]);
  const stranger = new Agent(app);
  await stranger.signIn(client.id, bob);
  const question = await stranger.get('/oauth2/logout', { headers: NAVIGATION });
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(question.body) ?? [];
  ok(csrf !== '');
  const crossed = await agent.post('/oauth2/logout', { csrf });
  equal(crossed.status, 403);
  await expectAsked(crossed, 'another browser’s token');
});

test('logout: repeated parameters are refused after the session has ended', async () => {
  for (const name of ['id_token_hint', 'post_logout_redirect_uri', 'client_id', 'state']) {
    const query = new URLSearchParams({
      id_token_hint: own,
      post_logout_redirect_uri: BYE,
      client_id: client.id,
      state: 's',
    });
    query.append(name, 'other');
    const crossed = await agent.get(`/oauth2/logout?${query}`, { headers: NAVIGATION });
    equal(crossed.status, 400, name);
    await expectAsked(crossed, name);
    const get = await agent.get(`/oauth2/logout?${query}`);
    equal(get.status, 400, name);
    await expectEnded(get, name);
    const post = await agent.request('/oauth2/logout', { method: 'POST', body: query });
    equal(post.status, 400, name);
    await expectEnded(post, name);
  }
});

test('control: the valid hint still works', async () => {
  const here = await redeem(app, client, await agent.signIn(client.id, alice));
  const page = await logout({ id_token_hint: here.body.id_token, post_logout_redirect_uri: BYE }, NAVIGATION);
  deepEqual([page.status, page.location], [303, BYE]);
  equal(await isActive(app, access), false);
});
