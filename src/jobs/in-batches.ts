// Removes many documents in small steps: each keeps the event loop busy for about ten milliseconds, then pauses for half as
// long, so that requests run in between.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

// Smaller steps would spend their time on commits and not keep up with what expires.
const MIN_SIZE = 50;
const MAX_SIZE = 500;
const STEP_MS = 10;
const MAX_PAUSE_MS = 50;

/** @returns the size of the next step, given how long the last one kept the event loop busy */
const sizeAfter = (size: number, busyMs: number): number => {
  const ideal = Math.floor((size * STEP_MS) / Math.max(busyMs, 0.1));
  return Math.min(Math.max(ideal, MIN_SIZE), size * 2, MAX_SIZE);
};

/**
 * Repeats a removal until it removes fewer than it could.
 * @param remove removes at most `limit`, @returns how many it removed
 */
export async function inBatches(
  remove: (limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  for (let size = MIN_SIZE; !signal.aborted; ) {
    // Event loop utilization, not elapsed time: waiting for a remote server delays no request.
    const before = performance.eventLoopUtilization();
    const removed = await remove(size);
    total += removed;
    if (removed < size) break;
    const { active } = performance.eventLoopUtilization(before);
    size = sizeAfter(size, active);
    await sleep(Math.min(active / 2, MAX_PAUSE_MS));
  }
  return total;
}
