// The read-only role and the read-only scope (decision 0002): what role and scope together permit.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPerform } from '../../src/admin/api/perform.ts';
import { defineRoute } from '../../src/admin/api/route.ts';
import { accounts } from '../../src/store/collections.ts';
import { call, requestTokensOf, tokensOf } from '../flows/support.ts';
import { refresh } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { errorOf, itemsOf, membersOf, send, wrongFields } from './answers.ts';
import { withEachServer } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const both = await app.register({ scope: 'openid admin admin:read' });
await app.createUser('keeper', { role: 'admin' });
const admin = await app.createUser('root', { role: 'admin' });
const auditor = await app.createUser('ann', { role: 'auditor' });
const user = await app.createUser('alice');

withEachServer(
  'role: a user can be made an auditor and is found by that role',
  async ({ api, accounts: users }) => {
    const created = await api('POST', '/users', {
      username: 'ann',
      password: 'seven tall lanterns',
      role: 'auditor',
    });
    equal(created.status, 201, created.text);
    deepEqual(
      itemsOf(await api('GET', '/users?role=auditor')).map(({ username }) => username),
      ['ann'],
    );
    const wrong = await api('POST', '/users', { username: 'x', password: 'y', role: 'root' });
    deepEqual([wrong.status, wrongFields(wrong)], [400, ['role']]);
    equal((await api('GET', '/users?role=root')).status, 400);
    // An auditor is no administrator: the last of those cannot become one.
    const admin = await users.create({ username: 'boss', password: 'seven tall lanterns', role: 'admin' });
    const demoted = await api('PATCH', `/users/${admin.id}`, { role: 'auditor' });
    deepEqual([demoted.status, errorOf(demoted).reason], [409, 'account.last_admin']);
  },
);

const as = (bearer: string, method: string, path: string, body?: unknown) =>
  send(`${app.url}/admin/api${path}`, method, body, { bearer });

/** What a bearer may: read, change. */
async function accessOf(bearer: string): Promise<(number | boolean)[]> {
  const read = await as(bearer, 'GET', '/users');
  const write = await as(bearer, 'PATCH', '/settings', { product_name: 'Acme' });
  for (const answer of [read, write].filter(({ status }) => status === 403)) {
    match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_scope"/);
    equal(errorOf(answer).reason, 'auth.insufficient_scope');
  }
  return [read.status, write.status];
}

const tokenOf = async (who: typeof user, scope: string): Promise<string> =>
  (await tokensOf(app, both, who, { scope })).access_token;

test('role and scope: both are required; neither grants what the other lacks', async () => {
  const expected: readonly (readonly [typeof user, string, readonly number[]])[] = [
    [admin, 'openid admin', [200, 200]],
    [admin, 'openid admin admin:read', [200, 200]],
    [admin, 'openid admin:read', [200, 403]],
    [admin, 'openid', [403, 403]],
    [auditor, 'openid admin', [403, 403]],
    [auditor, 'openid admin:read', [200, 403]],
    [auditor, 'openid admin admin:read', [200, 403]],
    [user, 'openid admin admin:read', [403, 403]],
  ];
  for (const [who, scope, access] of expected) {
    deepEqual(await accessOf(await tokenOf(who, scope)), access, `${who.username}: ${scope}`);
  }
});

test('role: auditors are not granted scope admin, users neither admin nor admin:read', async () => {
  const tokens = await tokensOf(app, both, auditor, { scope: 'openid admin admin:read' });
  equal(tokens.scope, 'openid admin:read');
  equal((await tokensOf(app, both, user, { scope: 'openid admin admin:read' })).scope, 'openid');
});

test('auditor: changes nothing at any address and reads no mails', async () => {
  const bearer = await tokenOf(auditor, 'openid admin:read');
  const document = membersOf((await as(bearer, 'GET', '/openapi.json')).body);
  let tried = 0;
  for (const [path, methods] of Object.entries(membersOf(document.paths))) {
    for (const method of Object.keys(membersOf(methods)).map((name) => name.toUpperCase())) {
      const answer = await as(
        bearer,
        method,
        path.replaceAll(/\{\w+\}/g, user.id),
        method === 'GET' || method === 'DELETE' ? undefined : {},
      );
      const isRefused = method !== 'GET' || path.startsWith('/mails');
      ok(isRefused === (answer.status === 403), `${method} ${path}: ${answer.status}`);
      tried += 1;
    }
  }
  ok(tried > 40);
});

