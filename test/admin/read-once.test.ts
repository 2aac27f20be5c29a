// Writes of the admin API: the item is read once, and what is compared and recorded is the version that was written, also where
// another writer was first. Counted in the store, over HTTP.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { systemClock } from '../../src/clock.ts';
import { accounts, clients } from '../../src/store/collections.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { createGuardedStore } from '../support/guarded-store.ts';
import { dataOf, membersOf, send } from './answers.ts';

const READS = new Set(['find', 'findShared', 'findBy', 'query']);

let app: TestApp;
let read: string[] = [];
/** Called once, before the next replacement in that collection. */
let beforeReplace: { readonly collection: string; readonly act: () => Promise<unknown> } | undefined;

before(async () => {
  const store = createGuardedStore(createMemoryStore({ clock: systemClock }), async (collection, method) => {
    if (READS.has(method)) read.push(collection);
    if (method !== 'replace' || beforeReplace?.collection !== collection) return;
    const { act } = beforeReplace;
    beforeReplace = undefined;
    await act();
  });
  app = await startApp({ shared: store });
  await app.createUser('root', { role: 'admin' });
});
after(() => app.stop());
beforeEach(() => {
  read = [];
  beforeReplace = undefined;
});

/** What the newest events say of a difference. */
async function differences(event: string, count: number) {
  const { items = [] } = (await app.admin('GET', `/audit?event=${event}&limit=${count}`)).body.data;
  return items.map((item) => {
    const details = membersOf(item.details);
    return { before: details.before, after: details.after };
  });
}

/** @returns how often that collection was read in a request, and what else was */
async function readsOf(collection: string, act: () => Promise<{ readonly status: number }>) {
  read = [];
  const { status } = await act();
  ok(status < 300, String(status));
  return { own: read.filter((name) => name === collection).length, all: read.length };
}

test('PATCH and acts of a user read it once, and nothing else', async () => {
  const { id } = await app.createUser('alice', { email: 'alice@example.com' });
  const patch = (body: object) => () => app.admin('PATCH', `/users/${id}`, body);
  for (const body of [
    { nickname: 'Al' },
    { is_email_verified: true },
    { other_emails: [] },
    { locale: null },
    { password: `${PASSWORD} 2` },
  ])
    equal((await readsOf('accounts', patch(body))).own, 1, JSON.stringify(body));
  deepEqual(await readsOf('accounts', patch({ family_name: 'Liddell' })), { own: 1, all: 1 });
  // What is shown and cannot be changed is compared with what is shown now.
  deepEqual(await readsOf('accounts', patch({ family_name: 'L', groups: [] })), { own: 2, all: 2 });
  for (const act of ['unlock', 'reactivate'])
    equal((await readsOf('accounts', () => app.admin('POST', `/users/${id}/${act}`))).own, 1, act);
});

test('PATCH and PUT of an application, and a new secret, read it once, and nothing else', async () => {
  const { id } = await app.register({ client_name: 'Notes' });
  const change = (method: 'PATCH' | 'PUT', body: object) => () => app.admin(method, `/clients/${id}`, body);
  const once = { own: 1, all: 1 };
  deepEqual(await readsOf('clients', change('PATCH', { client_name: 'Memos' })), once);
  deepEqual(await readsOf('clients', change('PATCH', { is_active: true, skip_consent: true })), once);
  const whole = { client_name: 'Memos', redirect_uris: ['https://app.example/callback'] };
  deepEqual(await readsOf('clients', change('PUT', whole)), once);
  const rotate = () => app.admin('POST', `/clients/${id}/rotate-secret`, {});
  deepEqual(await readsOf('clients', rotate), once);
});

