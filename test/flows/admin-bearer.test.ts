// Bearers of the admin API (decision 0002: sources 1 to 3): the bootstrap token, an administrator's token with the scope
// `admin`, a client's own token with that scope. Role and account are read at every call.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { accounts } from '../../src/store/collections.ts';
import { Agent, refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import {
  type Answer,
  basic,
  bearer,
  call,
  introspect,
  later,
  requestTokensOf,
  tokensOf,
  withApp,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ scope: 'openid profile admin' });
const plain = await app.register();
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'openid admin',
});
await app.createUser('keeper', { role: 'admin' });
const alice = await app.createUser('alice');

const places: Readonly<Record<string, (headers: Record<string, string>) => Promise<Answer>>> = {
  'the admin API': (headers) => call(app, 'GET', '/admin/api/users', { headers }),
  introspection: (headers) => introspect(app, 'x', headers),
  registration: (headers) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://rp.example/callback'] }),
    }),
};

async function expectEverywhere(
  status: number,
  headers: Record<string, string>,
  what: string,
): Promise<void> {
  for (const [place, ask] of Object.entries(places)) {
    const answer = await ask(headers);
    const expected = status === 200 && place === 'registration' ? 201 : status;
    equal(answer.status, expected, `${what} at ${place}: ${answer.text}`);
    if (status === 200) continue;
    equal(answer.headers.get('cache-control'), 'no-store');
    const challenge = answer.headers.get('www-authenticate') ?? '';
    match(challenge, /^Bearer/, `${what} at ${place}`);
    if (status === 403) match(challenge, /error="insufficient_scope"/, `${what} at ${place}`);
    ok(!answer.text.includes('alice') && !('active' in answer.body));
    const { error } = JSON.parse(answer.text);
    const reason = status === 403 ? 'insufficient_scope' : 'invalid_token';
    if (place === 'the admin API') {
      equal(error.code, status);
      ok([`auth.${reason}`, 'auth.required'].includes(error.reason), error.reason);
    } else if (place === 'registration') equal(error, reason, what);
  }
}

test('admin API: no bearer is 401 with the bare scheme (RFC 6750 §3.1)', async () => {
  for (const headers of [{}, { authorization: '' }, { authorization: 'Negotiate x' }] as Record<
    string,
    string
  >[]) {
    const answer = await call(app, 'GET', '/admin/api/users', { headers });
    deepEqual([answer.status, answer.headers.get('www-authenticate')], [401, 'Bearer']);
    const { error } = JSON.parse(answer.text);
    deepEqual([error.code, error.reason, JSON.parse(answer.text).data], [401, 'auth.required', null]);
    match(error.request_id, /^[0-9a-f-]{36}$/);
  }
  await expectEverywhere(401, {}, 'nothing');
});

test('bootstrap token: accepted in the header only, compared exactly', async () => {
  await expectEverywhere(200, bearer(ADMIN_TOKEN), 'bootstrap');
  await expectEverywhere(200, { authorization: `bearer ${ADMIN_TOKEN}` }, 'the scheme in lower case');
  const wrong = [
    ADMIN_TOKEN.slice(1),
    ADMIN_TOKEN.slice(0, -1),
    `${ADMIN_TOKEN}x`,
    ADMIN_TOKEN.toUpperCase(),
    `${ADMIN_TOKEN} ${ADMIN_TOKEN}`,
    '',
    'undefined',
    'null',
  ];
  for (const token of wrong) await expectEverywhere(401, bearer(token), JSON.stringify(token));
  for (const path of [
    `/admin/api/users?access_token=${ADMIN_TOKEN}`,
    `/admin/api/users?token=${ADMIN_TOKEN}`,
  ])
    equal((await call(app, 'GET', path)).status, 401);
  const { status } = await call(app, 'GET', '/admin/api/users', {
    headers: basic({ id: 'admin', secret: ADMIN_TOKEN }),
  });
  equal(status, 401);
});

test('bootstrap token: none exists without ADMIN_TOKEN', async () => {
  await withApp({ env: { ADMIN_TOKEN: '' } }, async (bare) => {
    for (const token of [ADMIN_TOKEN, '', 'undefined'])
      equal((await call(bare, 'GET', '/admin/api/users', { headers: bearer(token) })).status, 401, token);
  });
});

