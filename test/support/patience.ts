// Time limits on a slow or busy machine: what a limit tells apart is an answer from a wait that has no end, or a far one. It is
// extended by how much longer a fixed piece of work takes here and now than where the limits were set.
import { cpus, loadavg } from 'node:os';

const STEPS = 20_000_000;
const ALONE_MS = 22;
/** Even where nothing else runs now: it may have when the answer was late. */
const LEAST = 2;
const MOST = 30;

// Kept, or the engine would see that nobody needs it.
let state = 0;

function work(): void {
  for (let step = 0; step < STEPS; step += 1) state = Math.imul(state ^ step, 16_777_619);
}

/** How much longer than its limit something may take. */
export function slowness(): number {
  const startedAt = performance.now();
  work();
  const slow = (performance.now() - startedAt) / ALONE_MS;
  const queued = (loadavg()[0] ?? 0) / cpus().length;
  return Math.min(MOST, Math.max(LEAST, slow, queued));
}

/** @param limitMs what it may take where nothing else runs */
export const isWithin = (ms: number, limitMs: number): boolean => ms <= limitMs || ms <= limitMs * slowness();
