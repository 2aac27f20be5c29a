// Groups over HTTP (decision 0010): records, members, filters, and complete removal.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { groups as groupRecords } from '../../src/store/administration.ts';
import { accounts as accountRecords } from '../../src/store/collections.ts';
import { dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const userOf = async ({ accounts }: World, username: string): Promise<string> =>
  (await accounts.create({ username, password: goodPassword })).id;

const namesIn = async ({ api }: World, path: string): Promise<unknown[]> =>
  itemsOf(await api('GET', path)).map(({ username, name }) => username ?? name);

withEachServer('group: created, read, changed, listed, deleted', async (world) => {
  const { api, now } = world;
  const created = await api('POST', '/groups', { name: 'staff', display_name: 'Staff', description: null });
  equal(created.status, 201);
  equal(created.headers.get('location'), 'https://id.example.com/admin/api/groups/staff');
  const at = new Date(now()).toISOString();
  deepEqual(dataOf(created), {
    id: 'staff',
    name: 'staff',
    display_name: 'Staff',
    description: null,
    created_at: at,
    updated_at: at,
  });
  const taken = await api('POST', '/groups', { name: 'staff' });
  deepEqual([taken.status, errorOf(taken).reason, wrongFields(taken)], [409, 'group.name_taken', ['name']]);
  await api('POST', '/groups', { name: 'board' });
  deepEqual(await namesIn(world, '/groups'), ['board', 'staff']);
  deepEqual(await namesIn(world, '/groups?search=STA'), ['staff']);
  deepEqual(await namesIn(world, '/groups?sort=created_at&order=desc&limit=1'), ['staff']);

  const etag = created.headers.get('etag') ?? '';
  const changed = await api('PATCH', '/groups/staff', { description: 'All of us' }, headersOf(etag));
  deepEqual([dataOf(changed).description, dataOf(changed).display_name], ['All of us', 'Staff']);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : { description: 'x' };
    const stale = await api(method, '/groups/staff', body, headersOf(etag));
    deepEqual([stale.status, errorOf(stale).reason], [412, 'group.changed'], method);
  }
  const both = await api('PATCH', '/groups/staff', { description: 'x'.repeat(5_000) }, headersOf(etag));
  deepEqual([both.status, wrongFields(both)], [400, ['description']], 'a wrong field is told first');
  equal((await api('DELETE', '/groups/staff')).status, 204);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {};
    const gone = await api(method, '/groups/staff', body);
    deepEqual([gone.status, errorOf(gone).reason], [404, 'group.not_found'], method);
  }
  equal((await api('POST', '/groups', { name: 'staff' })).status, 201, 'the name is free again');
});

const headersOf = (etag: string) => ({ headers: { 'if-match': etag } });

withServer('group: validation errors are named', async ({ api }) => {
  await api('POST', '/groups', { name: 'staff' });
  const cases: readonly (readonly [string, string, unknown, readonly string[]])[] = [
    ['POST', '/groups', {}, ['name']],
    ...['', 'Staff', 'a b', 'a/b', '-a', '.', '..', 'x'.repeat(65), 'ä', 'a\n', '$where', '%', 1, null].map(
      (name) => ['POST', '/groups', { name }, ['name']] as const,
    ),
    ['POST', '/groups', { name: 'ok', members: [] }, ['members']],
    ['POST', '/groups', { name: 'ok', display_name: 'x'.repeat(201) }, ['display_name']],
    ['PATCH', '/groups/staff', { name: 'other' }, ['name']],
    ['PUT', '/groups/staff', { description: 7, removingAt: 1 }, ['description', 'removingAt']],
    ['POST', '/groups/staff/members', {}, ['user_id']],
    ['POST', '/groups/staff/members', { user_id: { $ne: 1 } }, ['user_id']],
  ];
  for (const [method, path, body, fields] of cases) {
    const answer = await api(method, path, body);
    deepEqual([answer.status, wrongFields(answer)], [400, fields], JSON.stringify([path, body]));
  }
  equal((await api('DELETE', '/groups')).status, 405);
  equal((await api('PUT', '/groups/staff/members', {})).status, 405);
  for (const group of ['/a/', '%25', 'a b', "x' OR 1=1", 'Staff', '.*', 'x'.repeat(65)]) {
    const answer = await api('GET', `/users?group=${encodeURIComponent(group)}`);
    deepEqual([answer.status, wrongFields(answer)], [400, ['group']], group);
    equal((await api('GET', `/groups/${encodeURIComponent(group)}`)).status, 404, group);
  }
});

