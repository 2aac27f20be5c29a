// Owns the points that this process has taken from a shared limit and not spent yet. Large limits are taken in small
// portions, and what is given back can be spent again, so that ordinary traffic costs no write. Portions count as spent
// for everybody else: sharing makes a limit stricter by at most the portions that lie about, never looser.
import type { Clock } from '../clock.ts';
import type { Taken } from './limiter.ts';

export interface Charge {
  /** What was counted turned out not to be what the limit is for. */
  giveBack(): void;
}

/** `isFirst`: nobody here was refused for this key in this window before. */
export type PointLease =
  | { readonly charge: Charge }
  | { readonly refusedUntil: number; readonly isFirst: boolean };

export interface PointLeases {
  /**
   * One point.
   * @param take asks the shared limit for points
   * @returns a charge, or until when (epoch ms) there is none
   */
  takeOne(key: string, limit: number, take: (points: number) => Promise<Taken>): Promise<PointLease>;
}

interface Pool {
  readonly limit: number;
  left: number;
  /** Of the window that the points belong to. */
  until: number;
  /** The shared limit has no more before that. */
  spentUntil: number;
  hasRefused: boolean;
  waiting: number;
  fetching: Promise<void> | undefined;
}

/** A portion is this part of the limit: small limits are exact. */
const PORTIONS = 50;
/** When the store was away, ask it again after that. */
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
    if (known !== undefined && known.limit === limit && (known.fetching || known.until > now)) return known;
    const fresh: Pool = {
      limit,
      left: 0,
      until: now,
      spentUntil: now,
      hasRefused: false,
      waiting: 0,
      fetching: undefined,
    };
    pools.delete(key);
    pools.set(key, fresh);
    // The oldest goes, with the points in it: stricter for that one, and memory stays bounded (R138).
    const [oldest] = pools.keys();
    if (pools.size > maxPools && oldest !== undefined) pools.delete(oldest);
    return fresh;
  }

  function settle(pool: Pool, points: number, { isGranted, isInsured, until }: Taken): void {
    // Points of an earlier window are gone with it.
    if (pool.until !== until) pool.left = 0;
    pool.until = until;
    if (isGranted) pool.left += points;
    else pool.spentUntil = isInsured ? Math.min(until, clock() + INSURED_MS) : until;
  }

  async function fetch(pool: Pool, take: (points: number) => Promise<Taken>): Promise<void> {
    const portion = Math.max(1, Math.floor(pool.limit / PORTIONS), Math.min(pool.waiting, pool.limit));
    const taken = await take(portion);
    if (taken.isGranted || portion === 1) settle(pool, portion, taken);
    // Less than a portion may be left: then it goes point by point.
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
