// The SQLite store with a full or failing disk, and with too many requests at once (R154, R155).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { openConnection } from '../../adapters/sqlite/connection.ts';
import { createSqliteStore, createSqliteStoreOn } from '../../adapters/sqlite/store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { notes, startChild, temporaryDirectory, textOf } from './sqlite-support.ts';

const note = (id: string): { id: string; text: string } => ({ id, text: textOf(id, 1) });

describe('sqlite: limits', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  before(async () => {
    directory = await temporaryDirectory();
  });
  after(() => directory.remove());

  test('disk full: writes fail with StoreUnavailable, reads work, space restores it', async () => {
    const connection = openConnection(`${directory.path}/full.db`);
    const store = createSqliteStoreOn({ connection, clock: Date.now });
    const collection = store.collection(notes);
    await collection.insert('before', note('before'));
    await store.ping();
    connection.exec('PRAGMA max_page_count = 60');

    const ids = Array.from({ length: 400 }, (_, n) => `n${n}`);
    const outcomes = await Promise.allSettled(ids.map((id) => collection.insert(id, note(id))));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    assert.ok(refused.length > 0 && refused.every((reason) => reason instanceof StoreUnavailable));
    for (const [n, { status }] of outcomes.entries()) {
      assert.equal((await collection.find(`n${n}`)) !== undefined, status === 'fulfilled');
    }
    const { total } = await collection.query({ sort: 'id', order: 'asc', limit: 10 });
    assert.equal(total, 1 + ids.length - refused.length);
    assert.equal((await collection.find('before'))?.version, 1);
    // Together they were refused, one by one some still find room.
    const fill = async () => {
      for (let n = 0; ; n += 1) await collection.insert(`more${n}`, note(`more${n}`));
    };
    await assert.rejects(fill, StoreUnavailable);
    // What needs no more space is still possible, and it is what makes room: the probe fails by itself.
    const [probed, removed] = await Promise.allSettled([store.ping(), collection.remove('before')]);
    assert.ok(probed.status === 'rejected' && probed.reason instanceof StoreUnavailable);
    assert.deepEqual(removed, { status: 'fulfilled', value: true });

    connection.exec('PRAGMA max_page_count = 100000');
    await Promise.all([store.ping(), store.ping()]);
    await Promise.all(ids.map((id) => collection.put(id, note(id))));
    const all = await collection.query({ sort: 'id', order: 'asc', limit: 1000 });
    assert.equal(all.items.filter(({ id }) => ids.includes(id)).length, ids.length);
    await store.close();
  });

  test('disk failure at commit: no write is acknowledged, the same process recovers', async () => {
    // The limit on a file's size makes the very write of the log fail, which no pragma can.
    assert.equal(spawnSync('prlimit', ['--version']).status, 0, 'prlimit is needed (Debian: util-linux)');
    const limited = ['sh', '-c', 'ulimit -S -f 1500; exec "$@"', 'sh'];
    const child = startChild(['fill', `${directory.path}/limited.db`], limited);
    assert.equal(await child.said('refused'), 'refused readable');
    assert.equal(spawnSync('prlimit', ['--pid', `${child.pid}`, '--fsize=unlimited']).status, 0);
    child.tell('again');
    // One more than the acknowledged: the write after the recovery, and not the one that was refused.
    assert.equal(await child.said('recovered'), 'recovered 1');
    await child.ended();
  });

  test('lock held by another process: unready while writes wait or failed', { timeout: 60_000 }, async () => {
    const file = `${directory.path}/locked.db`;
    const store = createSqliteStore({ file, clock: Date.now, lockTimeoutMs: 400 });
    const collection = store.collection(notes);
    await collection.insert('before', note('before'));
    const other = openConnection(file);
    other.exec('BEGIN IMMEDIATE');
    await store.ping();
    const isReady = () =>
      store.ping().then(
        () => true,
        () => false,
      );
    const late = collection.insert('late', note('late')).then(
      () => true,
      () => false,
    );
    while (await isReady()) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await late, false);
    assert.equal(await isReady(), false, 'the probe waits in vain, too');
    other.exec('ROLLBACK');
    await store.ping();
    await collection.insert('after', note('after'));
    other.close();
    await store.close();
  });

  test('full queue: further writes are refused at once, queued ones complete', async () => {
    const store = createSqliteStore({ file: `${directory.path}/queue.db`, clock: Date.now, maxPending: 10 });
    const collection = store.collection(notes);
    const ids = Array.from({ length: 12 }, (_, n) => `n${n}`);
    const outcomes = await Promise.allSettled(ids.map((id) => collection.insert(id, note(id))));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ids.map((_, n) => (n < 10 ? 'fulfilled' : 'rejected')),
    );
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    assert.ok(refused.every((reason) => reason instanceof StoreUnavailable));
    assert.equal((await collection.insert('n10', note('n10'))).version, 1);
    await store.close();
  });

  test('uncommitted data is never read', async () => {
    const store = createSqliteStore({ file: `${directory.path}/reads.db`, clock: Date.now });
    const collection = store.collection(notes);
    let isCommitted = false;
    const writing = collection.insert('a', note('a')).then(() => {
      isCommitted = true;
    });
    for (let turn = 0; !isCommitted && turn < 100; turn += 1) {
      const isThere = (await collection.find('a')) !== undefined;
      assert.equal(isThere, isCommitted);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    assert.equal((await collection.find('a'))?.version, 1);
    await store.close();
  });
});
