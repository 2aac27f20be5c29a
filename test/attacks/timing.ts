// Evaluates whether two kinds of requests take the same time, by the ranks of interleaved attempts and by their medians.
//
// No distinguisher by time alone may do better than an area under the ROC curve of 0.5 + 4 standard errors + 0.02 (0.73 at
// 60 tries, 0.64 at 200, 0.56 at 2,000). And the medians may differ by the share that the test gives, unless ranks show that
// it is chance (an area within 2 standard errors of 0.5): on a shared machine medians jump between the humps of the
// scheduler. What strays is measured again with three times as many tries, by limits that are narrower for it: a real
// difference repeats, and shows more surely.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { areaUnderCurve, quantile } from './statistics.ts';

const TIMES_MORE = 3;

export interface Timing {
  /** Of each kind, the one that the others are compared with first. */
  readonly kinds: readonly string[];
  readonly tries: number;
  /** Of the median. */
  readonly maxShift: number;
  readonly maxShiftMs?: number;
  /** @returns for each kind as many times as were asked for, taken in random order */
  measure(tries: number, seed: number): Promise<Readonly<Record<string, readonly number[]>>>;
}

export async function assertSameTime(t: TestContext, timing: Timing): Promise<void> {
  const first = await strays(t, timing, timing.tries, 1);
  if (first.size === 0) return;
  const again = await strays(t, timing, timing.tries * TIMES_MORE, 2);
  assert.deepEqual(
    [...again].filter(([kind]) => first.has(kind)).map(([, finding]) => finding),
    [],
  );
}

/** @returns what was found of those kinds that take another time */
async function strays(
  t: TestContext,
  { kinds, maxShift, maxShiftMs = 0, measure }: Timing,
  tries: number,
  seed: number,
): Promise<Map<string, string>> {
  const times = await measure(tries, seed);
  const [known = '', ...others] = kinds;
  const base = times[known] ?? [];
  // Standard error of the area when there is nothing to tell: sqrt((2n + 1) / (12 n²)).
  const standardError = Math.sqrt((2 * tries + 1) / (12 * tries * tries));
  const maxArea = 0.5 + 4 * standardError + 0.02;
  const found = new Map<string, string>();
  for (const kind of others) {
    const values = times[kind] ?? [];
    assert.deepEqual([base.length, values.length], [tries, tries]);
    const median = quantile(base, 0.5);
    const shift = quantile(values, 0.5) - median;
    const area = areaUnderCurve(base, values);
    const told =
      `${kind}: median ${shift.toFixed(3)} ms from ${median.toFixed(3)} ms, area ${area.toFixed(3)}, ` +
      `allowed ${maxArea.toFixed(3)}`;
    t.diagnostic(told);
    const isChance = area <= 0.5 + 2 * standardError;
    const isSmall = Math.abs(shift) <= Math.max(median * maxShift, maxShiftMs);
    if (!(isSmall || isChance) || area > maxArea) found.set(kind, told);
  }
  return found;
}
