// Sign-outs that servers ask for without a browser (decision 0005): python-keycloak's POST with a refresh token, oauth2-proxy's
// and the Keycloak broker's GET with an ID token, and bearer access tokens.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { send } from '../attacks/raw-http.ts';
import { Agent, redeem, refresh } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import {
  type Answer,
  basic,
  bearer,
  type Client,
  call,
  isActive,
  later,
  postForm,
  sessionsOf,
  tokensOf,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const BYE = 'https://rp.example/bye';
const client = await app.register({ post_logout_redirect_uris: [BYE], rotate_refresh_tokens: 'always' });
const other = await app.register();
const alice = await app.createUser('alice');
const LAYOUT = '/realms/any/protocol/openid-connect/logout';

async function signedIn(to: Client = client, parameters: Record<string, string> = {}) {
  const agent = new Agent(app);
  return { agent, tokens: await tokensOf(app, to, alice, parameters, agent) };
}

async function isSignedIn(agent: Agent): Promise<boolean> {
  const { response } = await agent.signIn(client.id, alice, { prompt: 'none' });
  return response.has('code');
}

async function recorded(event: string): Promise<Record<string, unknown>[]> {
  const { body } = await app.admin('GET', `/audit?event=${event}`);
  return body.data.items ?? [];
}

const byToken = (of: Client, refresh_token: string, headers = {}): Promise<Answer> =>
  postForm(app, LAYOUT, { client_id: of.id, client_secret: of.secret, refresh_token }, headers);

test('logout by refresh token: ends that grant, 204, and leaves the browser signed in', async () => {
  for (const path of [LAYOUT, '/oauth2/protocol/openid-connect/logout', '/oauth2/logout']) {
    const { agent, tokens } = await signedIn();
    const beside = await redeem(app, other, await agent.signIn(other.id, alice));
    const cookie = agent.cookiesFor('/oauth2');
    const answer = await postForm(
      app,
      path,
      { client_id: client.id, client_secret: client.secret, refresh_token: tokens.refresh_token },
      { cookie },
    );
    deepEqual([answer.status, answer.text, answer.headers.get('content-type')], [204, '', null], path);
    equal(answer.headers.getSetCookie().length, 0);
    equal(await isActive(app, tokens.access_token), false);
    equal(await isActive(app, tokens.refresh_token), false);
    equal(await isActive(app, beside.body.access_token), true);
    equal(await isSignedIn(agent), true);
  }
});

test('logout by refresh token: client_secret_basic, and a public client by its id alone', async () => {
  const { tokens } = await signedIn();
  equal((await postForm(app, LAYOUT, { refresh_token: tokens.refresh_token }, basic(client))).status, 204);
  equal(await isActive(app, tokens.refresh_token), false);
  const spa = await app.register({ token_endpoint_auth_method: 'none' });
  const theirs = await signedIn(spa, { scope: 'openid offline_access', prompt: 'consent' });
  const headers = bearer(theirs.tokens.access_token);
  const fields = { client_id: spa.id, refresh_token: theirs.tokens.refresh_token };
  const answer = await postForm(app, LAYOUT, fields, headers);
  equal(answer.status, 204, answer.text);
  equal(await isActive(app, theirs.tokens.access_token), false);
});

test('attack: logout by the refresh token of another client, or without the client’s secret', async () => {
  const { tokens } = await signedIn();
  const { refresh_token } = tokens;
  const foreign = await byToken(other, refresh_token);
  deepEqual([foreign.status, foreign.body.error], [400, 'invalid_grant']);
  const wrong = await byToken({ id: client.id, secret: 'guessed' }, refresh_token);
  deepEqual([wrong.status, wrong.body.error], [401, 'invalid_client']);
  const none = await postForm(app, LAYOUT, { client_id: client.id, refresh_token });
  deepEqual([none.status, none.body.error], [401, 'invalid_client']);
  const nobody = await postForm(app, LAYOUT, { refresh_token });
  deepEqual([nobody.status, nobody.body.error], [401, 'invalid_client']);
  for (const value of ['nonsense', tokens.access_token, tokens.id_token]) {
    const answer = await byToken(client, value);
    deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
  }
  equal(await isActive(app, refresh_token), true);
  equal(await isActive(app, tokens.access_token), true);
  const html = await byToken(client, 'nonsense', { accept: 'text/html' });
  match(html.headers.get('content-type') ?? '', /^application\/json/);
});

test('logout by a refresh token used some time ago: counts as reuse and revokes the grant', async () => {
  const { tokens } = await signedIn();
  const renewed = (await refresh(app, client, tokens.refresh_token)).body;
  const answer = await later(11_000, () => byToken(client, tokens.refresh_token));
  deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
  equal(await isActive(app, renewed.refresh_token), false);
  equal(await isActive(app, renewed.access_token), false);
  equal((await recorded('token.reused')).length, 1);
  equal((await byToken(client, renewed.refresh_token)).status, 400);
});

for (const method of ['GET', 'POST']) {
  const byHint = (
    id_token_hint: string,
    headers = {},
    fields: Record<string, string> = {},
  ): Promise<Answer> =>
    method === 'GET'
      ? call(app, 'GET', `/oauth2/logout?${new URLSearchParams({ id_token_hint, ...fields })}`, { headers })
      : postForm(app, '/oauth2/logout', { id_token_hint, ...fields }, headers);

  test(`logout by ${method} with a hint and no cookie: ends the session that its sid names`, async () => {
    const here = await signedIn();
    const elsewhere = await signedIn();
    const answer = await byHint(here.tokens.id_token);
    equal(answer.status, 200);
    equal(await isActive(app, here.tokens.access_token), false);
    equal(await isActive(app, here.tokens.refresh_token), false);
    equal(await isSignedIn(here.agent), false);
    equal(await isActive(app, elsewhere.tokens.access_token), true);
    equal(await isSignedIn(elsewhere.agent), true);
    const [event] = await recorded('session.ended_by_application');
    const shown = JSON.stringify(event);
    for (const part of [client.id, alice.id, '127.0.0.1']) ok(shown.includes(part), shown);
    const page = await elsewhere.agent.get('/account');
    ok(page.body.includes('Signed out by '), page.body);
    const back = await byHint(elsewhere.tokens.id_token, {}, { post_logout_redirect_uri: BYE, state: 's' });
    deepEqual([back.status, back.headers.get('location')], [303, `${BYE}?state=s`]);
    equal(await isActive(app, elsewhere.tokens.access_token), false);
  });

  test(`attack: ${method} with a hint and no cookie from a browser, or with an invalid hint`, async () => {
    const { agent, tokens } = await signedIn();
    const [head, payload, signature = ''] = tokens.id_token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const [hint, headers] of [
      [tokens.id_token, { 'sec-fetch-site': 'none' }],
      [tokens.id_token, { 'sec-fetch-site': 'same-origin' }],
      [tokens.id_token, { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'document' }],
      [tokens.id_token, { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
      [tokens.access_token, {}],
      [tokens.refresh_token, {}],
      [`${none}.${payload}.`, {}],
      [`${head}.${payload}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`, {}],
    ] as const) {
      const answer = await byHint(hint, headers, { post_logout_redirect_uri: BYE });
      equal(answer.headers.get('location'), null);
      equal(await isActive(app, tokens.access_token), true, JSON.stringify([hint, headers]));
    }
    equal(await isSignedIn(agent), true);
  });

  test(`logout_needs_auth: ${method} with a hint alone is 401, with the client’s credentials it ends`, async () => {
    const guarded = await app.register({ logout_needs_auth: true });
    const { tokens } = await signedIn(guarded);
    for (const headers of [{}, basic(other), basic({ ...guarded, secret: 'guessed' })]) {
      const answer = await byHint(tokens.id_token, headers);
      deepEqual([answer.status, answer.body.error], [401, 'invalid_client']);
      equal(await isActive(app, tokens.access_token), true);
    }
    equal((await byHint(tokens.id_token, basic(guarded))).status, 200);
    equal(await isActive(app, tokens.access_token), false);
  });
}

test('logout with a hint from the user’s browser needs no client authentication', async () => {
  const guarded = await app.register({ logout_needs_auth: true });
  const { agent, tokens } = await signedIn(guarded);
  await agent.get(`/oauth2/logout?id_token_hint=${tokens.id_token}`);
  equal(await isActive(app, tokens.access_token), false);
});

test('attack: id_token_hint replay from a log after that session ended', async () => {
  const { agent, tokens } = await signedIn();
  await agent.get('/oauth2/logout');
  const again = await tokensOf(app, client, alice, {}, agent);
  const parameters = { id_token_hint: tokens.id_token, post_logout_redirect_uri: BYE };
  const answer = await call(app, 'GET', `/oauth2/logout?${new URLSearchParams(parameters)}`);
  // Nothing is left of that session, so nothing ends; its registered address is no harm to anybody.
  deepEqual([answer.status, answer.headers.get('location')], [303, BYE]);
  equal(await isActive(app, again.access_token), true);
  equal(await isActive(app, again.refresh_token), true);
  equal(await isSignedIn(agent), true);
  ok(!app.logged.some((line) => line.includes(tokens.id_token.split('.')[1] ?? '')));
});

test('attack: id_token_hint replayed through a page on plain http, with a stale session cookie', async () => {
  const { agent, tokens } = await signedIn();
  const stale = agent.cookiesFor('/oauth2');
  await agent.get('/oauth2/logout');
  const elsewhere = await signedIn();
  // The cookie shows a browser, though plain http hosts get no Sec-Fetch-Site.
  const headers = { cookie: stale, 'upgrade-insecure-requests': '1' };
  await call(app, 'GET', `/oauth2/logout?id_token_hint=${elsewhere.tokens.id_token}`, { headers });
  equal(await isActive(app, elsewhere.tokens.access_token), true);
  ok(tokens.id_token !== elsewhere.tokens.id_token);
});

test('logout by a cross-site POST without the cookie: goes round by GET, which has it', async () => {
  const { tokens } = await signedIn();
  const fields = { id_token_hint: tokens.id_token, state: 's' };
  const headers = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  const page = await new Agent(app).post('/oauth2/logout', fields, { headers });
  const to = new URL(page.location ?? '');
  deepEqual([page.status, to.pathname, Object.fromEntries(to.searchParams)], [303, '/oauth2/logout', fields]);
  equal(page.headers.getSetCookie().length, 0);
});

test('logout by bearer: a first-party token ends its session, another one its grant', async () => {
  const first = await signedIn();
  equal(
    (await call(app, 'POST', '/oauth2/logout', { headers: bearer(first.tokens.access_token) })).status,
    200,
  );
  equal(await isSignedIn(first.agent), false);

  const third = await app.register({ skip_consent: false });
  const { agent, tokens } = await signedIn(third);
  const beside = await redeem(app, client, await agent.signIn(client.id, alice));
  equal((await call(app, 'GET', '/oauth2/logout', { headers: bearer(tokens.access_token) })).status, 200);
  equal(await isActive(app, tokens.access_token), false);
  equal(await isActive(app, tokens.refresh_token), false);
  equal(await isActive(app, beside.body.access_token), true);
  equal(await isSignedIn(agent), true);

  const plain = await app.register({ scope: 'profile', grant_types: ['authorization_code'] });
  const without = await signedIn(plain, { scope: 'profile' });
  equal(
    (await call(app, 'GET', '/oauth2/logout', { headers: bearer(without.tokens.access_token) })).status,
    200,
  );
  equal(await isActive(app, without.tokens.access_token), false);
  equal(await isSignedIn(without.agent), true);
});

test('attack: a refresh token as the bearer of a logout ends nothing', async () => {
  const { agent, tokens } = await signedIn();
  await call(app, 'GET', '/oauth2/logout', { headers: bearer(tokens.refresh_token) });
  equal(await isActive(app, tokens.refresh_token), true);
  equal(await isSignedIn(agent), true);
  ok((await sessionsOf(app, alice.id)).length > 0);
});

test('attack: a form of another site that cannot end a session clears its cookie (R065)', async () => {
  const from = {
    https: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    'a plain http host': { origin: 'http://evil.example', 'upgrade-insecure-requests': '1' },
  };
  const form = 'application/x-www-form-urlencoded';
  const bodies = [
    ['text/plain', 'a=b'],
    ['multipart/form-data; boundary=x', '--x--'],
    [form, 'state=a&state=b'],
    [form, 'state=a'],
    [form, ''],
    [form, `state=${'a'.repeat(8184)}`],
    [form, `state=${'a'.repeat(9000)}`],
    [form, `id_token_hint=${'a'.repeat(9000)}`],
  ] as const;
  for (const [site, headers] of Object.entries(from)) {
    for (const [type, body] of bodies) {
      const what = `${site}: ${type} ${body.slice(0, 20)}`;
      const sent = { ...headers, 'Content-Type': type, 'Content-Length': String(body.length) };
      const answer = await send(app.url, {
        path: '/oauth2/logout',
        method: 'POST',
        headers: Object.entries(sent),
        body,
      });
      deepEqual(
        [answer.headers['set-cookie'], answer.headers['clear-site-data']],
        [undefined, undefined],
        what,
      );
      // The browser goes on by GET, which has the cookie and is asked.
      if (type !== form || body === 'state=a&state=b') continue;
      equal(answer.status, 303, what);
      const { location = '' } = answer.headers;
      const next = await send(app.url, {
        path: location.replace(app.url, ''),
        headers: Object.entries(headers),
      });
      equal(next.status, 200, what);
    }
  }
});
