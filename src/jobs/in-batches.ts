// Owns removing much in small steps, so that requests are let through in between.
import { setImmediate as letRequestsThrough } from 'node:timers/promises';

export const BATCH = 500;

/**
 * Repeats a removal until it comes up short, with a turn of the event loop after each.
 * @param remove removes at most `limit`, @returns how many
 */
export async function inBatches(
  remove: (limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let total = 0;
  while (!signal.aborted) {
    const removed = await remove(BATCH);
    total += removed;
    if (removed < BATCH) break;
    await letRequestsThrough();
  }
  return total;
}
