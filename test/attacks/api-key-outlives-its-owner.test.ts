// Attack: API keys that outlive their owner (decision 0002). A key is worth no more than its owner is now,
// whatever created it, and only a freshly authenticated administrator creates one without an owner.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { apiKeys } from '../../src/store/administration.ts';
import { bearer, call, introspect, tokensOf } from '../flows/support.ts';
import { Agent, hiddenFields, requestTokens } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ scope: 'openid admin' });
const stored = app.store.collection(apiKeys);

const send = (token: string, method: string, path: string, body?: unknown) =>
  call(app, method, `/admin/api${path}`, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

interface Key {
  readonly id: string;
  readonly value: string;
  readonly owner: readonly [unknown, unknown];
}

async function create(token: string, members: Record<string, unknown> = {}): Promise<Key> {
  const answer = await send(token, 'POST', '/api-keys', { name: 'k', scopes: ['admin'], ...members });
  equal(answer.status, 201, answer.text);
  const { data } = JSON.parse(answer.text);
  return { id: data.id, value: data.api_key, owner: [data.owner_kind, data.owner_id] };
}

/** What a key opens: reading, changing, introspection. */
const opens = async ({ value }: Key): Promise<number[]> => [
  (await send(value, 'GET', '/users')).status,
  (await send(value, 'POST', '/groups', { name: `g${Math.random().toString(36).slice(2)}` })).status,
  (await introspect(app, 'x', bearer(value))).status,
];
const ALL = [200, 201, 200];
const READS = [200, 403, 200];
const FORBIDDEN = [403, 403, 403];
const DEAD = [401, 401, 401];

let count = 0;
/** A new administrator with a token of theirs. */
async function administrator(): Promise<{ id: string; username: string; token: string }> {
  count += 1;
  const user = await app.createUser(`admin-${count}`, { role: 'admin' });
  const { access_token: token } = await tokensOf(app, client, user, { scope: 'openid admin' });
  return { ...user, token };
}
await app.createUser('the-last', { role: 'admin' });

test('API key: demotion, deactivation or deletion of its owner counts at the next request', async () => {
  const boss = await administrator();
  const key = await create(boss.token);
  const reader = await create(boss.token, { scopes: ['admin:read'] });
  deepEqual(key.owner, ['user', boss.id]);
  const change = async (members: Record<string, unknown>) =>
    equal((await app.admin('PATCH', `/users/${boss.id}`, members)).status, 200);
  deepEqual([await opens(key), await opens(reader)], [ALL, READS]);
  await change({ role: 'auditor' });
  deepEqual([await opens(key), await opens(reader)], [READS, READS]);
  await change({ role: 'user' });
  deepEqual([await opens(key), await opens(reader)], [FORBIDDEN, FORBIDDEN]);
  await change({ role: 'admin' });
  deepEqual(await opens(key), ALL);
  await change({ is_active: false });
  deepEqual([await opens(key), await opens(reader)], [DEAD, DEAD]);
  await change({ is_active: true });
  equal((await app.admin('DELETE', `/users/${boss.id}`)).status, 204);
  deepEqual(await opens(key), DEAD);
  deepEqual([await stored.find(key.id), await stored.find(reader.id)], [undefined, undefined]);
});

test('API key: one created by a key has the same owner and ends with that owner', async () => {
  const boss = await administrator();
  const first = await create(boss.token);
  const second = await create(first.value);
  const third = await create(second.value);
  deepEqual(third.owner, ['user', boss.id]);
  equal((await send(first.value, 'DELETE', `/api-keys/${second.id}`)).status, 204);
  equal((await app.admin('PATCH', `/users/${boss.id}`, { role: 'user' })).status, 200);
  deepEqual(await opens(third), FORBIDDEN);
});

test('installation API key: created by a fresh administrator sign-in only', async () => {
  const boss = await administrator();
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'admin',
  });
  const own = await requestTokens(app, machine, { grant_type: 'client_credentials', scope: 'admin' });
  const wanted = { owner: 'installation' };
  const key = await create(boss.token, wanted);
  deepEqual(key.owner, ['installation', null]);
  const refusals: readonly [string, string][] = [
    ['an application', own.body.access_token],
    ['a key of somebody', (await create(boss.token)).value],
    ['a key of the installation', key.value],
  ];
  for (const [who, token] of refusals) {
    const refused = await send(token, 'POST', '/api-keys', { name: 'k', ...wanted });
    deepEqual([refused.status, JSON.parse(refused.text).error.reason], [403, 'auth.stale'], who);
  }
  equal((await send(key.value, 'POST', '/api-keys', { name: 'k' })).status, 403, 'nor without saying so');
  app.advance(301_000);
  const stale = await send(boss.token, 'POST', '/api-keys', { name: 'k', ...wanted });
  deepEqual([stale.status, JSON.parse(stale.text).error.reason], [403, 'auth.stale']);
  equal((await app.admin('DELETE', `/users/${boss.id}`)).status, 204);
  deepEqual(await opens(key), ALL, 'it has no owner to end with');
});

