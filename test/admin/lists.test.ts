// Lists (decision 0010): paging, sorting, search, filters, and tampering with them.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createCursors } from '../../src/admin/api/cursor.ts';
import { accounts as definition } from '../../src/store/collections.ts';
import { type Answer, dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const names = (answer: Answer): unknown[] => itemsOf(answer).map(({ username }) => username);

async function createUsers({ accounts, advance }: World, usernames: readonly string[]): Promise<void> {
  for (const username of usernames) {
    await accounts.create({ username, password: goodPassword });
    advance(1000);
  }
}

const many = Array.from({ length: 23 }, (_, at) => `user-${String(at).padStart(2, '0')}`);

withEachServer(
  'list: cursor pages show every user once, in order, while others come and go',
  async (world) => {
    const { api, accounts } = world;
    await createUsers(world, many);
    const seen: unknown[] = [];
    let next: unknown = null;
    for (let page = 0; page < 10; page += 1) {
      const cursor = next === null ? '' : `&cursor=${encodeURIComponent(String(next))}`;
      const answer = await api('GET', `/users?limit=5&sort=username&order=asc${cursor}`);
      seen.push(...names(answer));
      equal(dataOf(answer).offset, page * 5);
      next = dataOf(answer).next;
      if (next === null) break;
      if (page === 1) {
        await accounts.create({ username: 'aaa-before', password: goodPassword });
        const removed = await accounts.findByLogin('user-03');
        await accounts.removeAccountAsAdmin(String(removed?.id));
      }
    }
    deepEqual(seen, many);
  },
);

withEachServer('list: offset pages, totals and order', async (world) => {
  await createUsers(world, many);
  const { api } = world;
  const page = await api('GET', '/users?limit=10&offset=20&sort=username&order=asc');
  deepEqual(names(page), many.slice(20));
  const { total, limit, offset, next } = dataOf(page);
  deepEqual([total, limit, offset, next], [23, 10, 20, null]);
  const newest = await api('GET', '/users?limit=2');
  deepEqual(names(newest), ['user-22', 'user-21']);
  equal(dataOf(await api('GET', '/users')).limit, 50);
  deepEqual(names(await api('GET', '/users?sort=username&order=desc&limit=1')), ['user-22']);
  const exact = await api('GET', '/users?limit=23');
  deepEqual([itemsOf(exact).length, dataOf(exact).next], [23, null]);
});

withEachServer('list: filters by role, flags, lock and time', async (world) => {
  const { api, accounts, store, now } = world;
  await createUsers(world, ['alice', 'bob', 'carol', 'dave']);
  const set = async (username: string, changes: object): Promise<void> => {
    const account = await accounts.findByLogin(username);
    await accounts.changeAccountAsAdmin(String(account?.id), changes);
  };
  await set('alice', { role: 'admin', totp_verified: true });
  await set('bob', { email: 'bob@example.com', is_email_verified: true });
  await set('carol', { is_active: false });
  const collection = store.collection(definition);
  const lock = async (username: string, lockedUntil: number): Promise<void> => {
    const account = await accounts.findByLogin(username);
    const stored = await collection.find(String(account?.id));
    ok(stored);
    await collection.replace(stored.id, stored.version, { ...stored.value, lockedUntil });
  };
  await lock('alice', now() - 1);
  await lock('bob', now());
  await lock('dave', now() + 1);
  const found = async (query: string): Promise<unknown[]> =>
    names(await api('GET', `/users?sort=username&order=asc&${query}`));
  deepEqual(await found('role=admin'), ['alice']);
  deepEqual(await found('role=user&is_active=true'), ['bob', 'dave']);
  deepEqual(await found('is_active=false'), ['carol']);
  deepEqual(await found('username=ALICE'), ['alice']);
  for (const part of ['ali', 'a%25', 'alice%20x', '.*']) deepEqual(await found(`username=${part}`), [], part);
  deepEqual(await found('email=BOB@Example.com'), ['bob']);
  for (const none of ['bob', 'bob@', '@example.com', '%25'])
    deepEqual(await found(`email=${none}`), [], none);
  deepEqual(await found('is_email_verified=true'), ['bob']);
  deepEqual(await found('totp_verified=true'), ['alice']);
  deepEqual(await found('is_locked=true'), ['dave']);
  deepEqual(await found('is_locked=false'), ['alice', 'bob', 'carol']);
  deepEqual(await found('is_locked=false&role=user&offset=1'), ['carol']);
  deepEqual(await found('created_at_from=2026-01-31T12:00:01Z&created_at_to=2026-01-31T13:00:02%2B01:00'), [
    'bob',
    'carol',
  ]);
  // The filter that the storage has no "or" for pages like any other.
  const first = await api('GET', '/users?is_locked=false&limit=2&sort=username&order=asc');
  deepEqual([names(first), dataOf(first).total], [['alice', 'bob'], 3]);
  deepEqual(await found(`is_locked=false&limit=2&cursor=${dataOf(first).next}`), ['carol']);
});

withEachServer('list: search is literal: % _ . * [ match only themselves', async (world) => {
  const { api, accounts } = world;
  await createUsers(world, ['abc', 'a_c', 'a.c', 'Émile']);
  await accounts.create({ username: 'per', password: goodPassword, email: '100%@example.com' });
  const found = async (text: string): Promise<unknown[]> =>
    names(await api('GET', `/users?sort=username&order=asc&search=${encodeURIComponent(text)}`));
  deepEqual(await found('_'), ['a_c']);
  deepEqual(await found('%'), ['per']);
  deepEqual(await found('.c'), ['a.c', 'per']);
  deepEqual(await found('.*'), []);
  deepEqual(await found('a.c'), ['a.c']);
  deepEqual(await found('[a-z]'), []);
  deepEqual(await found("' OR 1=1 --"), []);
  deepEqual(await found('\\'), []);
  deepEqual(await found('éMILE'), ['Émile']);
  deepEqual(await found('AB'), ['abc']);
  equal((await found('')).length, 5);
});

withServer('list: an invalid limit or query parameter is 400 and named', async ({ api }) => {
  const wrong: readonly (readonly [string, readonly string[]])[] = [
    ['limit=0', ['limit']],
    ['limit=-1', ['limit']],
    ['limit=1000000000', ['limit']],
    ['limit=1001', ['limit']],
    ['limit=1e3', ['limit']],
    ['limit=', ['limit']],
    ['limit=5&limit=6', ['limit']],
    ['limit=5.5&offset=-1', ['limit', 'offset']],
    ['offset=99999999999999999999', ['offset']],
    ['sort=password_hash', ['sort']],
    ['sort=passwordHash&order=sideways', ['order', 'sort']],
    ['sort=__proto__', ['sort']],
    ['sort=username;drop table accounts', ['sort']],
    ['is_active=1', ['is_active']],
    ['role=root', ['role']],
    ['colour=red&created_at_from=yesterday', ['colour', 'created_at_from']],
    ['created_at_to=2026-02-31T00:00:00Z', ['created_at_to']],
    [`search=${'x'.repeat(201)}`, ['search']],
    ['cursor=', ['cursor']],
    ['cursor=abc', ['cursor']],
    ['cursor=a.b.c', ['cursor']],
    ['role[$ne]=user', ['role[$ne]']],
    ['role[]=user', ['role[]']],
    ['search[$regex]=.*', ['search[$regex]']],
    ['$where=1', ['$where']],
    ['__proto__=1', ['__proto__']],
    ['constructor=1&prototype=2', ['constructor', 'prototype']],
    ['__proto__[is_active]=true', ['__proto__[is_active]']],
  ];
  for (const [query, fields] of wrong) {
    const answer = await api('GET', `/users?${query}`);
    deepEqual([answer.status, errorOf(answer).reason], [400, 'request.invalid'], query);
    deepEqual(wrongFields(answer), fields, query);
  }
  equal(Object.hasOwn(Object.prototype, 'is_active'), false);
});

withServer('attack: a forged, edited or foreign cursor is refused', async (world) => {
  const { api } = world;
  await createUsers(world, many.slice(0, 5));
  const cursor = String(dataOf(await api('GET', '/users?limit=2&sort=username')).next);
  const fits = `/users?limit=2&sort=username&cursor=${cursor}`;
  equal((await api('GET', fits)).status, 200);
  equal((await api('GET', fits.replace('limit=2', 'limit=100'))).status, 200);

  const [text = '', signature = ''] = cursor.split('.');
  const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
  ok(Array.isArray(content));
  const edited = Buffer.from(JSON.stringify(content.with(1, 'x'))).toString('base64url');
  const otherKey = createCursors({ key: 'another key' });
  const forged = [
    `${edited}.${signature}`,
    `${text}.`,
    text,
    `${text}.${signature.slice(0, -2)}`,
    `${text}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    otherKey.seal({ id: 'x', sortValue: 'x', offset: 0 }, ['users', 'username', 'desc', []]),
    Buffer.from('{"$gt":""}').toString('base64url'),
  ];
  for (const value of forged) {
    const answer = await api('GET', `/users?limit=2&sort=username&cursor=${encodeURIComponent(value)}`);
    deepEqual([answer.status, wrongFields(answer)], [400, ['cursor']], value);
  }
  for (const other of [
    '/users?sort=email',
    '/users?sort=username&order=asc',
    '/users?sort=username&role=user',
  ]) {
    deepEqual(wrongFields(await api('GET', `${other}&cursor=${cursor}`)), ['cursor'], other);
  }
  deepEqual(wrongFields(await api('GET', `/clients?cursor=${cursor}`)), ['cursor']);
  deepEqual(wrongFields(await api('GET', `${fits}&offset=2`)), ['offset']);
});
