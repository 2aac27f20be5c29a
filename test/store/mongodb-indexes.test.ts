// Indexes and derived fields in MongoDB: who creates them, when a start refuses, what is derived again when a definition changes,
// and that no address weakens durability.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { type Db, MongoClient } from 'mongodb';
import { orderedFields } from '../../adapters/document.ts';
import { openConnection } from '../../adapters/mongodb/connection.ts';
import { createMongoStore, prepareMongo } from '../../adapters/mongodb/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import {
  AlreadyExists,
  type CollectionDefinition,
  type Store,
  StoreUnavailable,
} from '../../src/store/port.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { small, type Thing } from './schema-fixture.ts';

const grown: CollectionDefinition<Thing> = {
  ...small,
  indexes: { ...small.indexes, name: { unique: true, key: (thing) => thing.name } },
  fields: { ...small.fields, name: { type: 'string', of: (thing) => thing.name } },
};
const asList = (definition: CollectionDefinition<Thing>) =>
  // A list of many types: whoever walks it treats records as opaque, which is what `never` says.
  [definition] as unknown as readonly CollectionDefinition<never>[];

describe('mongodb: indexes', () => {
  let server: MongoServer;
  let uri: string;
  let client: MongoClient;
  let db: Db;
  let now = Date.now();
  const stores: Store[] = [];
  const clock = (): number => now;
  before(async () => {
    server = await startMongoServer();
  });
  after(() => server.stop());
  beforeEach(() => {
    uri = server.freshUri();
    client = new MongoClient(uri);
    db = client.db();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await client.close();
  });

  const open = async (definition: CollectionDefinition<Thing>): Promise<Store> => {
    const store = await createMongoStore({ uri, clock, definitions: asList(definition), timeoutMs: 20_000 });
    stores.push(store);
    return store;
  };
  const prepare = (definition: CollectionDefinition<Thing>): Promise<void> =>
    prepareMongo({ uri, clock, definitions: asList(definition) });
  const indexesOf = async (name: string): Promise<Record<string, unknown>[]> =>
    db.collection(name).listIndexes().toArray();

  test('a new database gets its indexes at the first start, with any number of processes', async () => {
    await Promise.all(Array.from({ length: 6 }, () => open(grown)));
    const indexes = await indexesOf('things');
    const named = (name: string) => indexes.find((index) => index.name === name);
    assert.deepEqual(indexes.map(({ name }) => name).sort(), [
      '_id_',
      'f_name',
      'f_rank',
      'k_rank',
      'u_name',
      'until',
    ]);
    assert.equal(named('u_name')?.unique, true);
    assert.deepEqual(named('u_name')?.partialFilterExpression, { 'k.name': { $exists: true } });
    assert.notEqual(named('k_rank')?.unique, true);
    assert.equal(named('until')?.expireAfterSeconds, 3600);
  });

  test('a new database accepts writes of the first process while others still start', async () => {
    for (let round = 0; round < 30; round += 1) {
      uri = server.freshUri();
      await Promise.all(
        Array.from({ length: 4 }, async (_, writer) => {
          const store = await open(grown);
          await store.collection(grown).insert(`w${writer}`, { name: `n${writer}`, rank: writer });
        }),
      );
    }
  });

  test('the release creates the indexes of every collection and repeats without change', async () => {
    await prepareMongo({ uri, clock, definitions: allCollections });
    await prepareMongo({ uri, clock, definitions: allCollections });
    for (const { name, indexes, fields } of allCollections) {
      const count = 2 + Object.keys(indexes).length + orderedFields(fields).length;
      assert.equal((await indexesOf(name)).length, count, name);
    }
    const store = await createMongoStore({ uri, clock, definitions: allCollections });
    await store.close();
  });

  test('a start refuses documents without an index, says which and what to do', async () => {
    const old = await open(small);
    await old.collection(small).insert('a', { name: 'ada', rank: 1 });
    await assert.rejects(open(grown), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.match(error.message, /things: u_name, f_name.*npm run release/);
      return true;
    });
    await prepare(grown);
    await open(grown);
  });

  test('an undeclared collection is checked before its first use', async () => {
    const old = await open(small);
    await old.collection(small).insert('a', { name: 'ada', rank: 1 });
    const store = await createMongoStore({ uri, clock, timeoutMs: 20_000 });
    stores.push(store);
    await assert.rejects(store.collection(grown).find('a'), /u_name/);
    assert.equal((await store.collection(small).find('a'))?.version, 1);
  });

  test('a new index and field of a definition cover existing documents', async () => {
    const things = (await open(small)).collection(small);
    const names = Array.from({ length: 40 }, (_, n) => `thing ${n}`);
    await Promise.all(names.map((name, rank) => things.insert(`id${rank}`, { name, rank })));
    await prepare(grown);
    const more = (await open(grown)).collection(grown);
    assert.deepEqual(
      (await more.findBy('name', 'thing 39')).map(({ id }) => id),
      ['id39'],
    );
    const search = { text: 'THING 1', fields: ['name'] };
    const page = await more.query({ search, sort: 'name', order: 'desc', limit: 2 });
    assert.deepEqual([page.items.map(({ id }) => id), page.total], [['id19', 'id18'], 11]);
    await assert.rejects(more.insert('new', { name: 'thing 7', rank: 1 }), AlreadyExists);
    assert.equal((await more.find('id7'))?.version, 1);
  });

  test('the release refuses a unique index over documents that share a key', async () => {
    const things = (await open(small)).collection(small);
    await things.insert('a', { name: 'ada', rank: 1 });
    await things.insert('b', { name: 'ada', rank: 2 });
    await assert.rejects(prepare(grown), /things: u_name cannot be unique, documents share a key/);
    assert.equal((await things.find('b'))?.version, 1);
    await assert.rejects(open(grown), /u_name/);
  });

  test('an expired document does not prevent a new unique index', async () => {
    const things = (await open(small)).collection(small);
    await things.insert('a', { name: 'ada', rank: 1 }, { expiresAt: now + 1000 });
    await things.insert('b', { name: 'ada', rank: 2 });
    now += 1000;
    await prepare(grown);
    const found = await (await open(grown)).collection(grown).findBy('name', 'ada');
    assert.deepEqual(
      found.map(({ id }) => id),
      ['b'],
    );
  });

  test('expiring documents have a TTL date, others none, and odd instants are kept', async () => {
    const things = (await open(small)).collection(small);
    const expiries = { soon: now + 1000, odd: now + 0.25, far: 1e300, past: -1e300 };
    for (const [id, expiresAt] of Object.entries(expiries)) {
      assert.equal((await things.insert(id, { name: id, rank: 1 }, { expiresAt })).expiresAt, expiresAt);
    }
    await things.insert('eternal', { name: 'eternal', rank: 1 });
    const rows = await db.collection('things').find().toArray();
    for (const row of rows) assert.equal(row.until instanceof Date, row.value.includes('eternal') === false);
    assert.equal((await things.find('odd'))?.expiresAt, now + 0.25);
    assert.equal((await things.find('far'))?.expiresAt, 1e300);
    assert.equal(await things.find('past'), undefined);
    assert.equal(
      (await things.replace('far', 1, { name: 'far', rank: 2 }, { expiresAt: now + 5 })).version,
      2,
    );
    assert.equal((await things.find('far'))?.expiresAt, now + 5);
  });

  test('beyond a limit MongoDB counts everything, minus expired documents', async () => {
    const store = await createMongoStore({ uri, clock, countUpTo: 0, timeoutMs: 20_000 });
    stores.push(store);
    const things = store.collection(small);
    for (let n = 0; n < 5; n += 1) await things.insert(`${n}`, { name: '', rank: n });
    await things.insert('gone', { name: '', rank: 9 }, { expiresAt: now + 10 });
    const total = async () => (await things.query({ sort: 'rank', order: 'asc', limit: 1 })).total;
    assert.equal(await total(), 6);
    now += 10;
    assert.equal(await total(), 5);
  });

  test('attack: an address that asks for less durability is ignored', async () => {
    const weak = `${uri}&w=0&journal=false&readPreference=secondary&readConcernLevel=local&retryWrites=false`;
    const connection = await openConnection({ uri: weak });
    try {
      const rows = connection.db.collection('things');
      for (const { writeConcern, readConcern, readPreference } of [connection.db, rows]) {
        assert.deepEqual([writeConcern?.w, writeConcern?.journal], ['majority', true]);
        assert.equal(readConcern?.level, 'majority');
        assert.equal(readPreference?.mode, 'primary');
      }
      assert.equal(connection.db.client.options.retryWrites, true);
    } finally {
      await connection.close();
    }
  });

  test('pool and timeout options of an address apply', async () => {
    const connection = await openConnection({ uri: `${uri}&maxPoolSize=7&serverSelectionTimeoutMS=1234` });
    const { maxPoolSize, serverSelectionTimeoutMS, appName } = connection.db.client.options;
    await connection.close();
    assert.deepEqual([maxPoolSize, serverSelectionTimeoutMS, appName], [7, 1234, 'latchkey']);
  });

  test('an address without a database gets the default name', async () => {
    const connection = await openConnection({ uri: uri.replace(/\/latchkey_test_\w+/, '/') });
    await connection.close();
    assert.equal(connection.db.databaseName, 'latchkey');
  });

  test('names with a meaning to the database are a programmer error', async () => {
    const store = await open(small);
    for (const name of ['a.b', '$where', 'system.users', '']) {
      assert.throws(() => store.collection({ ...small, name }), TypeError);
      assert.throws(
        () => store.collection({ ...small, indexes: { [name]: { key: () => undefined } } }),
        TypeError,
      );
    }
  });
});
