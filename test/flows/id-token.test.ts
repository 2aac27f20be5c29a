// The contents of ID tokens (decision 0006, OIDC Core §2).
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Agent, redeem, refresh } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { claimsOf, epoch, headerOf, tokensOf, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const jwks = createRemoteJWKSet(new URL(`${app.url}/.well-known/jwks.json`));
const client = await app.register({
  scope: 'openid profile email phone address roles groups offline_access',
});
const profile = {
  given_name: 'Alice',
  family_name: 'Liddell',
  middle_name: 'Pleasance',
  nickname: 'Al',
  profile: 'https://people.example/alice',
  picture: 'https://people.example/alice.png',
  website: 'https://alice.example',
  gender: 'female',
  birthdate: '1852-05-04',
  zoneinfo: 'Europe/London',
  locale: 'en-GB',
};
const alice = await app.createUser('alice', {
  email: 'alice@example.com',
  is_email_verified: true,
  phone_number: '+441865276150',
  address: { locality: 'Oxford', country: 'GB' },
  ...profile,
});

const OWN = ['acr', 'amr', 'at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'sid', 'sub'];

test('ID token: exactly the specified claims, signed by a published key', async () => {
  const nonce = 'n-0S6_WzA2Mj';
  const before = epoch();
  const { id_token, access_token } = await tokensOf(app, client, alice, { scope: 'openid', nonce });
  const { payload, protectedHeader } = await jwtVerify(id_token, jwks, {
    issuer: app.issuer,
    audience: client.id,
    algorithms: ['RS256'],
  });
  deepEqual(Object.keys(payload).sort(), [...OWN, 'nonce'].sort());
  equal(protectedHeader.alg, 'RS256');
  notEqual(protectedHeader.typ, 'at+jwt');
  equal(app.issuer, `${app.url}/oauth2`);
  const { sub, aud, iat = 0, exp = 0, auth_time, nonce: echoed, amr, acr, sid, at_hash } = payload;
  deepEqual([sub, aud, echoed, amr], [alice.id, client.id, nonce, ['pwd']]);
  equal(acr, 'urn:latchkey:acr:single-factor');
  ok(iat >= before && iat <= epoch(), 'iat');
  equal(exp - iat, 3600);
  ok(typeof auth_time === 'number' && auth_time >= before && auth_time <= iat, 'auth_time');
  ok(typeof sid === 'string' && sid.length >= 21);
  equal(sid, claimsOf(access_token).sid);
  // OIDC Core §3.1.3.6: the left half of the hash of the access token's ASCII form.
  const half = createHash('sha256').update(access_token, 'ascii').digest().subarray(0, 16);
  equal(at_hash, half.toString('base64url'));
});

test('ID token: no nonce unless one was sent', async () => {
  const { id_token } = await tokensOf(app, client, alice, { scope: 'openid' });
  deepEqual(Object.keys(claimsOf(id_token)).sort(), OWN);
});

const address = { locality: 'Oxford', country: 'GB' };
const byScope: Readonly<Record<string, Record<string, unknown>>> = {
  profile: { name: 'Alice Liddell', preferred_username: 'alice', ...profile },
  email: { email: 'alice@example.com', email_verified: true },
  phone: { phone_number: '+441865276150', phone_number_verified: false },
  address: { address },
  roles: { roles: ['user'] },
};

for (const [scope, expected] of Object.entries(byScope)) {
  test(`ID token: scope ${scope} adds its claims and no others`, async () => {
    const claims = claimsOf((await tokensOf(app, client, alice, { scope: `openid ${scope}` })).id_token);
    const own = new Set(OWN);
    const opened = Object.fromEntries(Object.entries(claims).filter(([name]) => !own.has(name)));
    if (scope === 'profile') {
      const { updated_at, ...rest } = opened;
      ok(typeof updated_at === 'number' && updated_at <= epoch());
      deepEqual(rest, expected);
    } else deepEqual(opened, expected);
  });
}

test('ID token: a user without a name has the username as name', async () => {
  const bare = await app.createUser('bare');
  const claims = claimsOf((await tokensOf(app, client, bare)).id_token);
  deepEqual([claims.name, claims.email, claims.email_verified], ['bare', undefined, undefined]);
});

test('ID token: none without scope openid', async () => {
  const { id_token, access_token } = await tokensOf(app, client, alice, { scope: 'profile' });
  equal(id_token, undefined);
  equal(claimsOf(access_token).scope, 'profile');
});

test('ID token: a refreshed one keeps sub, auth_time, sid, amr and acr, and has no nonce', async () => {
  const first = await tokensOf(app, client, alice, { nonce: 'of the request' });
  const { status, body } = await refresh(app, client, first.refresh_token);
  equal(status, 200);
  const [before, after] = [claimsOf(first.id_token), claimsOf(body.id_token)];
  for (const name of ['iss', 'sub', 'aud', 'auth_time', 'sid', 'amr', 'acr', 'email', 'name']) {
    deepEqual(after[name], before[name], name);
  }
  // OpenID Connect Core §12.2; angular-auth-oidc-client refuses any.
  deepEqual([before.nonce, after.nonce], ['of the request', undefined]);
  const half = createHash('sha256').update(body.access_token, 'ascii').digest().subarray(0, 16);
  equal(after.at_hash, half.toString('base64url'));
});

test('claims parameter: adds single claims at the named place (OIDC Core §5.5)', async () => {
  const claims = JSON.stringify({ id_token: { email: null }, userinfo: { nickname: null } });
  const tokens = await tokensOf(app, client, alice, { scope: 'openid', claims });
  const inToken = claimsOf(tokens.id_token);
  deepEqual([inToken.email, inToken.nickname, inToken.name], ['alice@example.com', undefined, undefined]);
  const response = await fetch(`${app.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  deepEqual(await response.json(), { sub: alice.id, nickname: 'Al' });
});

test('ID token lifetime: the client’s own overrides the setting, which applies to the next', async () => {
  const brief = await app.register({ id_token_seconds: 60, access_token_seconds: 30 });
  const own = await tokensOf(app, brief, alice);
  const [id, access] = [claimsOf(own.id_token), claimsOf(own.access_token)];
  equal(Number(id.exp) - Number(id.iat), 60);
  deepEqual([Number(access.exp) - Number(access.iat), own.expires_in], [30, 30]);
  await app.admin('PATCH', '/settings', { id_token_seconds: 120, access_token_seconds: 90 });
  const after = await tokensOf(app, client, alice);
  equal(Number(claimsOf(after.id_token).exp) - Number(claimsOf(after.id_token).iat), 120);
  equal(after.expires_in, 90);
  await app.admin('PATCH', '/settings', { id_token_seconds: 3600, access_token_seconds: 900 });
});

test('attack: profile values overwrite protocol claims (R057)', async () => {
  // The admin API knows no such fields; a request that tries is refused as a whole.
  const { status, body } = await app.admin('POST', '/users', {
    username: 'mallory',
    password: 'correct horse battery staple',
    sub: alice.id,
    roles: ['admin'],
  });
  equal(status, 400);
  deepEqual(Object.keys(body.error?.fields ?? {}).sort(), ['roles', 'sub']);
});

test('sub: stable over clients and sessions, and never reused for a namesake', async () => {
  const other = await app.register();
  const bob = await app.createUser('bob');
  const subs = new Set<unknown>();
  for (const each of [client, other]) subs.add(claimsOf((await tokensOf(app, each, bob)).id_token).sub);
  deepEqual([...subs], [bob.id]);
  equal((await app.admin('DELETE', `/users/${bob.id}`)).status, 204);
  const again = await app.createUser('bob');
  equal(claimsOf((await tokensOf(app, client, again)).id_token).sub, again.id);
  notEqual(again.id, bob.id);
});

test('sid: two clients in one session have different ones', async () => {
  const other = await app.register();
  const agent = new Agent(app);
  const one = await tokensOf(app, client, alice, {}, agent);
  const { status, body } = await redeem(app, other, await agent.signIn(other.id, alice));
  equal(status, 200);
  notEqual(claimsOf(one.id_token).sid, claimsOf(body.id_token).sid);
  equal(claimsOf(one.id_token).auth_time, claimsOf(body.id_token).auth_time);
  equal(headerOf(one.id_token).kid, headerOf(body.id_token).kid);
});

test('minimal_id_tokens: who and how alone, the rest by userinfo, what claims names stays', async () => {
  const own = await app.register({
    scope: 'openid profile email roles groups offline_access',
    minimal_id_tokens: true,
  });
  const asked = { scope: 'openid profile email roles groups offline_access', nonce: 'n' };
  const tokens = await tokensOf(app, own, alice, asked);
  deepEqual(Object.keys(claimsOf(tokens.id_token)).sort(), [...OWN, 'nonce'].sort());
  const shown = (await userinfo(app, tokens.access_token)).body;
  deepEqual([shown.email, shown.given_name, shown.roles], ['alice@example.com', 'Alice', ['user']]);
  const { body } = await refresh(app, own, tokens.refresh_token);
  deepEqual(Object.keys(claimsOf(body.id_token)).sort(), OWN);
  const claims = JSON.stringify({ id_token: { email: null } });
  const named = claimsOf((await tokensOf(app, own, alice, { ...asked, claims })).id_token);
  deepEqual([named.email, named.given_name], ['alice@example.com', undefined]);
  await app.admin('PATCH', `/clients/${own.id}`, { minimal_id_tokens: false });
  equal(claimsOf((await tokensOf(app, own, alice, asked)).id_token).given_name, 'Alice');
});
