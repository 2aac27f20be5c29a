// The token log's writer: nothing is written while tokens are issued, strangers cannot fill it, an outage loses nothing,
// several processes count together, and events are removed after their retention.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createTokenLog } from '../../src/audit/token-log.ts';
import { createTimeSortedIds } from '../../src/ids.ts';
import { createLogger } from '../../src/log.ts';
import { tokenEvents } from '../../src/store/administration.ts';
import { breakable } from '../support/broken-store.ts';

const HOUR = 3_600_000;

function createWorld() {
  const world = { now: Date.UTC(2026, 0, 31, 12, 30) };
  const clock = (): number => world.now;
  const { store, broken } = breakable(createMemoryStore({ clock }));
  const collection = store.collection(tokenEvents);
  const logged: string[] = [];
  const log = createLogger({
    level: 'info',
    pretty: false,
    destination: { write: (line) => void logged.push(line) },
  });
  /** One process. */
  const open = () =>
    createTokenLog({ collection, clock, newId: createTimeSortedIds(clock), log, flushMs: 10 * HOUR });
  const all = async () => {
    const { items } = await collection.query({ sort: 'id', order: 'asc', limit: 1000 });
    return items.map(({ value }) => ({ ...value, count: Number(value.details?.count) }));
  };
  return { world, broken, logged, open, all };
}

const issue = (clientId: string) => ({ clientId, accountId: 'u1', grantId: 'g1', grantType: 'password' });

test('token log: nothing is written before the flush; then events each, counters once', async () => {
  const { open, all } = createWorld();
  const log = open();
  for (let index = 0; index < 3; index += 1) log.issued(issue('c1'));
  for (let index = 0; index < 1000; index += 1) log.counted('token.refreshed', 'c1');
  assert.deepEqual(await all(), []);
  await log.flush();
  const written = await all();
  assert.equal(written.filter(({ event }) => event === 'token.issued').length, 3);
  assert.deepEqual(
    written.filter(({ event }) => event === 'token.refreshed').map(({ count }) => count),
    [1000],
  );
  await log.flush();
  assert.equal((await all()).length, 4);
});

test('token log: several processes share one counter per client and hour', async () => {
  const { open, all, world } = createWorld();
  const processes = [open(), open(), open()];
  for (let round = 0; round < 4; round += 1) {
    for (const log of processes) log.counted('token.machine_issued', 'c1');
    await Promise.all(processes.map((log) => log.flush()));
  }
  assert.deepEqual(
    (await all()).map(({ at, count }) => [at, count]),
    [[Date.UTC(2026, 0, 31, 12), 12]],
  );
  world.now += HOUR;
  processes[0]?.counted('token.machine_issued', 'c1');
  await processes[0]?.flush();
  assert.deepEqual(
    (await all()).map(({ count }) => count),
    [12, 1],
  );
});

test('attack: ten thousand kinds of refusal in a minute become sixty-one counters', async () => {
  const { open, all, world } = createWorld();
  const log = open();
  for (let index = 0; index < 10_000; index += 1) {
    log.refused({ clientId: `c${index}`, endpoint: 'token', error: 'invalid_grant' });
    if (index % 1000 === 0) await log.flush();
  }
  await log.flush();
  const written = await all();
  assert.equal(written.length, 61);
  assert.equal(
    written.reduce((sum, { count }) => sum + count, 0),
    10_000,
  );
  const rest = written.find(({ reason }) => reason === 'other');
  assert.deepEqual([rest?.count, rest?.clientId], [9940, undefined]);
  world.now += 60_000;
  log.refused({ clientId: 'c1', endpoint: 'token', error: 'invalid_grant' });
  await log.flush();
  assert.equal((await all()).length, 62);
});

test('token log: a store outage is written afterwards, once; beyond the bound it drops and logs', async () => {
  const { open, all, broken, logged } = createWorld();
  const log = open();
  broken.add('token_events');
  for (let index = 0; index < 300; index += 1) log.issued(issue('c1'));
  log.counted('token.refreshed', 'c1');
  await log.flush();
  log.counted('token.refreshed', 'c1');
  await log.flush();
  assert.ok(logged.some((line) => line.includes('token events not written yet')));
  broken.clear();
  await log.flush();
  const written = await all();
  assert.equal(written.filter(({ event }) => event === 'token.issued').length, 300);
  assert.deepEqual(
    written.flatMap(({ event, count }) => (event === 'token.refreshed' ? [count] : [])),
    [2],
  );
  broken.add('token_events');
  for (let index = 0; index < 10_007; index += 1) log.issued(issue('c2'));
  await log.flush();
  assert.ok(logged.some((line) => line.includes('"dropped":7')));
});

test('token log: close writes what is pending; retention removes only older entries', async () => {
  const { open, all, world } = createWorld();
  const log = open();
  log.issued(issue('old'));
  await log.flush();
  world.now += 2 * HOUR;
  log.issued(issue('new'));
  await log.close();
  assert.equal((await all()).length, 2);
  assert.equal(await log.forget(world.now - HOUR, 100), 1);
  assert.deepEqual(
    (await all()).map(({ clientId }) => clientId),
    ['new'],
  );
});
