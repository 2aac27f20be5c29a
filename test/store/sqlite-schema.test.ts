// A database file when definitions gain or change indexes and fields between versions.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import {
  AlreadyExists,
  type CollectionDefinition,
  type Store,
  StoreUnavailable,
} from '../../src/store/port.ts';
import { small, type Thing } from './schema-fixture.ts';
import { temporaryDirectory } from './sqlite-support.ts';

const grown: CollectionDefinition<Thing> = {
  ...small,
  indexes: { ...small.indexes, name: { unique: true, key: (thing) => thing.name } },
  fields: { ...small.fields, is_first: { type: 'boolean', of: (thing) => thing.rank === 0 } },
};

describe('sqlite: schema', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let file: string;
  const stores: Store[] = [];
  beforeEach(async () => {
    directory = await temporaryDirectory();
    file = `${directory.path}/schema.db`;
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await directory.remove();
  });
  const open = (clock = Date.now): Store => {
    const store = createSqliteStore({ file, clock });
    stores.push(store);
    return store;
  };
  const fill = async (store: Store, names: readonly string[]): Promise<void> => {
    const things = store.collection(small);
    await Promise.all(names.map((name, rank) => things.insert(`id${rank}`, { name, rank })));
  };
  const many = Array.from({ length: 1200 }, (_, n) => `thing ${n}`);

  test('a new index and field of a definition cover existing documents', async () => {
    const old = open();
    await fill(old, many);
    const things = open().collection(grown);
    assert.deepEqual(
      (await things.findBy('name', 'thing 1199')).map(({ id }) => id),
      ['id1199'],
    );
    const first = { field: 'is_first', op: 'eq', value: true } as const;
    const page = await things.query({ filters: [first], sort: 'is_first', order: 'asc', limit: 10 });
    assert.deepEqual([page.items[0]?.id, page.total], ['id0', 1]);
    await assert.rejects(things.insert('new', { name: 'thing 7', rank: 1 }), AlreadyExists);
    assert.equal((await things.find('id7'))?.version, 1);
  });

  test('a new index that few documents have writes those and nothing else of them', async () => {
    await fill(open(), many);
    const watch = openConnection(file);
    watch.exec(`CREATE TABLE updates (column_name TEXT) STRICT;
      CREATE TRIGGER watched AFTER UPDATE ON ${small.name} BEGIN INSERT INTO updates VALUES ('any'); END;
      CREATE TRIGGER ranked AFTER UPDATE OF k_rank ON ${small.name} BEGIN INSERT INTO updates VALUES ('k_rank'); END`);
    const rare: CollectionDefinition<Thing> = {
      ...small,
      indexes: { ...small.indexes, rare: { key: ({ rank }) => (rank % 400 === 0 ? 'yes' : undefined) } },
    };
    assert.equal((await open().collection(rare).findBy('rare', 'yes')).length, 3);
    const seen = watch.statement('SELECT column_name, count(*) AS n FROM updates GROUP BY 1').all();
    watch.close();
    assert.deepEqual(
      seen.map(({ column_name: name, n }) => [name, n]),
      [['any', 3]],
    );
  });

  /** @returns the file, opened beside the store: so many documents that what is made of them takes a while */
  async function fillLarge(): Promise<DatabaseSync> {
    await fill(open(), ['first']);
    const database = new DatabaseSync(file);
    database.exec(`INSERT INTO things (id, version, value, k_rank, f_rank)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      SELECT 'n' || i, 1, json_object('name', 'thing ' || i, 'rank', i), 'r' || i, i FROM n`);
    return database;
  }

  test('a large file: the operator is told, signals end it, and another process waits', async () => {
    const database = await fillLarge();
    const said: string[] = [];
    const handlers: number[] = [];
    const onSignal = (): void => undefined;
    process.on('SIGINT', onSignal);
    const log = {
      warn(_: object, message: string) {
        said.push(message);
        handlers.push(process.listenerCount('SIGINT'));
      },
      info: (_: object, message: string) => void said.push(message),
    };
    const openGrown = (): Store => {
      const store = createSqliteStore({ file, clock: Date.now, definitions: [grown], log });
      stores.push(store);
      return store;
    };
    try {
      if (process.env.LONG === '1') {
        // Longer than SQLite itself waits.
        const other = new Worker(
          `const database = new (require('node:sqlite').DatabaseSync)(require('node:worker_threads').workerData);
          database.exec('BEGIN IMMEDIATE');
          require('node:worker_threads').parentPort.postMessage('held');
          setTimeout(() => { database.exec('COMMIT'); database.close(); }, 12_000);`,
          { eval: true, workerData: file },
        );
        await once(other, 'message');
      }
      const things = openGrown().collection(grown);
      assert.equal((await things.findBy('name', 'thing 60000')).length, 1);
      assert.equal(process.listenerCount('SIGINT'), 1, 'given back');
    } finally {
      process.off('SIGINT', onSignal);
      database.close();
    }
    assert.equal(
      said.some((text) => text.startsWith('waiting for another process')),
      process.env.LONG === '1',
    );
    const own = said.filter((text) => !text.startsWith('waiting'));
    assert.match(
      own[0] ?? '',
      /^making the database ready .* things, 60,001 documents\. Nobody is served until/,
    );
    assert.match(own.at(-1) ?? '', /^the database is ready for this version \(\d+ s\)$/);
    assert.ok(
      handlers.every((count) => count === 0),
      'a signal ends the process at once',
    );
    const before = said.length;
    openGrown();
    assert.equal(said.length, before, 'the next start has nothing to say');
  });

  test('a large file in a terminal: each step is told as it goes on, and lists find everything', async () => {
    const database = await fillLarge();
    database.close();
    const [told, said]: [string[], string[]] = [[], []];
    const line = {
      update: (what: string, done: number, total: number) => void told.push(`${what} ${done} ${total}`),
      end: () => void told.push('taken away'),
    };
    const log = {
      warn: (_: object, text: string) => void said.push(text),
      info: (_: object, text: string) => void said.push(text),
    };
    const store = createSqliteStore({ file, clock: Date.now, definitions: [grown], log, line });
    stores.push(store);
    assert.equal(said.length, 2, said.join('\n'));
    assert.match(told.join('\n'), /things: making room for what lists and searches need(?:, 1 of \d)? 0 0/);
    assert.ok(told.includes('things: deriving what lists and searches need 30000 60001'));
    assert.match(told.join('\n'), /things: building its indexes(?:, 1 of \d)? 0 0/);
    assert.equal(told.at(-1), 'taken away');
    assert.equal((await store.collection(grown).findBy('name', 'thing 59999')).length, 1);
  });

  test('a process of the previous version reads and writes beside the new one', async () => {
    const old = open().collection(small);
    const things = open().collection(grown);
    await old.insert('a', { name: 'ada', rank: 1 });
    await old.put('a', { name: 'ada', rank: 2 });
    assert.deepEqual((await things.find('a'))?.value, { name: 'ada', rank: 2 });
    assert.equal((await things.replace('a', 2, { name: 'ada', rank: 3 })).version, 3);
    assert.deepEqual(
      (await old.findBy('rank', 'r3')).map(({ id }) => id),
      ['a'],
    );
    assert.equal((await things.findBy('name', 'ada')).length, 1);
  });

  test('an expired document does not prevent a new unique index', async () => {
    let now = 1000;
    const old = open(() => now).collection(small);
    await old.insert('a', { name: 'ada', rank: 1 }, { expiresAt: 2000 });
    await old.insert('b', { name: 'ada', rank: 2 });
    now = 2000;
    const things = open(() => now).collection(grown);
    assert.deepEqual(
      (await things.findBy('name', 'ada')).map(({ id }) => id),
      ['b'],
    );
  });

  test('a new unique index over documents that share a key is refused, the file is unchanged', async () => {
    await fill(open(), ['ada', 'ada']);
    assert.throws(() => open().collection(grown), /things__u_name cannot be unique/);
    assert.equal((await open().collection(small).find('id1'))?.version, 1);
  });

  test('an index may become unique, and non-unique again', async () => {
    const unique = { ...small, indexes: { rank: { unique: true, key: (thing: Thing) => `r${thing.rank}` } } };
    await fill(open(), ['a', 'b']);
    const old = open().collection(small);
    await assert.rejects(open().collection(unique).insert('c', { name: 'c', rank: 1 }), AlreadyExists);
    // A process of the version before does not know of the new rule, and must not break it or what it protects.
    await assert.rejects(old.insert('c', { name: 'c', rank: 1 }), AlreadyExists);
    assert.deepEqual(
      (await old.findBy('rank', 'r1')).map(({ id }) => id),
      ['id1'],
    );
    await open().collection(small).insert('c', { name: 'c', rank: 1 });
    assert.deepEqual(
      (await old.findBy('rank', 'r1')).map(({ id }) => id),
      ['c', 'id1'],
    );
  });

  test('durability pragmas are set', () => {
    const connection = openConnection(file);
    const pragma = (name: string): unknown =>
      Object.values(connection.statement(`PRAGMA ${name}`).get() ?? {})[0];
    assert.deepEqual(['journal_mode', 'synchronous', 'foreign_keys'].map(pragma), ['wal', 2, 1]);
    assert.equal(pragma('wal_autocheckpoint'), 4_000);
    connection.close();
  });

  test('a name that is no SQL identifier is a programmer error', () => {
    const store = open();
    for (const name of ['a"b', 'a; DROP TABLE x', 'Äpfel', '']) {
      assert.throws(() => store.collection({ ...small, name }), TypeError);
    }
  });

  test('a file that is no database is refused by name', async () => {
    await writeFile(
      file,
      'this is a text file, and long enough to be taken for a database header'.repeat(100),
    );
    assert.throws(open, (error) => error instanceof StoreUnavailable && error.message.includes(file));
  });
});
