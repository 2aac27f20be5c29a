// Owns removing much in small steps, so that requests are served in between: a step takes the event loop for about ten
// milliseconds, however large the collection, and then leaves it alone for half as long.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

// Smaller ones would spend their time on the commit, and never catch up with what expires.
const SMALLEST = 50;
const LARGEST = 500;
const STEP_MS = 10;
const LONGEST_PAUSE_MS = 50;

/** @returns how many to remove next, after so many kept the event loop busy for so long */
const sizeAfter = (size: number, busyMs: number): number => {
  const fitting = Math.floor((size * STEP_MS) / Math.max(busyMs, 0.1));
  return Math.min(Math.max(fitting, SMALLEST), size * 2, LARGEST);
};

/**
 * Repeats a removal until it comes up short.
 * @param remove removes at most `limit`, @returns how many
 */
export async function inBatches(
  remove: (limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (let size = SMALLEST; !signal.aborted; ) {
    // Not the time that passed: a server at the other end of a wire may take long without keeping anybody waiting.
    const before = performance.eventLoopUtilization();
    const removed = await remove(size);
    total += removed;
    if (removed < size) break;
    const { active } = performance.eventLoopUtilization(before);
    size = sizeAfter(size, active);
    await sleep(Math.min(active / 2, LONGEST_PAUSE_MS));
  }
  return total;
}
