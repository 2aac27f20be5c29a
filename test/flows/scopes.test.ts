// The scopes that applications ask for by their own defaults (decision 0009): what is unknown or not allowed is left out, what
// was granted is said, and nothing left is an error at once. `offline_access` needs no `prompt`.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest, redeem, requestTokens, type Tokens, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { basic, type Client, claimsOf, later, postForm, tokensOf, withApp } from './support.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const HOUR = 3_600_000;

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const client = await app.register({ scope: 'openid profile email offline_access' });
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'profile email',
});
const television = await app.register({
  token_endpoint_auth_method: 'none',
  grant_types: [DEVICE_GRANT, 'refresh_token'],
  response_types: [],
  redirect_uris: [],
  scope: 'openid profile offline_access',
});

const refreshWith = (by: Client, token: string, scope: string): Promise<Tokens> =>
  requestTokens(app, by, { grant_type: 'refresh_token', refresh_token: token, scope });

const lists: readonly [string, string][] = [
  ['MSAL.NET and msal-browser', 'openid profile offline_access'],
  [
    'MSAL with a scope of an API that is unknown here',
    'openid offline_access https://graph.example/User.Read',
  ],
  ['Authlib and requests-oauthlib', 'openid email profile offline_access groups made-up'],
];
for (const [library, scope] of lists) {
  for (const { of, skip_consent } of [
    { of: 'a first-party application', skip_consent: true },
    { of: 'a third-party application', skip_consent: false },
  ]) {
    test(`scopes: ${of} refreshes with the list of ${library}`, async () => {
      const own = await app.register({ scope: 'openid profile email offline_access', skip_consent });
      let tokens: Tokens['body'] = await tokensOf(app, own, alice, { scope });
      const granted = scope.split(' ').filter((name) => /^(openid|profile|email|offline_access)$/.test(name));
      for (let turn = 0; turn < 2; turn += 1) {
        deepEqual(String(tokens.scope).split(' ').sort(), [...granted].sort());
        equal(claimsOf(tokens.access_token).scope, tokens.scope);
        const { status, body } = await refreshWith(own, tokens.refresh_token, scope);
        equal(status, 200, JSON.stringify(body));
        tokens = body;
      }
    });
  }
}

test('offline_access: shown to the person of a third-party application, and asked for once', async () => {
  const own = await app.register({ scope: 'openid offline_access', skip_consent: false });
  const agent = new Agent(app);
  const request = { ...codeRequest(own.id), scope: 'openid offline_access' };
  const form = await agent.authorize(request);
  const question = await agent.submit(form, { username: 'alice', password: 'correct horse battery staple' });
  match(question.body, /Stay connected while you are away/);
  const { searchParams } = await agent.finish(question, alice);
  const { body } = await redeem(app, own, { code: searchParams.get('code') ?? '', verifier: VERIFIER });
  equal(body.scope, 'openid offline_access');
  const silent = await agent.authorize({ ...request, prompt: 'none' });
  ok(new URL(silent.location ?? '').searchParams.has('code'), silent.location);
});

test('offline_access: left out for a client not registered for it, or not for refreshing', async () => {
  const unregistered = await app.register({ scope: 'openid' });
  equal((await tokensOf(app, unregistered, alice, { scope: 'openid offline_access' })).scope, 'openid');
  const without = await app.register({ grant_types: ['authorization_code'] });
  equal((await tokensOf(app, without, alice, { scope: 'openid offline_access' })).scope, 'openid');
});

test('offline_access: granted to a pushed request and to a device', async () => {
  const scope = 'openid offline_access made-up';
  const { client_id, ...rest } = codeRequest(client.id);
  const pushed = await postForm(app, '/oauth2/par', { client_id, ...rest, scope }, basic(client));
  equal(pushed.status, 201, pushed.text);
  const agent = new Agent(app);
  const first = await agent.authorize({ client_id, request_uri: String(pushed.body.request_uri) });
  const { searchParams } = await agent.finish(first, alice);
  const { body } = await redeem(app, client, { code: searchParams.get('code') ?? '', verifier: VERIFIER });
  equal(body.scope, 'openid offline_access');
  equal((await askDevice(scope)).scope, 'openid offline_access');
});

test('refresh token: with or without offline_access, ends with its session, not when it idles', async () => {
  for (const scope of ['openid', 'openid offline_access']) {
    const agent = new Agent(app);
    const { refresh_token: ended } = await tokensOf(app, client, alice, { scope }, agent);
    await agent.get('/oauth2/logout');
    equal((await refreshWith(client, ended, scope)).body.error, 'invalid_grant');
    const { refresh_token: kept } = await tokensOf(app, client, alice, { scope });
    const { status, body } = await later(30 * HOUR, () => refreshWith(client, kept, scope));
    deepEqual([status, body.scope], [200, scope]);
    equal((await app.admin('POST', `/users/${alice.id}/revoke-sessions`)).status, 200);
    equal((await refreshWith(client, body.refresh_token, scope)).body.error, 'invalid_grant', scope);
  }
});

test('refresh: scopes of which none was granted are invalid_scope, and the token stays', async () => {
  const { refresh_token: token } = await tokensOf(app, client, alice, { scope: 'openid profile' });
  for (const scope of ['email', 'made-up', 'admin', 'offline_access']) {
    const { status, body } = await refreshWith(client, token, scope);
    deepEqual([status, body.error], [400, 'invalid_scope'], scope);
    match(String(body.error_description), new RegExp(scope));
  }
  const { status, body } = await refreshWith(client, token, 'openid email made-up');
  deepEqual([status, body.scope], [200, 'openid'], JSON.stringify(body));
});