withEachServer('group members: added once, listed, found by filter, removed', async (world) => {
  const { api } = world;
  const [alice, bob] = [await userOf(world, 'alice'), await userOf(world, 'bob')];
  for (const name of ['staff', 'staff-only', 'board']) await api('POST', '/groups', { name });
  const add = (group: string, id: string) => api('POST', `/groups/${group}/members`, { user_id: id });
  const added = await add('staff', alice);
  deepEqual([added.status, dataOf(added).groups], [200, ['staff']]);
  await Promise.all([add('staff', alice), add('staff', bob), add('board', alice), add('staff-only', bob)]);
  deepEqual(dataOf(await api('GET', `/users/${alice}`)).groups, ['board', 'staff']);
  deepEqual(await namesIn(world, '/groups/staff/members'), ['alice', 'bob']);
  deepEqual(await namesIn(world, '/groups/staff/members?search=BO'), ['bob']);
  deepEqual(await namesIn(world, '/users?group=staff&sort=username&order=desc'), ['bob', 'alice']);
  deepEqual(await namesIn(world, '/users?group=staff&role=admin'), []);
  deepEqual(await namesIn(world, '/users?group=nobody'), []);

  equal((await api('DELETE', `/groups/staff/members/${alice}`)).status, 204);
  const again = await api('DELETE', `/groups/staff/members/${alice}`);
  deepEqual([again.status, errorOf(again).reason], [404, 'group.not_member']);
  deepEqual(dataOf(await api('GET', `/users/${alice}`)).groups, ['board']);
  const unknown: readonly (readonly [string, string, unknown, string])[] = [
    ['POST', '/groups/staff/members', { user_id: 'nobody' }, 'account.not_found'],
    ['POST', '/groups/none/members', { user_id: alice }, 'group.not_found'],
    ['DELETE', '/groups/staff/members/nobody', undefined, 'account.not_found'],
    ['GET', '/groups/none/members', undefined, 'group.not_found'],
  ];
  for (const [method, path, body, reason] of unknown) {
    const answer = await api(method, path, body);
    deepEqual([answer.status, errorOf(answer).reason], [404, reason], `${method} ${path}`);
  }
  const { items } = dataOf(await api('GET', '/audit?event=group.member_added&order=asc'));
  ok(Array.isArray(items));
  deepEqual(
    [items[0].target_kind, items[0].target_id, items[0].details.group],
    ['user', alice, 'staff'],
    JSON.stringify(items[0]),
  );
});

withEachServer('group: deleting a group or user leaves no dangling membership', async (world) => {
  const { api, store } = world;
  const ids = await Promise.all(['a-1', 'b-2', 'c-3'].map((name) => userOf(world, name)));
  await api('POST', '/groups', { name: 'staff' });
  await api('POST', '/groups', { name: 'board' });
  for (const id of ids) await api('POST', '/groups/staff/members', { user_id: id });
  await api('POST', '/groups/board/members', { user_id: ids[0] });
  equal((await api('DELETE', '/groups/staff')).status, 204);
  ok(!JSON.stringify(await dump(store.collection(accountRecords))).includes('staff'));
  deepEqual(dataOf(await api('GET', `/users/${ids[0]}`)).groups, ['board']);
  equal((await api('DELETE', `/users/${ids[0]}`)).status, 204);
  deepEqual(await namesIn(world, '/groups/board/members'), []);
  await api('POST', '/groups', { name: 'staff' });
  deepEqual(await namesIn(world, '/groups/staff/members'), [], 'a new group of the name starts empty');
  ok(!JSON.stringify(await dump(store.collection(groupRecords))).includes('removingAt'));
});

const dump = (collection: { query(query: object): Promise<unknown> }): Promise<unknown> =>
  Reflect.apply(collection.query, collection, [{ sort: 'id', order: 'asc', limit: 1000 }]);

