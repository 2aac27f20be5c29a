// The `password` grant (RFC 6749 §4.3): only for clients an administrator allowed it, with the lockout, the uniform answer and
// the tokens of a sign-in.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { type AccountRecord, accounts } from '../../src/store/collections.ts';
import { Agent, codeRequest, refresh, requestTokens } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { enrolPhone } from '../support/phone.ts';
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
  postForm,
  userinfo,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const old = await app.register({
  grant_types: ['password', 'refresh_token'],
  redirect_uris: [],
  response_types: [],
  scope: 'openid profile email roles admin admin:read offline_access',
});
const alice = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });
const root = await app.createUser('root', { role: 'admin' });

const signIn = (username: string, password: string, scope = 'openid profile email', client: Client = old) =>
  requestTokens(app, client, { grant_type: 'password', username, password, scope });

test('password grant: username and password give the tokens of a sign-in', async () => {
  const before = epoch();
  const { status, body } = await signIn('alice', PASSWORD, 'openid profile email roles');
  equal(status, 200, JSON.stringify(body));
  deepEqual(Object.keys(body).sort(), [
    'access_token',
    'expires_in',
    'id_token',
    'refresh_token',
    'scope',
    'token_type',
  ]);
  const access = claimsOf(body.access_token);
  equal(headerOf(body.access_token).typ, 'at+jwt');
  deepEqual(
    [access.sub, access.aud, access.client_id, access.scope, access.username, access.role],
    [alice.id, app.issuer, old.id, 'openid profile email roles', 'alice', 'user'],
  );
  ok(Number(access.auth_time) >= before && Number(access.auth_time) <= epoch(), 'auth_time (decision 0009)');
  const id = claimsOf(body.id_token);
  deepEqual(
    [id.sub, id.aud, id.iss, id.email, id.amr],
    [alice.id, old.id, app.issuer, 'alice@example.com', ['pwd']],
  );
  equal(id.auth_time, access.auth_time);
  const half = createHash('sha256').update(body.access_token, 'ascii').digest().subarray(0, 16);
  equal(id.at_hash, half.toString('base64url'), 'at_hash (decision 0006)');
  equal((await userinfo(app, body.access_token)).body.preferred_username, 'alice');
  const told = await introspect(app, body.access_token);
  deepEqual([told.body.active, told.body.username, told.body.sub], [true, 'alice', alice.id]);
});

test('password grant: its refresh token works and ends like any other', async () => {
  const { body } = await signIn('alice@example.com', PASSWORD);
  const again = await refresh(app, old, body.refresh_token);
  equal(again.status, 200, JSON.stringify(again.body));
  equal(claimsOf(again.body.access_token).sub, alice.id);
  equal(claimsOf(again.body.id_token).auth_time, claimsOf(body.id_token).auth_time);
  await postForm(app, '/oauth2/revoke', { token: again.body.refresh_token });
  for (const token of [body.access_token, again.body.access_token]) equal(await isActive(app, token), false);
});

test('attack: user enumeration; unknown, wrong, locked and inactive are one answer', async () => {
  const locked = await app.createUser('locked');
  for (let guess = 0; guess < 5; guess += 1) await signIn(locked.username, `wrong ${guess}`);
  const { body: held } = await app.admin('GET', `/users/${locked.id}`);
  ok(held.data.locked_until !== null, 'guesses here count (R089)');
  const inactive = await app.createUser('inactive');
  await app.admin('POST', `/users/${inactive.id}/deactivate`);
  const answers = new Set<string>();
  for (const [name, password] of [
    ['nobody', PASSWORD],
    ['alice', 'wrong'],
    ['locked', PASSWORD],
    ['inactive', PASSWORD],
  ] as const) {
    const { status, body } = await signIn(name, password);
    answers.add(JSON.stringify([status, body]));
  }
  equal(answers.size, 1, [...answers].join('\n'));
  deepEqual(JSON.parse([...answers][0] ?? '')[1].error, 'invalid_grant');
});

test('password grant: tokens end with the account', async () => {
  const bob = await app.createUser('bob');
  const { body } = await signIn('bob', PASSWORD);
  equal(await isActive(app, body.access_token), true);
  equal((await app.admin('PATCH', `/users/${bob.id}`, { password: 'another battery staple' })).status, 200);
  for (const token of [body.access_token, body.refresh_token]) equal(await isActive(app, token), false);
  equal((await refresh(app, old, body.refresh_token)).body.error, 'invalid_grant');
});

