// How long refusing a password takes where hashes of other systems are stored. Checking those takes longer than
// checking ours, so the time would reveal which accounts exist. Every refusal therefore waits
// (without work) until the usual time of the slowest stored kind has passed. The store keeps which kind that is; each
// process measures its time once, and again at every check of such a hash.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../clock.ts';
import type { FactRecord } from '../../store/collections.ts';
import { AlreadyExists, type Collection, VersionConflict } from '../../store/port.ts';
import { isForeignHash } from './foreign-hash.ts';
import { estimatedMs, sampleOf } from './hash-work.ts';

export interface RefusalTime {
  /** How long refusing this password takes in total; 0: no additional wait. Never waits for the store. */
  msFor(password: string): number;
  /** Called when a hash is imported. Stores it if it is the slowest so far. */
  note(hash: string): Promise<void>;
  /**
   * The same for a hash that was checked at a sign-in, which does not wait for the store.
   * @param tookMs how long checking it took
   */
  met(hash: string, tookMs: number): void;
}

/** Whether checking it takes another time than checking our own hashes. */
const isSlow = (hash: string, ownMs: number): boolean => isForeignHash(hash) || estimatedMs(hash) > ownMs;

interface Deps {
  /** Estimated time of one of our own hashes. */
  readonly ownMs: number;
  readonly facts: Collection<FactRecord>;
  readonly clock: Clock;
  /** Checks a password against a hash, with all the work of a refusal. */
  readonly verify: (hash: string, password: string) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

const FACT = 'slowest_password_hash';
/** How long another process may not know of a slower kind. */
const REFRESH_MS = 30_000;
/** Covers the variation between two checks. */
const MARGIN = 1.25;
/** The weight of the latest check in the average. */
const NEWEST = 0.2;
const MARGIN_MS = 10;

export function createRefusalTime({ facts, clock, ownMs, verify, onError }: Deps): RefusalTime {
  let slowest: { readonly sample: string; readonly ms: number } | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function take(sample: string): Promise<void> {
    if (slowest?.sample === sample) return;
    // The estimate until it has been measured.
    slowest = { sample, ms: estimatedMs(sample) };
    const startedAt = performance.now();
    await verify(sample, 'x');
    const ms = performance.now() - startedAt;
    if (slowest.sample === sample) slowest = { sample, ms };
  }

  async function refresh(): Promise<void> {
    const fact = await facts.find(FACT);
    if (fact !== undefined) await take(fact.value.value);
  }

  async function write(sample: string): Promise<void> {
    const value = { at: clock(), value: sample };
    try {
      const fact = await facts.find(FACT);
      if (fact === undefined) await facts.insert(FACT, value);
      else if (estimatedMs(fact.value.value) < estimatedMs(sample))
        await facts.replace(FACT, fact.version, value);
    } catch (error) {
      // Another process wrote first, perhaps a still slower kind: the next check of this kind tries again.
      if (!(error instanceof AlreadyExists) && !(error instanceof VersionConflict)) throw error;
    }
  }

  async function note(hash: string, tookMs?: number): Promise<void> {
    if (!isSlow(hash, ownMs)) return;
    const sample = sampleOf(hash);
    if (slowest?.sample === sample && tookMs !== undefined) {
      // A moving average, because the time depends on the load of the machine.
      slowest = { sample, ms: slowest.ms * (1 - NEWEST) + tookMs * NEWEST };
    }
    if (slowest !== undefined && estimatedMs(sample) <= estimatedMs(slowest.sample)) return;
    await write(sample);
    take(sample).catch(onError);
  }

  return {
    msFor(password) {
      if (Math.abs(clock() - readAt) >= REFRESH_MS) {
        readAt = clock();
        refresh().catch(onError);
      }
      if (slowest === undefined) return 0;
      // A password that is not normalized is checked twice against such hashes (foreign-hash.ts).
      const tries = password.normalize('NFKC') === password ? 1 : 2;
      return (slowest.ms * MARGIN + MARGIN_MS) * tries;
    },
    note: (hash) => note(hash),
    met: (hash, tookMs) => void note(hash, tookMs).catch(onError),
  };
}
