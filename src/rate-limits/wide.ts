// Ceilings of wider networks (key.ts). They are many times an address's own limit, so this process counts the points of each
// by itself and adds them to the shared count a few at a time: an attempt that gives its point back costs no store call. A
// ceiling is therefore looser than it says by at most these few points per process; an address's own limit is exact.
import { type Clock, isAhead } from '../clock.ts';
import type { PointLease } from './lease.ts';
import type { Taken } from './limiter.ts';

export interface WideCounts {
  /**
   * One point.
   * @param take adds points to the shared count
   */
  takeOne(
    key: string,
    limit: { readonly points: number; readonly windowMs: number },
    take: (points: number) => Promise<Taken>,
  ): Promise<PointLease>;
}

interface Count {
  readonly points: number;
  /** Not in the shared count yet; below zero: points in it were given back. */
  unreported: number;
  /** End of the window that they belong to. */
  readonly until: number;
  spentUntil: number;
  hasRefused: boolean;
}

/** This fraction of a ceiling is reported at once, but never a single point. */
const PORTIONS = 32;
const MIN_PORTION = 2;
/** After the store was unavailable, ask the shared count again after this time. */
const INSURED_MS = 1000;
const DEFAULT_MAX_COUNTS = 20_000;

export function createWideCounts({
  clock,
  maxCounts = DEFAULT_MAX_COUNTS,
}: {
  clock: Clock;
  maxCounts?: number;
}): WideCounts {
  const counts = new Map<string, Count>();

  function countOf(key: string, points: number, windowMs: number, now: number): Count {
    const known = counts.get(key);
    const isLive = known !== undefined && isAhead(known.until, now, windowMs);
    if (isLive && known.points === points) return known;
    const fresh = { points, unreported: 0, until: now + windowMs, spentUntil: 0, hasRefused: false };
    counts.delete(key);
    counts.set(key, fresh);
    const [oldest] = counts.keys();
    if (counts.size > maxCounts && oldest !== undefined) counts.delete(oldest);
    return fresh;
  }

  function refuse(count: Count): PointLease {
    const isFirst = !count.hasRefused;
    count.hasRefused = true;
    return { refusedUntil: count.spentUntil, isFirst };
  }

  return {
    async takeOne(key, { points, windowMs }, take) {
      const now = clock();
      const count = countOf(key, points, windowMs, now);
      if (count.spentUntil > now) return refuse(count);
      count.unreported += 1;
      const portion = Math.min(points, Math.max(MIN_PORTION, Math.floor(points / PORTIONS)));
      if (count.unreported >= portion) {
        const reported = count.unreported;
        count.unreported = 0;
        const { isGranted, isInsured, until } = await take(reported);
        if (!isGranted) {
          const after = clock();
          count.spentUntil = Math.min(until, after + (isInsured ? INSURED_MS : windowMs));
          return refuse(count);
        }
      }
      let isGivenBack = false;
      return {
        charge: {
          giveBack() {
            if (!isGivenBack) count.unreported -= 1;
            isGivenBack = true;
          },
        },
      };
    },
  };
}
