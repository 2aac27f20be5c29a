// Several processes on one SQLite file: no lost update, no "database is locked" for a caller, and a
// running event loop while another process holds the lock.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { type Store, StoreUnavailable } from '../../src/store/port.ts';
import { isWithin } from '../support/patience.ts';
import { notes, startChild, temporaryDirectory } from './sqlite-support.ts';

/** @returns the longest time that the event loop did not turn while `act` ran, in ms */
async function longestStall(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await act();
  clearInterval(timer);
  return longest;
}

describe('sqlite: several processes', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let file: string;
  let files = 0;
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => directory.remove());
  beforeEach(() => {
    files += 1;
    file = `${directory.path}/${files}.db`;
  });

  const withStore = async (use: (store: Store) => Promise<void>, lockTimeoutMs?: number): Promise<void> => {
    const store = createSqliteStore({ file, clock: Date.now, lockTimeoutMs });
    try {
      await use(store);
    } finally {
      await store.close();
    }
  };

  test('C14 4 processes, 100 parallel increments each: no update is lost', () =>
    withStore(async (store) => {
      await store.collection(notes).insert('counter', { id: 'counter', text: '', count: 0 });
      const children = Array.from({ length: 4 }, () => startChild(['count', file, '', '100']));
      await Promise.all(children.map((child) => child.ended()));
      const counter = await store.collection(notes).find('counter');
      assert.deepEqual([counter?.value.count, counter?.version], [400, 401]);
    }));

  test('64 parallel writers in 2 processes that create the file: no "database is locked"', async () => {
    const children = ['a', 'b'].map((label) => startChild(['crowd', file, label, '1280']));
    await Promise.all(children.map((child) => child.ended()));
    await withStore(async (store) => {
      for (const tag of ['a', 'b'])
        assert.equal((await store.collection(notes).findBy('tag', tag)).length, 1280);
    });
  });

  test('6 processes open the same new file at once', async () => {
    const children = Array.from({ length: 6 }, (_, n) => startChild(['crowd', file, `p${n}`, '64']));
    await Promise.all(children.map((child) => child.ended()));
    await withStore(async (store) => {
      const { total } = await store.collection(notes).query({ sort: 'id', order: 'asc', limit: 1 });
      assert.equal(total, 6 * 64);
    });
  });

  test('write lock held elsewhere for 5 s: writes wait, reads and the event loop continue', () =>
    withStore(async (store) => {
      const collection = store.collection(notes);
      await collection.insert('a', { id: 'a', text: 'before' });
      const holder = startChild(['hold', file, '', '5000']);
      await holder.said('held');
      const stall = await longestStall(async () => {
        const started = performance.now();
        const writing = collection.put('a', { id: 'a', text: 'after' });
        await sleep(200);
        assert.equal((await collection.find('a'))?.value.text, 'before');
        assert.equal((await writing).version, 2);
        assert.ok(performance.now() - started > 1000, 'the lock was not held');
      });
      // Far below the time for which the lock is held, however busy the machine is.
      assert.ok(isWithin(stall, 1000), `the event loop stood still for ${stall} ms`);
      await holder.ended();
    }));

  test('write lock held too long: waiters get StoreUnavailable, later writes work', () =>
    withStore(async (store) => {
      const collection = store.collection(notes);
      const holder = startChild(['hold', file, '', '1000']);
      await holder.said('held');
      const writes = Array.from({ length: 20 }, (_, n) =>
        collection.insert(`${n}`, { id: `${n}`, text: '' }),
      );
      for (const outcome of await Promise.allSettled(writes)) {
        assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable);
      }
      await holder.ended();
      const { total } = await collection.query({ sort: 'id', order: 'asc', limit: 1 });
      assert.equal(total, 0);
      assert.equal((await collection.insert('0', { id: '0', text: '' })).version, 1);
    }, 300));
});
