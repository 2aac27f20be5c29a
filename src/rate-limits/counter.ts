// Counts the points of a rate limit: in the store, for all processes together, or in this process while the store is
// unavailable.
import { type Clock, isAhead } from '../clock.ts';
import type { RateRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection, VersionConflict } from '../store/port.ts';

export interface Counted {
  /** Including the points just requested; more than the limit means they were refused. */
  readonly points: number;
  /** When the window ends, epoch milliseconds. */
  readonly expiresAt: number;
}

export interface RateCounter {
  /**
   * Adds all of the points, or none when the sum would exceed the limit: refused attempts are not counted, so that a flood
   * causes no writes and does not prolong the window. The window starts with its first point.
   */
  add(key: string, points: number, limit: number, windowMs: number): Promise<Counted>;
}

// Each lost round means that another process was faster, so the loop ends; the bound only turns a bug into an error.
const MAX_ROUNDS = 1000;

const isLost = (error: unknown): boolean =>
  error instanceof VersionConflict || error instanceof AlreadyExists;

/** Counts by compare-and-set, so that no two processes spend the same point. */
export function createStoredCounter({
  collection,
  clock,
}: {
  collection: EphemeralCollection<RateRecord>;
  clock: Clock;
}): RateCounter {
  /** @returns undefined when another process was faster */
  async function tryAdd(
    key: string,
    points: number,
    limit: number,
    windowMs: number,
  ): Promise<Counted | undefined> {
    const found = await collection.find(key);
    if (found === undefined) return undefined;
    const now = clock();
    if (found.expiresAt !== undefined && !isAhead(found.expiresAt, now, windowMs)) {
      const expiresAt = now + windowMs;
      await collection.replace(key, found.version, { points }, { expiresAt });
      return { points, expiresAt };
    }
    const counted = { points: found.value.points + points, expiresAt: found.expiresAt ?? now };
    if (counted.points <= limit) await collection.replace(key, found.version, { points: counted.points });
    return counted;
  }

  async function tryStart(key: string, points: number, windowMs: number): Promise<Counted> {
    const expiresAt = clock() + windowMs;
    await collection.insert(key, { points }, { expiresAt });
    return { points, expiresAt };
  }

  return {
    async add(key, points, limit, windowMs) {
      if (points > limit) return { points, expiresAt: clock() + windowMs };
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        try {
          // Most keys are new: trying to start a window first saves a read.
          const counted =
            round % 2 === 0
              ? await tryStart(key, points, windowMs)
              : await tryAdd(key, points, limit, windowMs);
          if (counted !== undefined) return counted;
        } catch (error) {
          if (!isLost(error)) throw error;
        }
      }
      throw new Error(`rate limit ${key}: no progress after ${MAX_ROUNDS} rounds`);
    },
  };
}

const DEFAULT_MAX_KEYS = 10_000;
const SWEEP_MS = 1000;

/**
 * Counts in this process. When there are too many keys, new ones share one count: existing keys keep their own, and no
 * caller is unlimited.
 */
export function createLocalCounter({
  clock,
  maxKeys = DEFAULT_MAX_KEYS,
}: {
  clock: Clock;
  maxKeys?: number;
}): RateCounter {
  const counts = new Map<string, Counted>();
  let sweptAt = 0;

  function makeRoom(now: number): void {
    if (Math.abs(now - sweptAt) < SWEEP_MS) return;
    sweptAt = now;
    for (const [key, { expiresAt }] of counts) if (expiresAt <= now) counts.delete(key);
  }

  const liveOf = (key: string, now: number, windowMs: number): Counted | undefined => {
    const found = counts.get(key);
    return found !== undefined && isAhead(found.expiresAt, now, windowMs) ? found : undefined;
  };

  return {
    async add(key, points, limit, windowMs) {
      const now = clock();
      if (!counts.has(key) && counts.size >= maxKeys) makeRoom(now);
      const isCrowded = !counts.has(key) && counts.size >= maxKeys;
      const own = isCrowded ? `${key.slice(0, key.indexOf(':'))}:*` : key;
      const found = liveOf(own, now, windowMs) ?? { points: 0, expiresAt: now + windowMs };
      const counted = { ...found, points: found.points + points };
      if (counted.points <= limit) counts.set(own, counted);
      return counted;
    },
  };
}