withServer('group deletion: completed after a crash, and accepts no members meanwhile', async (world) => {
  const { api, groups, store, now } = world;
  const [alice, bob] = [await userOf(world, 'alice'), await userOf(world, 'bob')];
  await api('POST', '/groups', { name: 'staff' });
  await api('POST', '/groups/staff/members', { user_id: alice });
  const collection = store.collection(groupRecords);
  const stored = await collection.find('staff');
  ok(stored);
  await collection.replace('staff', stored.version, { ...stored.value, removingAt: now() });
  equal((await api('GET', '/groups/staff')).status, 404);
  deepEqual(await namesIn(world, '/groups'), []);
  equal((await api('POST', '/groups/staff/members', { user_id: bob })).status, 404);
  equal((await api('POST', '/groups', { name: 'staff' })).status, 409, 'not before it is empty');
  equal(await groups.finishRemovals(), 1);
  deepEqual(dataOf(await api('GET', `/users/${alice}`)).groups, []);
  equal((await api('POST', '/groups', { name: 'staff' })).status, 201);
});

withServer('group deletion: a concurrently added user is not left in the group', async (world) => {
  const { api, store } = world;
  const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => userOf(world, `user-${index}`)));
  for (let round = 0; round < 5; round += 1) {
    await api('POST', '/groups', { name: 'staff' });
    await Promise.all([
      ...ids.map((id) => api('POST', '/groups/staff/members', { user_id: id })),
      api('DELETE', '/groups/staff'),
    ]);
    ok(!JSON.stringify(await dump(store.collection(accountRecords))).includes('staff'), `round ${round}`);
  }
});

withServer('group: a user belongs to at most 200', async (world) => {
  const { api } = world;
  const alice = await userOf(world, 'alice');
  for (let index = 0; index <= 200; index += 1) {
    await api('POST', '/groups', { name: `g${index}` });
    const answer = await api('POST', `/groups/g${index}/members`, { user_id: alice });
    equal(answer.status, index < 200 ? 200 : 409);
  }
});

withEachServer(
  'group: one that an application is restricted to exists and cannot be deleted',
  async (world) => {
    const { api } = world;
    const client = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
    for (const name of ['staff', 'staff-x']) await api('POST', '/groups', { name });
    const unknown = await api('POST', '/clients', { ...client, allowed_groups: ['staff', 'none'] });
    deepEqual([unknown.status, wrongFields(unknown)], [400, ['allowed_groups']]);
    for (const wrong of ['staff', [1], [null], {}, ['x'.repeat(65)], Array(101).fill('staff')]) {
      const answer = await api('POST', '/clients', { ...client, allowed_groups: wrong });
      deepEqual([answer.status, wrongFields(answer)], [400, ['allowed_groups']], JSON.stringify(wrong));
    }
    const created = await api('POST', '/clients', { ...client, allowed_groups: ['staff', 'staff'] });
    const path = `/clients/${dataOf(created).client_id}`;
    deepEqual(dataOf(created).allowed_groups, ['staff']);
    const restrictedTo = async (group: string) =>
      itemsOf(await api('GET', `/clients?allowed_group=${group}`)).map(({ client_id }) => client_id);
    deepEqual(await restrictedTo('staff'), [dataOf(created).client_id]);
    deepEqual(await restrictedTo('sta'), []);
    deepEqual(wrongFields(await api('GET', '/clients?allowed_group=a/b')), ['allowed_group']);
    const refused = await api('DELETE', '/groups/staff');
    deepEqual([refused.status, errorOf(refused).reason], [409, 'group.in_use']);
    ok(String(errorOf(refused).message).includes(String(dataOf(created).client_id)));
    equal((await api('DELETE', '/groups/staff-x')).status, 204);
    deepEqual(dataOf(await api('PATCH', path, { client_name: 'Other' })).allowed_groups, ['staff']);
    deepEqual(dataOf(await api('PATCH', path, { allowed_groups: [] })).allowed_groups, []);
    deepEqual(dataOf(await api('PATCH', path, { allowed_groups: null })).allowed_groups, null);
    equal((await api('DELETE', '/groups/staff')).status, 204);
  },
);