test('race: a user changed between read and write; both changes stay, each with its own event', async () => {
  const { id } = await app.createUser('bob', { email: 'bob@example.com' });
  beforeReplace = {
    collection: accounts.name,
    act: () => app.admin('PATCH', `/users/${id}`, { role: 'auditor', email: 'robert@example.com' }),
  };
  const changed = await app.admin('PATCH', `/users/${id}`, { is_email_verified: true, nickname: 'Bobby' });
  equal(changed.status, 200);
  const { role, email, nickname, is_email_verified: isVerified } = changed.body.data;
  deepEqual([role, email, nickname, isVerified], ['auditor', 'robert@example.com', 'Bobby', true]);
  deepEqual(await differences('user.updated', 2), [
    { before: { is_email_verified: false }, after: { is_email_verified: true } },
    {
      before: { email: 'bob@example.com', role: 'user' },
      after: { email: 'robert@example.com', role: 'auditor' },
    },
  ]);
});

test('race: what became invalid between read and write is refused, and nothing is written', async () => {
  const { id } = await app.createUser('carol', { email: 'carol@example.com' });
  beforeReplace = {
    collection: accounts.name,
    act: () => app.admin('PATCH', `/users/${id}`, { email: null }),
  };
  const refused = await app.admin('PATCH', `/users/${id}`, { is_email_verified: true });
  equal(refused.status, 400);
  equal((await app.admin('GET', `/users/${id}`)).body.data.is_email_verified, false);
  const events = (await app.admin('GET', `/audit?event=user.updated&target_id=${id}`)).body.data.items;
  equal(events?.length, 1);
});

test('race: If-Match of a user or an application that was changed between read and write', async () => {
  const { id } = await app.createUser('dave');
  const { id: clientId } = await app.register();
  for (const [collection, path, other, own] of [
    [accounts.name, `/users/${id}`, { nickname: 'Da' }, { nickname: 'Ve' }],
    [clients.name, `/clients/${clientId}`, { client_name: 'Other' }, { client_name: 'Own' }],
  ] as const) {
    const at = `${app.url}/admin/api${path}`;
    const bearer = ADMIN_TOKEN;
    const etag = (await send(at, 'GET', undefined, { bearer })).headers.get('etag') ?? '';
    beforeReplace = { collection, act: () => app.admin('PATCH', path, other) };
    const answer = await send(at, 'PATCH', own, { bearer, headers: { 'if-match': etag } });
    equal(answer.status, 412, path);
    const shown = dataOf(await send(at, 'GET', undefined, { bearer }));
    deepEqual({ ...shown, ...other }, shown);
  }
});

test('race: an application changed between read and write; both changes stay, told apart', async () => {
  const { id } = await app.register({ client_name: 'First' });
  beforeReplace = {
    collection: clients.name,
    act: () => app.admin('PATCH', `/clients/${id}`, { skip_consent: false, client_name: 'Second' }),
  };
  const changed = await app.admin('PATCH', `/clients/${id}`, { logout_needs_auth: true });
  equal(changed.status, 200);
  equal(changed.body.data.client_name, 'Second');
  equal(changed.body.data.skip_consent, false);
  deepEqual(await differences('client.updated', 1), [
    { before: { logout_needs_auth: false }, after: { logout_needs_auth: true } },
  ]);
});

test('race: two administrators demote each other at once; one of them stays', async () => {
  const users = (await app.admin('GET', '/users?role=admin&limit=100')).body.data.items ?? [];
  for (const { id, username } of users)
    if (username !== 'root') await app.admin('PATCH', `/users/${id}`, { role: 'user' });
  const root = String(users.find(({ username }) => username === 'root')?.id);
  const { id: other } = await app.createUser('second', { role: 'admin' });
  const demote = (id: string) => app.admin('PATCH', `/users/${id}`, { role: 'user' });
  const statuses: number[] = [];
  beforeReplace = { collection: accounts.name, act: async () => statuses.push((await demote(other)).status) };
  statuses.push((await demote(root)).status);
  const left = (await app.admin('GET', '/users?role=admin&limit=100')).body.data.items ?? [];
  equal(left.length, 1);
  deepEqual(statuses.sort(), [200, 409]);
});
