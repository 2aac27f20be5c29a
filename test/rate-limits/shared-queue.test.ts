// The queue in which password hashes wait (R139): networks take turns, the newest of the longest line is refused, and nobody
// waits for longer than clients do.
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedQueue } from '../../src/rate-limits/bounded-queue.ts';

const busy = { code: 'server.busy', retryAfterSeconds: 1 };

/** One runs; whatever comes then waits until `go`. */
function blocked(limits: { maxQueued: number; maxWaitMs?: number }) {
  const queue = createSharedQueue({ maxInFlight: 1, maxWaitMs: 60_000, ...limits });
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = queue.run(['first'], () => promise);
  const done: string[] = [];
  const add = (key: string, name: string) => queue.run(key.split(' '), async () => void done.push(name));
  return {
    queue,
    done,
    add,
    async go() {
      resolve();
      await first;
    },
  };
}

test('shared queue: lines take turns, whatever their length', async () => {
  const { add, done, go } = blocked({ maxQueued: 9 });
  const waiting = [
    add('a', 'a1'),
    add('a', 'a2'),
    add('a', 'a3'),
    add('b', 'b1'),
    add('c', 'c1'),
    add('b', 'b2'),
  ];
  await go();
  await Promise.all(waiting);
  deepEqual(done, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('shared queue: of a wide network all lines together have one turn', async () => {
  const { add, done, go } = blocked({ maxQueued: 9 });
  const waiting = [
    add('48 56 64a', 'a1'),
    add('48 56 64a', 'a2'),
    add('48 56 64b', 'b1'),
    add('48 other 64c', 'c1'),
    add('elsewhere x y', 'e1'),
    add('elsewhere x y', 'e2'),
    add('elsewhere x y', 'e3'),
  ];
  await go();
  await Promise.all(waiting);
  deepEqual(done, ['a1', 'e1', 'c1', 'e2', 'b1', 'e3', 'a2']);
});

test('shared queue: when full, the network with most waiting gives way, not the longest line', async () => {
  const { add, done, go } = blocked({ maxQueued: 5 });
  const crowd = ['a', 'b', 'c'].map((line) => add(`48 56 ${line}`, line));
  const own = [add('x y z', 'z1'), add('x y z', 'z2')];
  const other = add('i j k', 'k1');
  await rejects(crowd[0] ?? other, busy);
  await rejects(add('48 56 d', 'd'), busy);
  await go();
  await Promise.all([...crowd.slice(1), ...own, other]);
  deepEqual(done, ['b', 'z1', 'k1', 'c', 'z2']);
});

test('shared queue: when full, the newest of the longest line gives way, and a flood to itself', async () => {
  const { add, done, go } = blocked({ maxQueued: 3 });
  const flood = [add('a', 'a1'), add('a', 'a2'), add('a', 'a3')];
  await rejects(add('a', 'a4'), busy);
  const other = add('b', 'b1');
  await rejects(flood[2] ?? other, busy);
  const more = add('b', 'b2');
  // Two of each would be the same: then the newcomer is the newest.
  await rejects(flood[1] ?? more, busy);
  await rejects(add('b', 'b3'), busy);
  await go();
  await Promise.all([flood[0], other, more]);
  deepEqual(done, ['a1', 'b1', 'b2']);
});

test('shared queue: who waited too long is refused, and leaves no gap', async () => {
  const { add, done, go } = blocked({ maxQueued: 2, maxWaitMs: 30 });
  await Promise.all([rejects(add('a', 'a1'), busy), rejects(add('b', 'b1'), busy)]);
  const late = add('a', 'a2');
  await go();
  await late;
  deepEqual(done, ['a2']);
});

test('shared queue: a task that fails passes its slot on', async () => {
  const queue = createSharedQueue({ maxInFlight: 1, maxQueued: 2, maxWaitMs: 1000 });
  const failing = queue.run(['a'], async () => {
    throw new Error('no');
  });
  const next = queue.run(['b'], async () => 2);
  await rejects(failing, /no/);
  equal(await next, 2);
  equal(await queue.run(['c'], async () => 3), 3);
});
