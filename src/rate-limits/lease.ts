// The points that this process has taken from a shared limit and not spent yet. Points of large limits are taken in small
// portions, and returned points are reused, so that ordinary traffic causes no write. Portions count as spent for other
// processes, so a shared limit becomes stricter by at most the unspent portions, never looser.
import { type Clock, isAhead } from '../clock.ts';
import type { Taken } from './limiter.ts';

export interface Charge {
  /** The attempt turned out not to be what the limit counts. */
  giveBack(): void;
}

/** `isFirst`: the first refusal of this key in this window and process. */
export type PointLease =
  | { readonly charge: Charge }
  | { readonly refusedUntil: number; readonly isFirst: boolean };

export interface PointLeases {
  /**
   * One point.
   * @param take requests points from the shared limit
   * @returns a charge, or until when (epoch ms) there are no points
   */
  takeOne(key: string, limit: number, take: (points: number) => Promise<Taken>): Promise<PointLease>;
}

interface Pool {
  readonly limit: number;
  left: number;
  /** End of the window that the points belong to, and when this process learnt it. */
  until: number;
  learntAt: number;
  /** Until then the shared limit has no more points. */
  spentUntil: number;
  hasRefused: boolean;
  waiting: number;
  fetching: Promise<void> | undefined;
}

/** A portion is this fraction of the limit: small limits are exact. */
const PORTIONS = 50;
/** After the store was unavailable, ask the shared limit again after this time. */
const INSURED_MS = 1000;
const DEFAULT_MAX_POOLS = 20_000;

export function createPointLeases({
  clock,
  maxPools = DEFAULT_MAX_POOLS,
}: {
  clock: Clock;
  maxPools?: number;
}): PointLeases {
  const pools = new Map<string, Pool>();

  function poolOf(key: string, limit: number, now: number): Pool {
    const known = pools.get(key);
    const isLive = (one: Pool): boolean => isAhead(one.until, now, one.until - one.learntAt);
    if (known !== undefined && known.limit === limit && (known.fetching || isLive(known))) return known;
    const fresh: Pool = {
      limit,
      left: 0,
      until: now,
      learntAt: now,
      spentUntil: 0,
      hasRefused: false,
      waiting: 0,
      fetching: undefined,
    };
    pools.delete(key);
    pools.set(key, fresh);
    // Evicting the oldest pool loses its points: stricter for that key, but memory stays bounded (R138).
    const [oldest] = pools.keys();
    if (pools.size > maxPools && oldest !== undefined) pools.delete(oldest);
    return fresh;
  }

  function settle(pool: Pool, points: number, { isGranted, isInsured, until }: Taken): void {
    // Points of an earlier window have expired.
    if (pool.until !== until) pool.left = 0;
    pool.until = until;
    pool.learntAt = clock();
    if (isGranted) pool.left += points;
    else pool.spentUntil = isInsured ? Math.min(until, clock() + INSURED_MS) : until;
  }

  async function fetch(pool: Pool, take: (points: number) => Promise<Taken>): Promise<void> {
    const portion = Math.max(1, Math.floor(pool.limit / PORTIONS), Math.min(pool.waiting, pool.limit));
    const taken = await take(portion);
    if (taken.isGranted || portion === 1) settle(pool, portion, taken);
    // Less than a portion may be left: continue point by point.
    else settle(pool, 1, await take(1));
  }

  return {
    async takeOne(key, limit, take) {
      for (;;) {
        const now = clock();
        const pool = poolOf(key, limit, now);
        if (pool.left > 0 && pool.until > now) {
          pool.left -= 1;
          return { charge: chargeOf(pool) };
        }
        if (pool.fetching === undefined && pool.spentUntil > now) return refuse(pool);
        pool.waiting += 1;
        try {
          pool.fetching ??= fetch(pool, take).finally(() => {
            pool.fetching = undefined;
          });
          await pool.fetching;
        } finally {
          pool.waiting -= 1;
        }
      }
    },
  };
}

function refuse(pool: Pool): PointLease {
  const isFirst = !pool.hasRefused;
  pool.hasRefused = true;
  return { refusedUntil: pool.until, isFirst };
}

function chargeOf(pool: Pool): Charge {
  let isGivenBack = false;
  return {
    giveBack() {
      if (!isGivenBack) pool.left += 1;
      isGivenBack = true;
    },
  };
}
