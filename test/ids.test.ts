// Checks that ids which sort by time do so: within a millisecond, across them, and when the clock is set back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTimeSortedIds } from '../src/ids.ts';

test('ids: version 7 UUIDs, each greater than all before, containing the time', () => {
  const time = { now: 1_800_000_000_000 };
  const next = createTimeSortedIds(() => time.now);
  const ids: string[] = [];
  for (let n = 0; n < 20_000; n += 1) {
    if (n % 5000 === 0) time.now += n % 10_000 === 0 ? 7 : -50;
    ids.push(next());
  }
  assert.ok(
    ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  );
  assert.ok(ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? '')));
  assert.equal(Number.parseInt((ids[0] ?? '').replaceAll('-', '').slice(0, 12), 16), 1_800_000_000_007);
});

test('ids: two generators at the same moment do not collide', () => {
  const [one, two] = [createTimeSortedIds(() => 5), createTimeSortedIds(() => 5)];
  const ids = Array.from({ length: 1000 }, () => [one(), two()]).flat();
  assert.equal(new Set(ids).size, 2000);
});
