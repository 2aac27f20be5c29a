// The contents of access tokens (decision 0006, RFC 9068 §2) and of the token response (RFC 6749 §5.1; R051).
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { clients } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { Agent, redeem, refresh, requestTokens } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import {
  basic,
  call,
  claimsOf,
  epoch,
  headerOf,
  type Json,
  postForm,
  tokensOf,
  userinfo,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'profile roles',
});
const alice = await app.createUser('alice');

const ALWAYS = [
  'acr',
  'aud',
  'auth_time',
  'client_id',
  'exp',
  'iat',
  'iss',
  'jti',
  'nbf',
  'scope',
  'sid',
  'sub',
];

async function publishedKeys(): Promise<JSONWebKeySet> {
  const { text } = await call(app, 'GET', '/.well-known/jwks.json');
  const keys: JSONWebKeySet = JSON.parse(text);
  return keys;
}

test('access token: exactly the specified claims, typ at+jwt, signed by a published key', async () => {
  const before = epoch();
  const { access_token } = await tokensOf(app, client, alice, { scope: 'openid' });
  const keys = await publishedKeys();
  const { payload, protectedHeader } = await jwtVerify(access_token, createLocalJWKSet(keys), {
    issuer: app.issuer,
    audience: app.issuer,
    typ: 'at+jwt',
    algorithms: ['RS256'],
  });
  deepEqual(Object.keys(protectedHeader).sort(), ['alg', 'kid', 'typ']);
  deepEqual(
    keys.keys.filter(({ kid }) => kid === protectedHeader.kid).map(({ kty, alg, use }) => [kty, alg, use]),
    [['RSA', 'RS256', 'sig']],
  );
  deepEqual(Object.keys(payload).sort(), ALWAYS);
  const { iat = 0, exp = 0, nbf, auth_time, jti, sid } = payload;
  deepEqual([payload.sub, payload.aud, payload.client_id], [alice.id, app.issuer, client.id]);
  equal(payload.scope, 'openid');
  ok(iat >= before && iat <= epoch());
  deepEqual([nbf, exp - iat], [iat, 900]);
  ok(typeof auth_time === 'number' && auth_time >= before && auth_time <= iat);
  match(String(jti), /^[\w-]{32,}$/);
  match(String(sid), /^[\w-]{21,}$/);
});

const byScope: Readonly<Record<string, Json>> = {
  'openid profile': { username: 'alice', preferred_username: 'alice' },
  'openid roles': { role: 'user', roles: ['user'] },
  'openid profile roles': { username: 'alice', preferred_username: 'alice', role: 'user', roles: ['user'] },
  'openid email': {},
};

for (const [scope, expected] of Object.entries(byScope)) {
  test(`access token: contains names and roles as "${scope}" asks`, async () => {
    const first = await tokensOf(app, client, alice, { scope });
    const again = await refresh(app, client, first.refresh_token);
    for (const token of [first.access_token, again.body.access_token]) {
      const claims = claimsOf(token);
      const byAsking = Object.entries(claims).filter(([name]) => !ALWAYS.includes(name));
      deepEqual(Object.fromEntries(byAsking), expected);
      for (const name of ALWAYS) ok(name in claims, name);
      equal(claims.scope, scope);
    }
  });
}

test('access token: a refreshed one keeps sub, auth_time, sid and scope under a new jti', async () => {
  const first = await tokensOf(app, client, alice);
  const { body } = await refresh(app, client, first.refresh_token);
  const [before, now] = [claimsOf(first.access_token), claimsOf(body.access_token)];
  for (const name of ['iss', 'sub', 'aud', 'client_id', 'auth_time', 'acr', 'sid', 'scope', 'username'])
    equal(now[name], before[name], name);
  notEqual(now.jti, before.jti);
});

test('access token: client credentials have the client as subject and no user claims', async () => {
  const { status, body } = await requestTokens(app, machine, {
    grant_type: 'client_credentials',
    scope: 'profile',
  });
  equal(status, 200);
  deepEqual(Object.keys(body).sort(), ['access_token', 'expires_in', 'scope', 'token_type']);
  const claims = claimsOf(body.access_token);
  deepEqual(
    Object.keys(claims).sort(),
    ALWAYS.filter((name) => !['auth_time', 'acr', 'sid'].includes(name)),
  );
  deepEqual([claims.sub, claims.client_id, claims.aud], [machine.id, machine.id, app.issuer]);
  equal(headerOf(body.access_token).typ, 'at+jwt');
  equal((await userinfo(app, body.access_token)).status, 401);
});

