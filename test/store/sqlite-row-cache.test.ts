// Rows that a connection keeps in memory: never older than the last commit of anyone, and never more than the bound.
// A process of its own: its memory is measured.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createDataVersion } from '../../adapters/sqlite/data-version.ts';
import { createRowCache } from '../../adapters/sqlite/row-cache.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import type { Store } from '../../src/store/port.ts';
import { createRandom } from '../support/twins.ts';
import { type Note, notes, startChild, temporaryDirectory } from './sqlite-support.ts';

describe('sqlite: row cache', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let file: string;
  let files = 0;
  const stores: Store[] = [];
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => directory.remove());
  beforeEach(() => {
    files += 1;
    file = `${directory.path}/${files}.db`;
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  const open = (clock: () => number = Date.now): Store => {
    const store = createSqliteStore({ file, clock });
    stores.push(store);
    return store;
  };

  test('another process writes, removes and writes again: each next read knows it, 200 times', async () => {
    const collection = open().collection(notes);
    await collection.insert('n', { id: 'n', text: 'first' });
    const child = startChild(['obey', file]);
    await child.said('ready');
    for (let turn = 0; turn < 200; turn += 1) {
      // Read twice, so that it is in memory.
      await collection.find('n');
      const known = await collection.find('n');
      const shared = await collection.findShared?.('n');
      assert.equal(await collection.findShared?.('n'), shared);
      const act = turn % 4 === 3 ? 'removeBy' : turn % 4 === 1 ? 'remove' : 'put';
      child.tell(`${act} ${turn}`);
      await child.said(`done ${turn}`);
      const found = await collection.find('n');
      assert.equal(found?.value.text, act === 'put' ? `turn ${turn}` : undefined, `turn ${turn}, ${act}`);
      if (known !== undefined) assert.notDeepEqual(found, known);
      assert.deepEqual(shared, known);
      assert.deepEqual(await collection.findShared?.('n'), found);
    }
    child.kill();
    await child.ended();
  });

  for (const seed of [1, 2, 3]) {
    test(`two connections, 1,500 random acts: both always read what the file holds (seed ${seed})`, async () => {
      const random = createRandom(seed);
      let now = 1_800_000_000_000;
      const both = [open(() => now), open(() => now)];
      for (const store of both) store.collection(notes);
      const truth = new DatabaseSync(file);
      const select = truth.prepare(
        'SELECT version, value FROM notes WHERE id = ? AND ifnull(expires_at > ?, 1)',
      );
      const ids = ['a', 'b', 'c', 'd'];
      const ignore = (): void => {};
      for (let n = 0; n < 1_500; n += 1) {
        const store = random.pick(both);
        const collection = store.collection(notes);
        const id = random.pick(ids);
        const value: Note = { id: `${id}${n}`, text: `${n}`, tag: random.pick(['x', 'y']) };
        const options = random.chance(0.3) ? { expiresAt: now + 3 } : {};
        const version = (await collection.find(id))?.version ?? 0;
        const acts = [
          () => collection.put(id, value, options),
          () => collection.insert(id, value, options),
          () => collection.replace(id, version, value, options),
          () => collection.remove(id),
          () => collection.removeBy('tag', 'x'),
          () => store.sweep(10),
          // Refused as a whole, after its first write.
          () =>
            store.writeTogether((writes) => {
              writes.to(notes).remove(id);
              writes.to(notes).replace('nobody', 1, value);
            }),
          () => store.writeTogether((writes) => writes.to(notes).replace(id, version, value)),
        ];
        now += random.chance(0.2) ? 1 : 0;
        await random.pick(acts)().catch(ignore);
        for (const reader of both) {
          for (const one of ids) {
            const found = await reader.collection(notes).find(one);
            const row = select.get(one, now);
            const shared = await reader.collection(notes).findShared?.(one);
            assert.deepEqual(shared, found);
            assert.ok(shared === undefined || (Object.isFrozen(shared) && Object.isFrozen(shared.value)));
            assert.deepEqual(
              [found?.version, found && JSON.stringify(found.value)],
              [row?.version, row?.value],
              `${n}`,
            );
          }
        }
      }
      truth.close();
    });
  }

  test('what is kept has a bound, and what is used stays', () => {
    const database = new DatabaseSync(':memory:');
    const cache = createRowCache(createDataVersion(database.prepare('PRAGMA data_version')));
    let reads = 0;
    const find = (id: string): unknown =>
      cache.find('t', id, () => {
        reads += 1;
        return { id, value: 'x'.repeat(10_000) };
      });
    const heap = (): number => process.memoryUsage().heapUsed;
    const before = heap();
    for (let n = 0; n < 20_000; n += 1) {
      find(`${n}`);
      find('often');
    }
    assert.equal(reads, 20_001);
    find('19999');
    assert.equal(reads, 20_001);
    find('0');
    assert.equal(reads, 20_002);
    // 200 MB have passed through it.
    assert.ok(heap() - before < 40 * 1024 * 1024, `${heap() - before} bytes`);
    database.close();
  });

  test('a row that is larger than most is read each time', () => {
    const database = new DatabaseSync(':memory:');
    const cache = createRowCache(createDataVersion(database.prepare('PRAGMA data_version')));
    let reads = 0;
    const find = (): unknown =>
      cache.find('t', 'logo', () => {
        reads += 1;
        return { id: 'logo', value: 'x'.repeat(100_000) };
      });
    find();
    find();
    assert.equal(reads, 2);
    database.close();
  });

  test('commits of others are asked for once in a turn of the event loop, and anew in the next', async () => {
    const database = new DatabaseSync(':memory:');
    const pragma = database.prepare('PRAGMA data_version');
    let asked = 0;
    const version = createDataVersion({
      get() {
        asked += 1;
        return pragma.get();
      },
    });
    for (let turn = 1; turn <= 3; turn += 1) {
      await new Promise(setImmediate);
      for (let n = 0; n < 20; n += 1) await Promise.resolve(version());
      assert.equal(asked, turn);
    }
    // Two callbacks of one phase of the loop, as two sockets with a request each are: each asks.
    const both = [0, 1].map(() => new Promise((resolve) => setImmediate(() => resolve(version()))));
    await Promise.all(both);
    assert.equal(asked, 5);
    database.close();
  });
});