test('application API key: grants no more than the application currently has', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'admin admin:read',
  });
  const { body } = await requestTokens(app, machine, { grant_type: 'client_credentials', scope: 'admin' });
  const key = await create(body.access_token);
  deepEqual([key.owner, await opens(key)], [['client', machine.id], ALL]);
  equal((await app.admin('PATCH', `/clients/${machine.id}`, { scope: 'admin:read' })).status, 200);
  deepEqual(await opens(key), READS);
  equal((await app.admin('PATCH', `/clients/${machine.id}`, { is_active: false })).status, 200);
  deepEqual(await opens(key), DEAD);
});

test('API key of an earlier version: owned by its creator, if unknown by the installation', async () => {
  const boss = await administrator();
  const [first, second, third] = [
    await create(boss.token),
    await create(boss.token),
    await create(boss.token),
  ];
  const asBefore = async ({ id }: Key, createdBy: string): Promise<void> => {
    const found = await stored.find(id);
    ok(found !== undefined);
    const { owner: _, ...value } = found.value;
    await stored.replace(id, found.version, { ...value, createdBy });
  };
  await asBefore(first, `user:${boss.id}`);
  await asBefore(second, `api_key:${first.id}`);
  await asBefore(third, 'bootstrap:ADMIN_TOKEN');
  const shown = async ({ id }: Key): Promise<unknown[]> => {
    const { data } = (await app.admin('GET', `/api-keys/${id}`)).body;
    return [data.owner_kind, data.owner_id];
  };
  deepEqual(
    [await shown(first), await shown(second), await shown(third)],
    [
      ['user', boss.id],
      ['user', boss.id],
      ['installation', null],
    ],
  );
  deepEqual([await opens(second), await opens(third)], [ALL, ALL]);
  // What it follows from may go: it was noted when the key was used.
  equal((await app.admin('DELETE', `/api-keys/${first.id}`)).status, 204);
  equal((await app.admin('PATCH', `/users/${boss.id}`, { role: 'user' })).status, 200);
  deepEqual([await opens(second), await opens(third)], [FORBIDDEN, ALL]);
  equal((await app.admin('DELETE', `/users/${boss.id}`)).status, 204);
  equal(await stored.find(second.id), undefined);
});

test('API key in the Admin UI: the form asks for the owner, and the pages show it', async () => {
  const boss = await administrator();
  const agent = new Agent(app);
  const login = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(login, { username: boss.username, password: PASSWORD })).status, 200);
  for (const [owner, words] of [
    ['self', boss.username],
    ['installation', 'The installation'],
  ] as const) {
    const form = await agent.get('/admin/api-keys/new');
    const fields = { name: `by ${owner}`, access: 'all', days: '3', owner };
    const posted = await agent.post('/admin/api-keys/new', { ...hiddenFields(form.body), ...fields });
    const made = await agent.follow(posted);
    equal(made.status, 200, made.body);
    match(made.body, owner === 'self' ? /Owner<\/dt><dd>You/ : /Owner<\/dt><dd>The installation/);
    const listed = await agent.get(`/admin/api-keys?search=by+${owner}`);
    const id = /api-keys\/([\w-]{20,})"/.exec(listed.body)?.[1] ?? '';
    const page = await agent.get(`/admin/api-keys/${id}`);
    ok(/Owner<\/dt><dd>(?<who>.*?)<\/dd>/s.exec(page.body)?.groups?.who?.includes(words), page.body);
  }
});

test('API key: one created by a key ends no later than that key', async () => {
  const boss = await administrator();
  const short = await create(boss.token, { expires_in_seconds: 3600 });
  const refused = await send(short.value, 'POST', '/api-keys', { name: 'k', expires_in_seconds: 31_536_000 });
  equal(refused.status, 400, refused.text);
  match(refused.text, /"expires_in_seconds":"Must be at most 3[56]\d\d/);
  const second = await create(short.value);
  const [first, later] = [await stored.find(short.id), await stored.find(second.id)];
  ok((later?.expiresAt ?? 0) <= (first?.expiresAt ?? 0));
});