test('administrator token: needs scope admin; without it, or by another user, 403', async () => {
  const root = await app.createUser('root', { role: 'admin' });
  const withScope = await tokensOf(app, client, root, { scope: 'openid admin' });
  await expectEverywhere(200, bearer(withScope.access_token), 'admin with scope');
  const without = await tokensOf(app, client, root, { scope: 'openid' });
  await expectEverywhere(403, bearer(without.access_token), 'admin without scope');
  const user = await tokensOf(app, client, alice, { scope: 'openid admin' });
  await expectEverywhere(403, bearer(user.access_token), 'a user who asked for it');
  const elsewhere = await tokensOf(app, plain, alice, { scope: 'openid' });
  await expectEverywhere(403, bearer(elsewhere.access_token), 'a user at another application');
  await expectEverywhere(401, bearer(withScope.refresh_token), 'a refresh token');
  await expectEverywhere(401, bearer(withScope.id_token), 'an ID token');
  await later(901_000, () => expectEverywhere(401, bearer(withScope.access_token), 'expired'));
});

test('scope admin: a client without it does not get it, even for an administrator', async () => {
  const root = await app.createUser('root-elsewhere', { role: 'admin' });
  const tokens = await tokensOf(app, plain, root, { scope: 'openid admin' });
  equal(tokens.scope, 'openid');
  await expectEverywhere(403, bearer(tokens.access_token), 'an administrator at an ordinary application');
  const { response } = await new Agent(app).signIn(plain.id, root, { scope: 'admin' });
  deepEqual([response.get('error'), response.get('code')], ['invalid_scope', null]);
});

test('administrator demoted, deactivated, locked or deleted: refused at the next call', async () => {
  const ends: Readonly<Record<string, (id: string) => Promise<{ status: number }>>> = {
    demoted: (id) => app.admin('PATCH', `/users/${id}`, { role: 'user' }),
    deactivated: (id) => app.admin('POST', `/users/${id}/deactivate`),
    deleted: (id) => app.admin('DELETE', `/users/${id}`),
  };
  for (const [name, end] of Object.entries(ends)) {
    const root = await app.createUser(`root-${name}`, { role: 'admin' });
    const tokens = await tokensOf(app, client, root, { scope: 'openid admin' });
    await expectEverywhere(200, bearer(tokens.access_token), name);
    ok((await end(root.id)).status < 300);
    await expectEverywhere(401, bearer(tokens.access_token), name);
    equal((await refresh(app, client, tokens.refresh_token)).body.error, 'invalid_grant', name);
  }
});

test('administrator demoted in the store alone: 403, the token itself stays valid', async () => {
  const root = await app.createUser('root-in-store', { role: 'admin' });
  const tokens = await tokensOf(app, client, root, { scope: 'openid admin' });
  const collection = app.store.collection(accounts);
  const stored = await collection.find(root.id);
  ok(stored !== undefined);
  await collection.replace(root.id, stored.version, { ...stored.value, role: 'user' });
  await expectEverywhere(403, bearer(tokens.access_token), 'role read afresh');
});

test('client token: with scope admin; without it 403, revoked or of an inactive client 401', async () => {
  const own = await requestTokensOf(app, machine, { grant_type: 'client_credentials', scope: 'admin' });
  await expectEverywhere(200, bearer(own.access_token), 'with scope');
  const without = await requestTokensOf(app, machine, { grant_type: 'client_credentials', scope: 'openid' });
  await expectEverywhere(403, bearer(without.access_token), 'without');
  const bare = await requestTokensOf(app, machine, { grant_type: 'client_credentials' });
  await expectEverywhere(403, bearer(bare.access_token), 'without any scope');
  const user = await app.admin('PATCH', `/clients/${machine.id}`, { is_active: false });
  equal(user.status, 200);
  await expectEverywhere(401, bearer(own.access_token), 'deactivated');
});

test('client whose scope admin was removed: gets no new token with it', async () => {
  const losing = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'openid admin',
  });
  equal((await app.admin('PATCH', `/clients/${losing.id}`, { scope: 'openid' })).status, 200);
  const { status, body } = await call(app, 'POST', '/oauth2/token', {
    headers: basic(losing),
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'admin' }),
  });
  deepEqual([status, body.error], [400, 'invalid_scope']);
});
