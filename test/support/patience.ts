// Time limits on a busy machine: exact where nothing else runs, and extended by how much slower the machine is now.
import { cpus, loadavg } from 'node:os';

const SPIN_MS = 15;
const MOST = 20;

/** How much longer than alone a moment of work takes here and now: 1 where nothing else runs. */
export function slowness(): number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let used = 0;
  while (used < SPIN_MS) {
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1000;
    if (performance.now() - startedAt > SPIN_MS * MOST) break;
  }
  const waited = (performance.now() - startedAt) / Math.max(used, 1);
  const queued = (loadavg()[0] ?? 0) / cpus().length;
  return Math.min(MOST, Math.max(1, waited, queued));
}

/** @param limitMs what it may take where nothing else runs */
export const isWithin = (ms: number, limitMs: number): boolean => ms <= limitMs || ms <= limitMs * slowness();