test('access_token_audience: client_id addresses tokens to the application', async () => {
  const path = `/clients/${client.id}`;
  const refused = await app.admin('PATCH', path, { access_token_audience: 'both' });
  deepEqual(
    [refused.status, Object.keys(refused.body.error?.fields ?? {})],
    [400, ['access_token_audience']],
  );
  equal((await app.admin('PATCH', path, { access_token_audience: 'client_id' })).status, 200);
  const first = await tokensOf(app, client, alice);
  equal(claimsOf(first.access_token).aud, client.id);
  equal((await app.admin('PATCH', path, { access_token_audience: 'issuer' })).status, 200);
  const { body } = await refresh(app, client, first.refresh_token);
  equal(claimsOf(body.access_token).aud, app.issuer);
  // What has been given keeps working.
  for (const token of [first.access_token, body.access_token])
    equal((await userinfo(app, token)).status, 200);
});

test('access_token_audience: an application of an earlier version keeps its id', async () => {
  const old = await app.register();
  const applications = app.store.collection(clients);
  await update(applications, old.id, ({ accessTokenAudience: _, ...value }) => ({ value }));
  equal((await app.admin('GET', `/clients/${old.id}`)).body.data.access_token_audience, 'client_id');
  equal((await app.admin('PATCH', `/clients/${old.id}`, { client_name: 'Old' })).status, 200);
  equal(claimsOf((await tokensOf(app, old, alice)).access_token).aud, old.id);
});

test('token response: not cached; has type, lifetime and scope', async () => {
  const { code, verifier } = await new Agent(app).signIn(client.id, alice);
  const answer = await postForm(
    app,
    '/oauth2/token',
    {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: 'https://rp.example/callback',
    },
    basic(client),
  );
  equal(answer.status, 200);
  equal(answer.headers.get('cache-control'), 'no-store');
  match(answer.headers.get('content-type') ?? '', /^application\/json/);
  deepEqual(Object.keys(answer.body).sort(), [
    'access_token',
    'expires_in',
    'id_token',
    'refresh_token',
    'scope',
    'token_type',
  ]);
  deepEqual(
    [answer.body.token_type, answer.body.expires_in, answer.body.scope],
    ['Bearer', 900, 'openid profile email'],
  );
  equal(answer.headers.get('set-cookie'), null);
});

test('refresh token: whenever registered for it, with or without offline_access', async () => {
  // As oidc-client-ts, msal-browser and Angular's libraries register: a browser application, public and `web`.
  const spa = await app.register({ token_endpoint_auth_method: 'none' });
  match((await tokensOf(app, spa, alice)).refresh_token, /^[\w-]{43}$/);
  const native = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
  match((await tokensOf(app, native, alice)).refresh_token, /^[\w-]{43}$/);
  const without = await app.register({ grant_types: ['authorization_code'] });
  const offline = { scope: 'openid offline_access', prompt: 'consent' };
  const tokens = await tokensOf(app, without, alice, offline);
  equal(tokens.refresh_token, undefined);
  equal(tokens.scope, 'openid');
});

test('attack: tokens, codes, secrets and passwords in log lines (R051)', async () => {
  const agent = new Agent(app);
  const authorization = await agent.signIn(client.id, alice);
  const { body } = await redeem(app, client, authorization);
  const again = await refresh(app, client, body.refresh_token);
  await userinfo(app, again.body.access_token);
  await agent.get(`/oauth2/logout?id_token_hint=${body.id_token}`);
  const log = app.logged.join('');
  ok(log.includes('/oauth2/token') && log.includes('/oauth2/logout'));
  const secrets = {
    code: authorization.code,
    verifier: authorization.verifier,
    access: body.access_token,
    id: body.id_token,
    refresh: body.refresh_token,
    rotated: again.body.refresh_token,
    secret: client.secret,
    password: 'correct horse',
  };
  for (const [name, value] of Object.entries(secrets)) ok(value !== '' && !log.includes(value), name);
});
