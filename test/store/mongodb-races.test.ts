// Races that only MongoDB has, where one write is several operations: the holder of a unique key or id has expired, and many
// want its place, or the holder itself returns (C6, C7, C14).
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import {
  AlreadyExists,
  type Collection,
  type CollectionDefinition,
  type Store,
} from '../../src/store/port.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { testOnRealMongo } from '../support/real-mongodb.ts';

interface Person {
  name: string;
}

const people: CollectionDefinition<Person> = {
  name: 'people',
  durability: 'durable',
  indexes: { name: { unique: true, key: (person) => person.name } },
  fields: { name: { type: 'string', of: (person) => person.name } },
};

const N = 40;
const ROUNDS = 8;
const ada = { name: 'ada' };

describe('mongodb: races', () => {
  let server: MongoServer;
  let stores: Store[];
  let collections: Collection<Person>[];
  let now = Date.now();
  before(async () => {
    server = await startMongoServer();
  });
  after(() => server.stop());
  beforeEach(async () => {
    const uri = server.freshUri();
    const open = () => createMongoStore({ uri, clock: () => now, timeoutMs: 20_000 });
    stores = await Promise.all([open(), open()]);
    collections = stores.map((store) => store.collection(people));
  });
  afterEach(() => Promise.all(stores.map((store) => store.close())));

  const of = (n: number): Collection<Person> => {
    const collection = collections[n % collections.length];
    assert.ok(collection);
    return collection;
  };
  /** @returns the ids of those who got it; everyone else must have been refused for the right reason */
  async function race(act: (n: number) => Promise<{ id: string }>): Promise<string[]> {
    const outcomes = await Promise.allSettled(Array.from({ length: N }, (_, n) => act(n)));
    return outcomes.flatMap((outcome) => {
      if (outcome.status === 'fulfilled') return [outcome.value.id];
      assert.ok(outcome.reason instanceof AlreadyExists, String(outcome.reason));
      return [];
    });
  }
  const owners = async (): Promise<string[]> => (await of(0).findBy('name', 'ada')).map(({ id }) => id);

  testOnRealMongo('attack: many claim an expired account’s name at once, over two stores', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const old = `old${round}`;
      await of(0).insert(old, ada, { expiresAt: now + 10 });
      now += 10;
      const winners = await race((n) => of(n).insert(`r${round}n${n}`, ada));
      assert.equal(winners.length, 1);
      assert.deepEqual(await owners(), winners);
      assert.equal(await of(1).find(old), undefined);
      await of(0).removeBy('name', 'ada');
    }
  });

  testOnRealMongo(
    'attack: an expired owner returns while others claim its name: one has it, none is lost',
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const old = `old${round}`;
        await of(0).insert(old, ada, { expiresAt: now + 10 });
        now += 10;
        const winners = await race((n) =>
          n % 2 === 0 ? of(n / 2).insert(`r${round}n${n}`, ada) : of((n + 1) / 2).put(old, ada),
        );
        // The owner's own writes don't clash with each other: it wins with all of them or with none.
        assert.equal(new Set(winners).size, 1, String(winners));
        assert.deepEqual(await owners(), [...new Set(winners)]);
        await of(0).removeBy('name', 'ada');
      }
    },
  );

  testOnRealMongo('attack: many insert the id of an expired document, over two stores', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await of(0).put('jti', { name: 'old' }, { expiresAt: now + 10 });
      now += 10;
      const winners = await race((n) => of(n).insert('jti', { name: `n${n}` }, { expiresAt: now + 10 }));
      assert.equal(winners.length, 1);
      assert.equal((await of(1).find('jti'))?.version, 1);
      now += 10;
    }
  });

  testOnRealMongo(
    'puts of one id over two stores count every write, also from an expired one on',
    async () => {
      await of(0).put('a', ada, { expiresAt: now + 10 });
      now += 10;
      const versions = await Promise.all(
        Array.from({ length: N }, async (_, n) => (await of(n).put('a', { name: `n${n}` })).version),
      );
      assert.deepEqual(
        versions.sort((a, b) => a - b),
        Array.from({ length: N }, (_, n) => n + 1),
      );
    },
  );

  testOnRealMongo('attack: sweeping removes a document that was renewed', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await of(0).put('a', ada, { expiresAt: now + 10 });
      now += 10;
      const sweeps = stores.map((store) => store.sweep(100));
      const written = await of(1).put('a', { name: `alive ${round}` });
      await Promise.all(sweeps);
      assert.deepEqual(await of(0).find('a'), written);
      await of(0).remove('a');
    }
  });

  test('attack: operators in place of text never reach the database', async () => {
    await of(0).insert('a', ada);
    // What a careless caller could pass on from a request, past the types.
    const hostile = [{ $ne: null }, { $gt: '' }, ['a'], null, 1] as unknown[] as string[];
    for (const value of hostile) {
      await assert.rejects(of(0).find(value), TypeError);
      await assert.rejects(of(0).findBy('name', value), TypeError);
      await assert.rejects(of(0).removeBy('name', value), TypeError);
      await assert.rejects(of(0).remove(value), TypeError);
      await assert.rejects(of(0).put(value, ada), TypeError);
      await assert.rejects(of(0).put('b', { name: value }), TypeError);
      const filters = [{ field: 'name', op: 'eq', value }] as const;
      await assert.rejects(of(0).query({ filters, sort: 'id', order: 'asc', limit: 1 }), TypeError);
      const after = { sortValue: undefined, id: value };
      await assert.rejects(of(0).query({ sort: 'id', order: 'asc', limit: 1, after }), TypeError);
    }
    const anyVersion = { $gte: 0 } as unknown as number;
    await assert.rejects(of(0).replace('a', anyVersion, { name: 'mallory' }), /no longer at version/);
    assert.equal((await of(0).find('a'))?.value.name, 'ada');
  });

  test('attack: search text as a pattern', async () => {
    for (const name of ['a.c', 'abc', '(a+)+$', 'a\nb', 'a/b', 'a-b', '\\', '[x]', 'nul\0x']) {
      await of(0).insert(name, { name });
    }
    const found = async (text: string): Promise<string[]> => {
      const search = { text, fields: ['name'] };
      const page = await of(1).query({ search, sort: 'id', order: 'asc', limit: 100 });
      return page.items.map(({ id }) => id);
    };
    assert.deepEqual(await found('a.c'), ['a.c']);
    assert.deepEqual(await found('(a+)+$'), ['(a+)+$']);
    assert.deepEqual(await found('\n'), ['a\nb']);
    assert.deepEqual(await found('/'), ['a/b']);
    assert.deepEqual(await found('a-'), ['a-b']);
    assert.deepEqual(await found('\\'), ['\\']);
    assert.deepEqual(await found('[X'), ['[x]']);
    assert.deepEqual(await found('\0'), ['nul\0x']);
    assert.deepEqual(await found('.*'), []);
    assert.deepEqual(await found('^'), []);
  });
});