test('role: a change is effective at the next call, also when made in the store', async () => {
  const other = await app.createUser('otto', { role: 'auditor' });
  const token = await tokenOf(other, 'openid admin:read');
  deepEqual(await accessOf(token), [200, 403]);
  const collection = app.store.collection(accounts);
  const stored = await collection.find(other.id);
  ok(stored);
  await collection.replace(other.id, stored.version, { ...stored.value, role: 'user' });
  deepEqual(await accessOf(token), [403, 403]);
  const promoted = await collection.find(other.id);
  ok(promoted);
  await collection.replace(other.id, promoted.version, { ...promoted.value, role: 'admin' });
  deepEqual(await accessOf(token), [200, 403], 'a promotion does not widen a token');
  const tokens = await tokensOf(app, both, other, { scope: 'openid admin' });
  equal((await app.admin('PATCH', `/users/${other.id}`, { role: 'auditor' })).status, 200);
  deepEqual(await accessOf(tokens.access_token), [401, 401]);
  equal((await refresh(app, both, tokens.refresh_token)).body.error, 'invalid_grant');
});

test('scope admin:read: reads only; a client without it is not granted it', async () => {
  const machine = { grant_types: ['client_credentials'], redirect_uris: [] };
  const reader = await app.register({ ...machine, scope: 'admin:read' });
  const own = await requestTokensOf(app, reader, { grant_type: 'client_credentials', scope: 'admin:read' });
  deepEqual(await accessOf(own.access_token), [200, 403]);
  const plain = await app.register();
  equal((await tokensOf(app, plain, admin, { scope: 'openid admin:read' })).scope, 'openid');
});

test('self-registration: admin:read is left out, and is not granted later (R124)', async () => {
  const made = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const answer = await call(app, 'POST', '/oauth2/register', {
    headers: { authorization: `Bearer ${made.body.data.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], scope: 'openid admin:read' }),
  });
  equal(answer.status, 201);
  const { client_id: id, client_secret: secret, scope } = JSON.parse(answer.text);
  equal(scope, 'openid');
  equal((await tokensOf(app, { id, secret }, admin, { scope: 'openid admin:read' })).scope, 'openid');
});

test('password grant: never grants access to the admin API', async () => {
  const old = await app.register({ grant_types: ['password'], scope: 'openid admin admin:read' });
  const ask = (who: typeof user) =>
    requestTokensOf(app, old, {
      grant_type: 'password',
      username: who.username,
      password: 'correct horse battery staple',
      scope: 'openid admin admin:read',
    });
  equal((await ask(auditor)).scope, 'openid');
  equal((await ask(user)).scope, 'openid');
});

test('attack: read-only access triggers no change, by any route', async () => {
  const done: string[] = [];
  const perform = createPerform(() => async () => void done.push('written down'));
  const route = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', needs?: 'admin') =>
    defineRoute({
      method,
      // One that the table of all acts has.
      path: method === 'DELETE' ? '/sessions/{id}' : method === 'PATCH' ? '/groups/{id}' : '/groups',
      tag: 'Things',
      summary: 'A thing',
      ...(needs && { needs }),
      success: { status: 200 },
      handle: async () => {
        done.push(method);
        return undefined;
      },
    });
  const ask = (asked: ReturnType<typeof route>, access: 'all' | 'read') =>
    perform(asked, {
      actor: { kind: 'user', id: 'x', access },
      params: {},
      query: {},
      body: {},
      ifVersion: undefined,
    });
  for (const asked of [route('POST'), route('PATCH'), route('DELETE'), route('GET', 'admin')]) {
    await rejects(ask(asked, 'read'), { code: 'auth.insufficient_scope' });
  }
  deepEqual(done, []);
  await ask(route('GET'), 'read');
  await ask(route('POST'), 'all');
  deepEqual(done, ['GET', 'POST', 'written down']);
});
