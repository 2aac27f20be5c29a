// Callers while MongoDB is down or hangs: they fail within two seconds, nothing is written later in
// another order, and all recovers by itself.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { MongoServerError } from 'mongodb';
import { openConnection } from '../../adapters/mongodb/connection.ts';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { type Collection, type Store, StoreUnavailable } from '../../src/store/port.ts';
import { type MongoServer, startOwnMongoServer } from '../support/mongodb-server.ts';
import { isWithin } from '../support/patience.ts';
import { type Note, notes } from './sqlite-support.ts';

const LIMIT_MS = 2_000;
const RECOVERY_MS = 10_000;

const note = (id: string, text = ''): Note => ({ id, text, tag: 'red' });

const acts: Readonly<Record<string, (collection: Collection<Note>, store: Store) => Promise<unknown>>> = {
  find: (collection) => collection.find('a'),
  findBy: (collection) => collection.findBy('tag', 'red'),
  insert: (collection) => collection.insert('b', note('b')),
  put: (collection) => collection.put('c', note('c')),
  replace: (collection) => collection.replace('a', 1, note('a')),
  remove: (collection) => collection.remove('d'),
  removeBy: (collection) => collection.removeBy('tag', 'blue'),
  query: (collection) => collection.query({ sort: 'id', order: 'asc', limit: 1 }),
  ping: (_, store) => store.ping(),
};

async function assertUnavailable(name: string, act: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await assert.rejects(act(), StoreUnavailable, name);
  const took = performance.now() - started;
  assert.ok(isWithin(took, LIMIT_MS), `${name} took ${Math.round(took)} ms`);
}

/** @returns after how many ms it worked again */
async function recovery(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (;;) {
    try {
      await act();
      return Math.round(performance.now() - started);
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
      assert.ok(isWithin(performance.now() - started, RECOVERY_MS), 'it did not recover');
      await sleep(50);
    }
  }
}

describe('mongodb: outage', () => {
  let server: MongoServer;
  let store: Store;
  let collection: Collection<Note>;
  before(async () => {
    server = await startOwnMongoServer();
  });
  after(() => server.stop());
  beforeEach(async () => {
    store = await createMongoStore({ uri: server.freshUri(), clock: Date.now });
    collection = store.collection(notes);
    await collection.insert('a', note('a'));
  });
  afterEach(() => store.close());

  test('killed: every call fails within two seconds, at once and later; recovers by itself', async (t) => {
    await server.kill();
    for (const round of ['at once', 'later']) {
      await Promise.all(
        Object.entries(acts).map(([name, act]) =>
          assertUnavailable(`${name} ${round}`, () => act(collection, store)),
        ),
      );
    }
    await server.restart();
    t.diagnostic(`back after ${await recovery(() => store.ping())} ms`);
    // Its memory is gone with it; that writes work again is what counts here.
    assert.equal((await collection.put('after', note('after'))).version, 1);
  });

  test('a caller that asks three times, as a request does, still fails within two seconds', async () => {
    for (const [begin, end] of [
      [() => server.freeze(), () => server.thaw()],
      [() => server.kill(), () => server.restart()],
    ] as const) {
      await begin();
      try {
        await assertUnavailable('three in a row', async () => {
          for (let turn = 0; turn < 2; turn += 1) await collection.find('a').catch(() => undefined);
          await collection.find('a');
        });
      } finally {
        await end();
      }
      await recovery(() => store.ping());
    }
  });

  test('a query the server aborts is an answer: the next caller has the full time', async () => {
    const connection = await openConnection({ uri: server.freshUri() });
    try {
      const tooLong = new MongoServerError({ message: 'operation exceeded time limit', code: 50 });
      await assert.rejects(
        connection.run(() => Promise.reject(tooLong)),
        StoreUnavailable,
      );
      assert.equal(await connection.run(() => sleep(200, 'late')), 'late');
    } finally {
      await connection.close();
    }
  });

  test('hanging: every call fails within two seconds, the hundredth too; data is intact', async (t) => {
    await server.freeze();
    try {
      const crowd = Array.from({ length: 100 }, (_, n) =>
        assertUnavailable(`put ${n}`, () => collection.put('hot', note('hot'))),
      );
      const others = Object.entries(acts).map(([name, act]) =>
        assertUnavailable(name, () => act(collection, store)),
      );
      await Promise.all([...crowd, ...others]);
    } finally {
      server.thaw();
    }
    t.diagnostic(`back after ${await recovery(() => store.ping())} ms`);
    assert.equal((await collection.find('a'))?.value.id, 'a');
  });

  test('an abandoned write never overwrites a later one', async () => {
    for (let round = 0; round < 3; round += 1) {
      await server.freeze();
      try {
        await assertUnavailable('late', () => collection.put('hot', note('hot', `late ${round}`)));
      } finally {
        server.thaw();
      }
      await recovery(() => collection.put('hot', note('hot', `newer ${round}`)));
      await sleep(300);
      assert.equal((await collection.find('hot'))?.value.text, `newer ${round}`);
    }
  });

  test('killed under load: callers get a result or StoreUnavailable only', async () => {
    let isOver = false;
    const seen = { done: 0, refused: 0 };
    const work = async (worker: number): Promise<void> => {
      for (let n = 0; !isOver; n += 1) {
        try {
          await collection.put(`w${worker}-${n % 5}`, note(`w${worker}-${n % 5}`));
          seen.done += 1;
        } catch (error) {
          assert.ok(error instanceof StoreUnavailable, String(error));
          seen.refused += 1;
        }
      }
    };
    const workers = Array.from({ length: 10 }, (_, n) => work(n));
    while (seen.done === 0) await sleep(10);
    await server.kill();
    while (seen.refused === 0) await sleep(10);
    await server.restart();
    await recovery(() => store.ping());
    isOver = true;
    await Promise.all(workers);
    assert.ok(seen.done > 0 && seen.refused > 0, JSON.stringify(seen));
  });

  test('an address with another replica set name is reported as such', async () => {
    const uri = server.freshUri().replace('replicaSet=rs0', 'replicaSet=rs9');
    const opening = createMongoStore({ uri, clock: Date.now, startTimeoutMs: 100 });
    await assert.rejects(opening, {
      name: 'StoreUnavailable',
      message:
        /^MongoDB cannot be reached: no server at this address belongs to the replica set rs9\. .*replicaSet/,
    });
  });

  test('attack: the password in the error of a start without a server', async () => {
    const uri = 'mongodb://app:hunter2@127.0.0.1:1/latchkey';
    const opening = createMongoStore({ uri, clock: Date.now, startTimeoutMs: 100 });
    await assert.rejects(opening, (error) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.match(error.message, /^MongoDB cannot be reached: .*127\.0\.0\.1:1/);
      assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /hunter2/);
      return true;
    });
  });

  test('attack: the password in the error of an address that the driver refuses', async () => {
    const uris = [
      'mongodb://app:hunter2@127.0.0.1:1/latchkey?nonsense=hunter2',
      'mongodb://app:hunter2@@127.0.0.1:1/latchkey',
      'mongodb://app:hunter2@127.0.0.1:1/latchkey?authMechanism=hunter2',
      'mongodb://app:hunter2@127.0.0.1:1/latchkey?maxPoolSize=hunter2',
      'postgres://app:hunter2@127.0.0.1:1/latchkey',
    ];
    for (const uri of uris) {
      const opening = createMongoStore({ uri, clock: Date.now, startTimeoutMs: 100 });
      await assert.rejects(opening, (error) => {
        assert.ok(error instanceof StoreUnavailable, String(error));
        assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /hunter2/);
        return true;
      });
    }
  });
});
