// `keycloak_tokens` (decision 0026): tokens that adapters and libraries of Keycloak can read, for applications where an
// administrator switched it on, and for no other.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import test, { after } from 'node:test';
import { jwtVerify } from 'jose';
import { createRefreshTokenJwt } from '../../src/oidc/foreign-layout/refresh-token-jwt.ts';
import { refresh } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { createApi } from './api-support.ts';
import {
  basic,
  bearer,
  type Client,
  call,
  change,
  claimsOf,
  epoch,
  headerOf,
  introspect,
  isActive,
  later,
  postForm,
  requestTokensOf,
  tokensOf,
  userinfo,
  withApp,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({
  keycloak_tokens: true,
  rotate_refresh_tokens: 'always',
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
});
const plain = await app.register();
const alice = await app.createUser('alice');
const AT = '/realms/any/protocol/openid-connect';

const switchTo = async (of: Client, keycloak_tokens: boolean): Promise<void> => {
  equal((await app.admin('PATCH', `/clients/${of.id}`, { keycloak_tokens })).status, 200);
};

test('keycloak_tokens: typ, azp and session_state in all three, roles in the access token alone', async () => {
  const tokens = await tokensOf(app, client, alice, { scope: 'openid profile roles' });
  const access = claimsOf(tokens.access_token);
  const id = claimsOf(tokens.id_token);
  const refreshing = claimsOf(tokens.refresh_token);
  deepEqual([access.typ, id.typ, refreshing.typ], ['Bearer', 'ID', 'Refresh']);
  for (const claims of [access, id, refreshing]) {
    equal(claims.azp, client.id);
    ok(typeof claims.sid === 'string' && claims.sid !== '');
    equal(claims.session_state, claims.sid);
    equal(claims.iss, app.issuer);
  }
  deepEqual(access.realm_access, { roles: ['user'] });
  deepEqual(access.resource_access, { [client.id]: { roles: ['user'] } });
  deepEqual([id.realm_access, id.resource_access], [undefined, undefined]);
  equal(access.preferred_username, 'alice');
  equal(headerOf(tokens.access_token).typ, 'at+jwt');
  deepEqual(Object.keys(refreshing).toSorted(), [
    'aud',
    'azp',
    'exp',
    'iat',
    'iss',
    'jti',
    'session_state',
    'sid',
    'typ',
  ]);
  ok(Number(refreshing.exp) > epoch() + 86_000);
  equal((await userinfo(app, tokens.access_token)).status, 200);
});

// What keycloak-connect's GrantManager checks of the tokens that it gets (validateToken, ensureFreshness).
test('keycloak-connect: type, issuer, audience, signature and freshness hold', async () => {
  const tokens = await tokensOf(app, client, alice, { scope: 'openid' });
  const { body } = await call(app, 'GET', '/realms/any');
  const pem = `-----BEGIN PUBLIC KEY-----\n${body.public_key}\n-----END PUBLIC KEY-----`;
  const key = createPublicKey(pem);
  for (const [token, typ] of [
    [tokens.access_token, 'Bearer'],
    [tokens.id_token, 'ID'],
  ] as const) {
    const { payload } = await jwtVerify(token, key, { algorithms: ['RS256'], issuer: app.issuer });
    equal(payload.typ, typ);
    ok((payload.iat ?? 0) > 0);
  }
  ok([claimsOf(tokens.id_token).aud].flat().includes(client.id));
  ok(Number(claimsOf(tokens.refresh_token).exp) * 1000 > Date.now());
});

test('keycloak_tokens: without the scope roles there are none', async () => {
  const first = await tokensOf(app, client, alice, { scope: 'openid profile' });
  const { body } = await refresh(app, client, first.refresh_token);
  for (const token of [first.access_token, first.id_token, body.access_token, body.refresh_token]) {
    const { realm_access, resource_access, roles } = claimsOf(token);
    deepEqual([realm_access, resource_access, roles], [undefined, undefined, undefined]);
  }
});

test('keycloak_tokens: other applications’ tokens have none of it', async () => {
  const tokens = await tokensOf(app, plain, alice, { scope: 'openid profile roles' });
  match(tokens.refresh_token, /^[\w-]{43}$/);
  for (const token of [tokens.access_token, tokens.id_token])
    for (const name of ['typ', 'azp', 'session_state', 'realm_access', 'resource_access'])
      equal(claimsOf(token)[name], undefined, name);
});

test('keycloak_tokens: an API that declares roles has them, for the application and itself', async () => {
  const scopes = [{ name: 'read', description: 'Read', is_default: true }];
  const clients = [client.id];
  for (const [claims, has] of [
    [['profile', 'roles'], true],
    [['profile'], false],
  ] as const) {
    const api = await createApi(app, { claims, clients, scopes });
    const asked = { scope: 'openid read', resource: api.identifier };
    const { access_token: token } = await tokensOf(app, client, alice, asked);
    const own = claimsOf(token);
    deepEqual([own.aud, own.typ, own.azp], [api.identifier, 'Bearer', client.id]);
    const roles = { roles: ['user'] };
    deepEqual(own.realm_access, has ? roles : undefined);
    deepEqual(own.resource_access, has ? { [client.id]: roles, [api.identifier]: roles } : undefined);
  }
});

test('keycloak_tokens: client_credentials and password', async () => {
  const own = await requestTokensOf(app, client, { grant_type: 'client_credentials' });
  const claims = claimsOf(own.access_token);
  deepEqual([claims.typ, claims.azp, claims.sub], ['Bearer', client.id, client.id]);
  deepEqual([claims.realm_access, claims.session_state], [undefined, undefined]);
  const tokens = await requestTokensOf(app, client, {
    grant_type: 'password',
    username: 'alice',
    password: PASSWORD,
    scope: 'openid roles',
  });
  deepEqual(claimsOf(tokens.access_token).realm_access, { roles: ['user'] });
  equal(claimsOf(tokens.refresh_token).typ, 'Refresh');
  equal((await refresh(app, client, tokens.refresh_token)).status, 200);
});

test('refresh JWT: rotated at every use, a used one ends the grant', async () => {
  await withApp({}, async (own) => {
    await change(own, { refresh_token_grace_seconds: 0 });
    const mine = await own.register({ keycloak_tokens: true, rotate_refresh_tokens: 'always' });
    const first = await tokensOf(own, mine, await own.createUser('alice'));
    const { status, body: second } = await refresh(own, mine, first.refresh_token);
    equal(status, 200);
    notEqual(second.refresh_token, first.refresh_token);
    equal(claimsOf(second.refresh_token).typ, 'Refresh');
    const replayed = await refresh(own, mine, first.refresh_token);
    deepEqual([replayed.status, replayed.body.error], [400, 'invalid_grant']);
    for (const token of [second.access_token, second.refresh_token]) equal(await isActive(own, token), false);
  });
});

test('refresh JWT: a racing tab gets the same successor', async () => {
  const first = await tokensOf(app, client, alice);
  const { body: second } = await refresh(app, client, first.refresh_token);
  const { body: again } = await later(3000, () => refresh(app, client, first.refresh_token));
  equal(again.refresh_token, second.refresh_token);
  equal((await refresh(app, client, again.refresh_token)).status, 200);
});

test('refresh JWT: introspection, revocation and logout take it from its own client', async () => {
  const tokens = await tokensOf(app, client, alice);
  const token = tokens.refresh_token;
  for (const headers of [undefined, basic(client)]) {
    const { body } = await introspect(app, token, headers);
    deepEqual([body.active, body.token_type, body.client_id], [true, 'refresh_token', client.id]);
    deepEqual([body.jti, body.role], [undefined, undefined]);
  }
  equal((await introspect(app, token, basic(plain))).body.active, false);
  equal((await postForm(app, `${AT}/revoke`, { token, token_type_hint: 'refresh_token' })).status, 200);
  equal(await isActive(app, tokens.access_token), false);

  const second = await tokensOf(app, client, alice);
  const fields = { client_id: client.id, client_secret: client.secret, refresh_token: second.refresh_token };
  equal((await postForm(app, `${AT}/logout`, fields)).status, 204);
  equal(await isActive(app, second.refresh_token), false);

  const third = await tokensOf(app, client, alice);
  const by = await postForm(app, '/oauth2/revoke', { token: third.refresh_token }, basic(client));
  deepEqual([by.status, by.text], [200, '']);
  equal(await isActive(app, third.refresh_token), false);
});

test('keycloak_tokens switched: tokens from before go on, the next ones have the other form', async () => {
  const own = await app.register();
  const opaque = await tokensOf(app, own, alice);
  await switchTo(own, true);
  const { body: signed } = await refresh(app, own, opaque.refresh_token);
  equal(claimsOf(signed.refresh_token).typ, 'Refresh');
  await switchTo(own, false);
  const { body: last } = await refresh(app, own, signed.refresh_token);
  match(last.refresh_token, /^[\w-]{43}$/);
  equal(claimsOf(last.access_token).typ, undefined);
});

test('refresh JWT: the key follows SECRET_KEY, older ones that are listed verify', async () => {
  const [old, next] = ['a'.repeat(40), 'b'.repeat(40)];
  const claims = { jti: 'j', azp: 'c', sid: undefined, iat: epoch(), exp: epoch() + 60 };
  const before = createRefreshTokenJwt([old], 'https://id.example');
  const token = await before.sign(claims);
  const rotated = createRefreshTokenJwt([next, old], 'https://id.example');
  equal(await rotated.resolve(token), 'j');
  equal(await before.resolve(await rotated.sign(claims)), undefined);
  equal(await createRefreshTokenJwt([next], 'https://id.example').resolve(token), undefined);
  equal(await createRefreshTokenJwt([old], 'https://other.example').resolve(token), undefined);
});

test('keycloak_tokens: set by administrators, recorded, never by dynamic registration', async () => {
  const path = `/clients/${plain.id}`;
  equal((await app.admin('GET', path)).body.data.keycloak_tokens, false);
  await switchTo(plain, true);
  equal((await app.admin('GET', path)).body.data.keycloak_tokens, true);
  await switchTo(plain, false);
  const events = await app.admin('GET', `/audit?event=client.updated&target_id=${plain.id}`);
  match(JSON.stringify(events.body.data.items), /keycloak_tokens/);

  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'strangers' });
  const initial = bearer(String(body.data.token));
  const metadata = { redirect_uris: ['https://rp.example/cb'], keycloak_tokens: true };
  const headers = { ...initial, 'content-type': 'application/json' };
  const made = await call(app, 'POST', '/oauth2/register', { headers, body: JSON.stringify(metadata) });
  if (made.status === 201) {
    const { data } = (await app.admin('GET', `/clients/${made.body.client_id}`)).body;
    equal(data.keycloak_tokens, false);
  } else equal(made.status, 400, made.text);
});