test('password grant: refused to other clients', async () => {
  for (const client of [
    await app.register(),
    await app.register({ grant_types: ['client_credentials'], redirect_uris: [] }),
  ]) {
    const { status, body } = await signIn('alice', PASSWORD, 'openid', client);
    deepEqual([status, body.access_token], [400, undefined]);
    ok(['unauthorized_client', 'invalid_request'].includes(body.error ?? ''), body.error);
  }
  const { body: token } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const made = await call(app, 'POST', '/oauth2/register', {
    headers: { authorization: `Bearer ${token.data.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ grant_types: ['password'], redirect_uris: [], response_types: [] }),
  });
  deepEqual([made.status, made.body.error], [400, 'invalid_client_metadata']);
});

test('password grant: scopes the client may not have are left out, and admin always', async () => {
  equal((await signIn('alice', PASSWORD, 'openid phone made-up')).body.scope, 'openid');
  for (const scope of ['phone', 'made-up', 'admin']) {
    const refused = await signIn('alice', PASSWORD, scope);
    deepEqual([refused.status, refused.body.error], [400, 'invalid_scope'], scope);
  }
  equal((await signIn('alice', PASSWORD, 'openid admin')).body.scope, 'openid');
  const { body: asRoot } = await signIn('root', PASSWORD, 'openid admin admin:read');
  equal(asRoot.scope, 'openid', 'an administrator by a password alone, in a program (decision 0002)');
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(asRoot.access_token) })).status, 403);
  const bare = await requestTokens(app, old, {
    grant_type: 'password',
    username: 'root',
    password: PASSWORD,
  });
  deepEqual([bare.status, bare.body.scope, claimsOf(bare.body.id_token).sub], [200, 'openid', root.id]);
  equal(claimsOf(bare.body.access_token).sub, root.id);
});

test('attack: the password grant to bypass a second factor', async () => {
  const refused = async (username: string): Promise<void> => {
    const { status, body } = await signIn(username, PASSWORD, 'openid');
    deepEqual([status, body.error, body.access_token], [400, 'invalid_grant', undefined], username);
    match(String(body.error_description), /second factor/);
  };
  await app.createUser('has-app');
  await change(app, { mfa_mode: 'required' });
  await refused('alice');
  const agent = new Agent(app);
  const web = await app.register();
  await enrolPhone(app, agent, await agent.follow(await agent.authorize(codeRequest(web.id))), 'has-app');
  await change(app, { mfa_mode: 'optional' });
  await refused('has-app');
  equal((await signIn('alice', PASSWORD, 'openid')).status, 200);
  const records = app.store.collection(accounts);
  const owned: Readonly<Record<string, Partial<AccountRecord>>> = {
    'has-mail': { hasEmailCodes: true },
    'must-enrol': { mustEnrolSecondFactor: true },
    'has-passkey': { passkeys: [{ id: 'x', kind: 'passkey' }] },
  };
  for (const [username, has] of Object.entries(owned)) {
    const email = `${username}@example.com`;
    const { id } = await app.createUser(username, { email, is_email_verified: true });
    const found = await records.find(id);
    ok(found);
    await records.put(id, { ...found.value, ...has });
    await refused(username);
  }
});

test('password grant: missing, empty or repeated fields and wrong clients are refused', async () => {
  for (const fields of [
    { username: 'alice' },
    { password: PASSWORD },
    { username: '', password: PASSWORD },
    {},
  ] as Record<string, string>[]) {
    const { status, body } = await requestTokens(app, old, { grant_type: 'password', ...fields });
    deepEqual([status, body.error], [400, 'invalid_request']);
  }
  const twice: [string, string][] = [
    ['grant_type', 'password'],
    ['username', 'alice'],
    ['username', 'root'],
    ['password', PASSWORD],
  ];
  equal((await postForm(app, '/oauth2/token', twice, basic(old))).status, 400);
  const fields = { grant_type: 'password', username: 'alice', password: PASSWORD };
  equal((await postForm(app, '/oauth2/token', fields)).status, 401);
  equal((await postForm(app, '/oauth2/token', fields, basic({ ...old, secret: 'x' }))).status, 401);
  const inQuery = await call(app, 'POST', `/oauth2/token?${new URLSearchParams(fields)}`, {
    headers: basic(old),
  });
  equal(inQuery.status, 400);
});
