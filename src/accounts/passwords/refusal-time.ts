// How long a refused password is answered after, where hashes of other systems are stored: their checks take longer
// than ours, and so the time would tell who has an account (checklist R085). Refusals wait, by time and not by work, until
// the slowest stored kind's usual time is over. Which kind that is, one fact in the store says; what it takes here is
// measured once per process, and again whenever one is checked.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../clock.ts';
import type { FactRecord } from '../../store/collections.ts';
import { AlreadyExists, type Collection, VersionConflict } from '../../store/port.ts';
import { isForeignHash } from './foreign-hash.ts';
import { estimatedMs, sampleOf } from './hash-work.ts';

export interface RefusalTime {
  /** How long a refusal of this password takes in all; 0: no longer than it takes. Never waits for the store. */
  msFor(password: string): number;
  /**
   * A hash was imported, or was met at a sign-in. Written down when it is the slowest so far.
   * @param tookMs to check it
   */
  note(hash: string, tookMs?: number): Promise<void>;
}

/** Whose check takes another time than that of a hash of ours. */
const isSlow = (hash: string, ownMs: number): boolean => isForeignHash(hash) || estimatedMs(hash) > ownMs;

interface Deps {
  /** Estimated, of a hash of ours. */
  readonly ownMs: number;
  readonly facts: Collection<FactRecord>;
  readonly clock: Clock;
  /** Checks a password against a hash, with all the work that a refusal has. */
  readonly verify: (hash: string, password: string) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

const FACT = 'slowest_password_hash';
/** How late another process learns of a slower kind. */
const REFRESH_MS = 30_000;
/** What one check strays from another. */
const MARGIN = 1.25;
/** How much the latest check counts. */
const NEWEST = 0.2;
const MARGIN_MS = 10;

export function createRefusalTime({ facts, clock, ownMs, verify, onError }: Deps): RefusalTime {
  let slowest: { readonly sample: string; readonly ms: number } | undefined;
  let readAt = Number.NEGATIVE_INFINITY;

  async function take(sample: string): Promise<void> {
    if (slowest?.sample === sample) return;
    // The estimate until it is measured.
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
      // Another process was faster, perhaps with a slower one: whoever meets this kind next tries again.
      if (!(error instanceof AlreadyExists) && !(error instanceof VersionConflict)) throw error;
    }
  }

  return {
    msFor(password) {
      if (Math.abs(clock() - readAt) >= REFRESH_MS) {
        readAt = clock();
        refresh().catch(onError);
      }
      if (slowest === undefined) return 0;
      // A password that is not normalized is tried twice against such hashes (foreign-hash.ts).
      const tries = password.normalize('NFKC') === password ? 1 : 2;
      return (slowest.ms * MARGIN + MARGIN_MS) * tries;
    },
    async note(hash, tookMs) {
      if (!isSlow(hash, ownMs)) return;
      const sample = sampleOf(hash);
      if (slowest?.sample === sample && tookMs !== undefined) {
        // What it takes follows the machine: slower under load, and back again.
        slowest = { sample, ms: slowest.ms * (1 - NEWEST) + tookMs * NEWEST };
      }
      if (slowest !== undefined && estimatedMs(sample) <= estimatedMs(slowest.sample)) return;
      await write(sample);
      take(sample).catch(onError);
    },
  };
}
