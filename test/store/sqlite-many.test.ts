// Holds the SQLite store to the reference store where there are too many documents to sort them: filters that most meet,
// text that very many have, pages far behind. Chance makes the queries, the same ones each time.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { type AccountRecord, accounts } from '../../src/store/collections.ts';
import type { Collection, FieldFilter, Query, Store } from '../../src/store/port.ts';
import { createChance, fill, people } from '../support/crowd.ts';

const PEOPLE = 700;
/** As if it were very many. */
const sizes = { few: 20, slice: 90, many: 150 };
const QUERIES = process.env.LONG === '1' ? 5_000 : 150;
const NOW = Date.UTC(2026, 0, 31);
const DAY = 86_400_000;

const filters: readonly FieldFilter[] = [
  { field: 'is_deleting', op: 'eq', value: false },
  { field: 'is_active', op: 'eq', value: true },
  { field: 'is_active', op: 'eq', value: false },
  { field: 'is_email_verified', op: 'eq', value: true },
  { field: 'totp_verified', op: 'eq', value: false },
  { field: 'role', op: 'eq', value: 'user' },
  { field: 'role', op: 'eq', value: 'admin' },
  { field: 'groups', op: 'present' },
  { field: 'groups', op: 'absent' },
  { field: 'groups', op: 'contains', value: '/team-7/' },
  { field: 'groups', op: 'contains', value: 'EAM-' },
  { field: 'locked_until', op: 'absent' },
  { field: 'locked_until', op: 'gte', value: NOW },
  { field: 'last_login_at', op: 'gte', value: NOW - 300 * DAY },
  { field: 'last_login_at', op: 'lte', value: NOW - 30 * DAY },
  { field: 'created_at', op: 'gte', value: NOW - 700 * DAY },
  { field: 'username', op: 'gte', value: 'b' },
];
const texts = [
  'a',
  'an',
  'ann',
  'smith',
  'EXAMPLE',
  'example.com',
  'ä',
  '.',
  'nobody.is.called.that',
  '"',
  '%',
  '\0',
];
const sorts = ['id', 'username', 'created_at', 'last_login_at', 'role', 'groups', 'totp_verified'];

describe('SQLite with many documents', () => {
  let folder: string;
  let embedded: Store;
  let reference: Collection<AccountRecord>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-many-'));
    const file = join(folder, 'latchkey.db');
    const crowd = () => people(PEOPLE, { now: NOW, passwordHash: 'x' });
    await fill(file, accounts, crowd());
    embedded = createSqliteStore({ file, clock: () => NOW, definitions: allCollections, sizes });
    const memory = createMemoryStore({ clock: () => NOW }).collection(accounts);
    for (const { id, value } of crowd()) await memory.insert(id, value);
    reference = memory;
    // Some that have expired, are about to, and are gone.
    for (const store of [embedded.collection(accounts), reference]) {
      const { items } = await store.query({ sort: 'id', order: 'asc', limit: 90 });
      for (const [at, { id, value }] of items.entries()) {
        if (at % 3 === 0) await store.put(id, value, { expiresAt: NOW });
        if (at % 3 === 1)
          await store.put(id, { ...value, usernameKey: `zz${at}ännchen` }, { expiresAt: NOW + 1 });
        if (at % 3 === 2) await store.remove(id);
      }
    }
  });
  after(async () => {
    await embedded.close();
    await rm(folder, { recursive: true });
  });

  test('random queries: both stores return the same pages', async () => {
    const chance = createChance(5);
    const one = <T>(of: readonly T[]): T | undefined => of[Math.floor(chance() * of.length)];
    const store = embedded.collection(accounts);
    for (let n = 0; n < QUERIES; n += 1) {
      const sort = one(sorts) ?? 'id';
      const text = chance() < 0.4 ? one(texts) : undefined;
      const searched = chance() < 0.8 ? ['username', 'email'] : ['groups'];
      const query: Query = {
        filters: [one(filters), one(filters), one(filters)]
          .slice(0, Math.floor(chance() * 4))
          .filter((filter) => filter !== undefined),
        ...(text !== undefined && { search: { text, fields: searched } }),
        sort,
        order: chance() < 0.5 ? 'asc' : 'desc',
        limit: 1 + Math.floor(chance() * 60),
        ...(chance() < 0.2 && { offset: Math.floor(chance() * 500) }),
      };
      const what = JSON.stringify(query);
      const first = await store.query(query);
      assert.deepEqual(summary(first), summary(await reference.query(query)), what);
      const last = first.items.at(-1);
      if (last === undefined) continue;
      const sortValue = sort === 'id' ? undefined : accounts.fields[sort]?.of(last.value);
      const next: Query = { ...query, offset: undefined, after: { id: last.id, sortValue } };
      assert.deepEqual(
        summary(await store.query(next)),
        summary(await reference.query(next)),
        `after: ${what}`,
      );
    }
  });

  test('search: changed text and removed documents are not found, new ones are', async () => {
    const store = embedded.collection(accounts);
    const found = async (text: string) => {
      const search = { text, fields: ['username', 'email'] };
      return (await store.query({ search, sort: 'id', order: 'asc', limit: 10 })).items.map(({ id }) => id);
    };
    const { items } = await store.query({ sort: 'username', order: 'desc', limit: 1 });
    const [some] = items;
    assert.ok(some);
    const before = some.value.usernameKey;
    const { version } = await store.put(some.id, { ...some.value, usernameKey: 'Übergröße"42' });
    assert.deepEqual(await found('BERGRÖSSE'), []);
    assert.deepEqual(await found('BERGRÖßE"4'), [some.id]);
    assert.deepEqual(await found(before), []);
    await store.replace(some.id, version, { ...some.value, usernameKey: 'another' });
    assert.deepEqual(await found('another'), [some.id]);
    await store.remove(some.id);
    assert.deepEqual(await found('another'), []);
  });
});

const summary = ({ items, total }: { items: readonly { id: string; version: number }[]; total: number }) => ({
  total,
  ids: items.map(({ id }) => id),
});
