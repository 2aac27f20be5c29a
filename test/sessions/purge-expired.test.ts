// The purge job removes everything expired, in small steps between which requests are served.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { type PurgeExpiredOptions, purgeExpired } from '../../src/sessions/purge-expired-job.ts';
import { accessTokens, interactions } from '../../src/store/protocol-collections.ts';
import { isWithin } from '../support/patience.ts';

const NOW = Date.UTC(2026, 0, 1);
const clock = (): number => NOW;
const signal = (): AbortSignal => new AbortController().signal;

const purge = (options: Partial<PurgeExpiredOptions>) =>
  purgeExpired({
    store: { sweep: () => Promise.resolve(0) },
    removeEndedSessions: () => Promise.resolve(0),
    retentionSeconds: () => 86_400,
    intervalSeconds: () => 300,
    clock,
    ...options,
  });

test('purge: expired documents are removed, live ones stay, and the counts say so', async () => {
  let now = NOW;
  const store = createMemoryStore({ clock: () => now });
  const tokens = store.ephemeral(accessTokens);
  for (let index = 0; index < 1_203; index += 1)
    await tokens.insert(`t${index}`, {}, { expiresAt: NOW + 1_000 });
  await store.ephemeral(interactions).insert('i', {}, { expiresAt: NOW + 1_000 });
  await tokens.insert('live', {}, { expiresAt: NOW + 1_000_000 });
  now += 1_000;
  const job = purge({ store });
  assert.deepEqual(await job.run(signal()), { expired_removed: 1_204, sessions_removed: 0 });
  assert.notEqual(await tokens.find('live'), undefined);
  assert.equal(await store.sweep(10), 0);
  await store.close();
});

test('purge: requests are served between batches', async () => {
  const order: string[] = [];
  let batches = 3;
  const sweep = (limit: number): Promise<number> => {
    order.push('batch');
    setImmediate(() => order.push('request'));
    batches -= 1;
    return Promise.resolve(batches > 0 ? limit : 1);
  };
  await purge({ store: { sweep } }).run(signal());
  assert.deepEqual(order, ['batch', 'request', 'batch', 'request', 'batch']);
});

test('purge: batch size adapts to how long the store blocks the event loop', async () => {
  /** @returns how long a step kept the loop, and how much it was asked for, once that had settled */
  const settled = async (work: (limit: number) => Promise<unknown>) => {
    const steps: { ms: number; limit: number }[] = [];
    const sweep = async (limit: number): Promise<number> => {
      const startedAt = performance.now();
      await work(limit);
      steps.push({ ms: performance.now() - startedAt, limit });
      return steps.length < 30 ? limit : 0;
    };
    await purge({ store: { sweep } }).run(signal());
    const [middle] = steps
      .slice(10)
      .sort((one, other) => one.limit - other.limit)
      .slice(10);
    assert.ok(middle);
    return middle;
  };
  // As SQLite does: 0.3 ms for each, on the event loop.
  const busy = await settled(async (limit) => {
    for (const end = performance.now() + limit * 0.3; performance.now() < end; );
  });
  assert.ok(isWithin(busy.ms, 20), `${busy.ms} ms`);
  // As a server does: it takes its time and leaves us ours.
  const away = await settled(() => sleep(5));
  assert.ok(away.limit >= 100, `${away.limit}`);
});

test('purge: ended sessions are removed after their retention, in batches', async () => {
  const asked: [number, number][] = [];
  let left = 750;
  const removeEndedSessions = (endedBefore: number, limit: number): Promise<number> => {
    asked.push([endedBefore, limit]);
    const removed = Math.min(left, limit);
    left -= removed;
    return Promise.resolve(removed);
  };
  const figures = await purge({ removeEndedSessions, retentionSeconds: () => 3_600 }).run(signal());
  assert.deepEqual(figures, { expired_removed: 0, sessions_removed: 750 });
  assert.ok(asked.length > 1);
  for (const [endedBefore, limit] of asked) {
    assert.equal(endedBefore, NOW - 3_600_000);
    assert.ok(limit <= 500);
  }
});

test('purge: told to stop, it stops after the current batch', async () => {
  const stopping = new AbortController();
  let batches = 0;
  let removed = 0;
  const sweep = (limit: number): Promise<number> => {
    batches += 1;
    removed += limit;
    if (batches === 2) stopping.abort();
    return Promise.resolve(limit);
  };
  const removeEndedSessions = (): Promise<number> => assert.fail('not when told to end');
  const figures = await purge({ store: { sweep }, removeEndedSessions }).run(stopping.signal);
  assert.equal(batches, 2);
  assert.equal(figures.expired_removed, removed);
});

test('purge: an error is passed to the scheduler', async () => {
  const sweep = (): Promise<number> => Promise.reject(new Error('store away'));
  await assert.rejects(purge({ store: { sweep } }).run(signal()), /store away/);
});