test('authorization: without scope it is openid; unknown and not allowed ones are left out', async () => {
  const none = await tokensOf(app, client, alice, { scope: undefined, nonce: 'n' });
  deepEqual([none.scope, claimsOf(none.id_token).nonce], ['openid', 'n']);
  const some = await tokensOf(app, client, alice, { scope: 'made-up openid admin phone email' });
  equal(some.scope, 'openid email');
  // As the MCP SDK and FastMCP ask: with a name of their own API alone, and OIDC's parameters beside it.
  for (const scope of ['mcp:tools', 'admin', 'phone']) {
    for (const agent of [new Agent(app)]) {
      const page = await agent.authorize({ ...codeRequest(client.id), scope, nonce: 'n', state: 's' });
      equal(page.status, 303, 'at once, not after a sign-in');
      const answer = new URL(page.location ?? '');
      equal(answer.origin + answer.pathname, REDIRECT_URI);
      deepEqual([answer.searchParams.get('error'), answer.searchParams.get('state')], ['invalid_scope', 's']);
      match(answer.searchParams.get('error_description') ?? '', new RegExp(scope));
    }
  }
  const { client_id, ...rest } = codeRequest(client.id);
  const pushed = await postForm(app, '/oauth2/par', { client_id, ...rest, scope: 'phone' }, basic(client));
  deepEqual([pushed.status, pushed.body.error], [400, 'invalid_scope']);
});

test('attack: an error for a scope is sent to an address that is not registered', async () => {
  const request = { ...codeRequest(client.id), scope: 'made-up', redirect_uri: 'https://evil.example/' };
  const page = await new Agent(app).authorize(request);
  deepEqual([page.status, page.location], [400, undefined]);
});

async function askDevice(scope?: string): Promise<Tokens['body']> {
  const fields = { client_id: television.id, ...(scope !== undefined && { scope }) };
  const { status, body: device, text } = await postForm(app, '/oauth2/device_authorization', fields);
  equal(status, 200, text);
  const agent = new Agent(app);
  let page = await agent.submit(await agent.get('/oauth2/device'), { user_code: String(device.user_code) });
  page = await agent.submit(page, { confirm: 'yes' });
  await agent.submit(page, { username: 'alice', password: 'correct horse battery staple' });
  const fields2 = { grant_type: DEVICE_GRANT, device_code: String(device.device_code) };
  const answer = await requestTokens(app, television, fields2);
  equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

test('device authorization: no scope is openid; unknown and not allowed ones are left out', async () => {
  equal((await askDevice()).scope, 'openid');
  equal((await askDevice('openid made-up email')).scope, 'openid');
  for (const scope of ['made-up', 'email', 'admin']) {
    const fields = { client_id: television.id, scope };
    const { status, body } = await postForm(app, '/oauth2/device_authorization', fields);
    deepEqual([status, body.error], [400, 'invalid_scope'], scope);
    match(String(body.error_description), new RegExp(scope));
  }
});

test('client credentials: no scope asked is none; nothing left is invalid_scope', async () => {
  const ask = (scope: string): Promise<Tokens> =>
    requestTokens(app, machine, { grant_type: 'client_credentials', ...(scope !== '' && { scope }) });
  const bare = await ask('');
  deepEqual([bare.status, bare.body.scope], [200, undefined]);
  equal((await ask('made-up email openid')).body.scope, 'email');
  for (const scope of ['nonsense', 'openid', 'admin']) {
    const { status, body } = await ask(scope);
    deepEqual([status, body.error, body.access_token], [400, 'invalid_scope', undefined], scope);
    match(String(body.error_description), new RegExp(scope));
  }
});

test('client credentials: a wrong secret is refused before any word about scopes', async () => {
  const wrong = { ...machine, secret: 'wrong' };
  const { body } = await requestTokens(app, wrong, { grant_type: 'client_credentials', scope: 'nonsense' });
  equal(body.error, 'invalid_client');
});

test('grant type: one that the client may not use is unauthorized_client (RFC 6749 §5.2)', async () => {
  const cases: readonly [Client, Record<string, string>][] = [
    [machine, { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI }],
    [machine, { grant_type: 'refresh_token', refresh_token: 'x' }],
    [machine, { grant_type: 'password', username: 'alice', password: 'x' }],
    [client, { grant_type: 'client_credentials' }],
    [client, { grant_type: DEVICE_GRANT, device_code: 'x' }],
  ];
  for (const [by, fields] of cases) {
    const { status, body } = await requestTokens(app, by, fields);
    deepEqual([status, body.error], [400, 'unauthorized_client'], fields.grant_type);
    match(String(body.error_description), new RegExp(String(fields.grant_type)));
    const stranger = await requestTokens(app, { ...by, secret: 'wrong' }, fields);
    equal(stranger.body.error, 'invalid_client', 'only the client itself learns what it may use');
  }
  const device = await postForm(app, '/oauth2/device_authorization', { scope: 'openid' }, basic(client));
  deepEqual([device.status, device.body.error], [400, 'unauthorized_client']);
  const unknown = await requestTokens(app, client, { grant_type: 'made-up' });
  deepEqual([unknown.status, unknown.body.error], [400, 'unsupported_grant_type']);
});

test('scopes: left out at once when an administrator takes one from the client', async () => {
  await withApp({}, async (own) => {
    const user = await own.createUser('alice');
    const losing = await own.register({ scope: 'openid profile' });
    const agent = new Agent(own);
    equal((await tokensOf(own, losing, user, { scope: 'openid profile' }, agent)).scope, 'openid profile');
    await own.admin('PATCH', `/clients/${losing.id}`, { scope: 'openid' });
    equal((await tokensOf(own, losing, user, { scope: 'openid profile' }, agent)).scope, 'openid');
  });
});
