// Logging others out, and using the logout as a springboard (checklist R064, R065; CVE-2020-10734, CVE-2026-9086): what is not
// proven to come from an application of this very session asks the person, and goes nowhere that is not registered.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import test, { after } from 'node:test';
import { Agent, type Page, redeem } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { bearer, call, claimsOf, headerOf, isActive, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const BYE = 'https://rp.example/bye';
const client = await app.register({ post_logout_redirect_uris: [BYE] });
const other = await app.register({ post_logout_redirect_uris: ['https://other.example/bye'] });
const alice = await app.createUser('alice');
const bob = await app.createUser('bob');
const agent = new Agent(app);
const { id_token: own, access_token: access } = await tokensOf(app, client, alice, {}, agent);
const theirs = await tokensOf(app, client, bob);
const earlier = await tokensOf(app, client, alice);

const NAVIGATION = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};
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

const [head = '', payload = '', signature = ''] = own.split('.');
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const keys: { keys: object[] } = JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text);

const badHints: Readonly<Record<string, string>> = {
  'another person’s': theirs.id_token,
  'an earlier session’s of the same person': earlier.id_token,
  'an access token of this session': access,
  'one with a wrong signature': `${head}.${payload}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
  'one without a signature': `${head}.${payload}.`,
  'one with alg none': `${part({ ...headerOf(own), alg: 'none' })}.${payload}.`,
  'one signed with the public key': (() => {
    const input = `${part({ ...headerOf(own), alg: 'HS256' })}.${payload}`;
    return `${input}.${createHmac('sha256', JSON.stringify(keys.keys[0])).update(input).digest('base64url')}`;
  })(),
  'one changed to this session': `${theirs.id_token.split('.')[0]}.${part({ ...claimsOf(theirs.id_token), sub: alice.id, sid: claimsOf(own).sid })}.${theirs.id_token.split('.')[2]}`,
  nonsense: 'nonsense',
};

for (const [what, id_token_hint] of Object.entries(badHints)) {
  test(`a hint that is ${what} signs nobody out silently (R064)`, async () => {
    await expectAsked(await logout({ id_token_hint }), what);
    await expectAsked(await logout({ id_token_hint }, NAVIGATION), what);
    await expectAsked(
      await logout({ id_token_hint, client_id: client.id, post_logout_redirect_uri: BYE }),
      what,
    );
  });
}

test('the hint is for one application, the client_id is another: nothing happens', async () => {
  const page = await logout({ id_token_hint: own, client_id: other.id });
  equal(page.status, 400);
  await expectAsked(page, 'mismatch');
  await expectAsked(await logout({ client_id: 'nobody' }), 'unknown client');
});

test('an address that is not registered is never gone to, and nobody is signed out on the way (R064)', async () => {
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
    for (const proof of [{ id_token_hint: own }, { client_id: client.id }]) {
      const page = await logout({ ...proof, post_logout_redirect_uri });
      equal(page.status, 400, post_logout_redirect_uri);
      ok(!page.body.includes(`href="${post_logout_redirect_uri}"`));
      await expectAsked(page, post_logout_redirect_uri);
    }
  }
});

test('without a proven application no address is gone to', async () => {
  const stranger = new Agent(app);
  for (const address of [BYE, 'https://evil.example/']) {
    const page = await stranger.get(
      `/oauth2/logout?${new URLSearchParams({ post_logout_redirect_uri: address })}`,
    );
    deepEqual([page.status, page.location], [200, undefined], address);
    ok(!page.body.includes(`href="${address}"`));
  }
});

const subresources: readonly Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
  {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'cors',
    'sec-fetch-dest': 'empty',
    origin: 'https://evil.example',
  },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
];

for (const headers of subresources) {
  test(`another site’s ${headers['sec-fetch-dest']} (${headers['sec-fetch-mode']}) signs nobody out (R065)`, async () => {
    // Browsers keep a SameSite=Lax cookie back in most of these; the answer must not depend on it.
    await expectAsked(await logout({}, headers), 'GET');
    const post = await agent.post('/oauth2/logout', {}, { headers });
    await expectAsked(post, 'POST');
    if (headers['sec-fetch-mode'] === 'navigate') return;
    await expectAsked(await logout({ id_token_hint: own }, headers), 'even with the right hint');
  });
}

test('a bearer beside a session cookie does not end another session', async () => {
  const page = await agent.get('/oauth2/logout', {
    headers: { ...bearer(theirs.access_token), ...NAVIGATION },
  });
  await expectAsked(page, 'own session');
  equal(await isActive(app, theirs.access_token), true);
});

test('a forged form of the question is refused', async () => {
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

test('parameters given twice are refused', async () => {
  for (const name of ['id_token_hint', 'post_logout_redirect_uri', 'client_id', 'state']) {
    const query = new URLSearchParams({
      id_token_hint: own,
      post_logout_redirect_uri: BYE,
      client_id: client.id,
      state: 's',
    });
    query.append(name, 'other');
    const get = await agent.get(`/oauth2/logout?${query}`);
    equal(get.status, 400, name);
    await expectAsked(get, name);
    const post = await agent.request('/oauth2/logout', { method: 'POST', body: query });
    equal(post.status, 400, name);
    await expectAsked(post, name);
  }
});

test('after all this the right hint still works', async () => {
  const here = await redeem(app, client, await agent.signIn(client.id, alice));
  const page = await logout({ id_token_hint: here.body.id_token, post_logout_redirect_uri: BYE }, NAVIGATION);
  deepEqual([page.status, page.location], [303, BYE]);
  equal(await isActive(app, access), false);
});
