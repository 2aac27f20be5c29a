// Decides which process runs a job now: one document per job in the store. During a run it names the holder and expires
// soon, so that a crashed holder blocks no one; afterwards it names no holder and expires when the job is due again.
import type { Clock } from '../clock.ts';
import type { LeaseRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection, type Stored, VersionConflict } from '../store/port.ts';

/** Longer than any pause of a process or clock difference that should not end a run. */
export const LEASE_MS = 60_000;

const NO_HOLDER = '';

export interface Lease {
  /** @returns false when the lease was lost: another process may be running the job */
  renew(): Promise<boolean>;
  /** Ends the run; the job is due again at `dueAt` (epoch ms). */
  release(dueAt: number): Promise<void>;
}

/** The lease, or until when (epoch ms) there is no need to ask again. */
export type Attempt = { readonly lease: Lease } | { readonly notBefore: number };

export interface LeasesOptions {
  readonly leases: EphemeralCollection<LeaseRecord>;
  readonly clock: Clock;
  /** Unique per process. */
  readonly holder: string;
}

/** @returns undefined when another process was faster */
async function undefinedOnConflict<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof VersionConflict || error instanceof AlreadyExists) return undefined;
    throw error;
  }
}

export function createJobLeases({ leases, clock, holder }: LeasesOptions) {
  const leaseOf = (name: string, taken: Stored<LeaseRecord>): Lease => {
    let { version } = taken;
    const write = async (next: LeaseRecord, expiresAt: number): Promise<boolean> => {
      const written = await undefinedOnConflict(() => leases.replace(name, version, next, { expiresAt }));
      if (written !== undefined) version = written.version;
      return written !== undefined;
    };
    return {
      renew: () => write({ holder }, clock() + LEASE_MS),
      async release(dueAt) {
        await write({ holder: NO_HOLDER }, dueAt);
      },
    };
  };

  const take = (
    name: string,
    found: Stored<LeaseRecord> | undefined,
  ): Promise<Stored<LeaseRecord> | undefined> => {
    const options = { expiresAt: clock() + LEASE_MS };
    return undefinedOnConflict(() =>
      found === undefined
        ? leases.insert(name, { holder }, options)
        : leases.replace(name, found.version, { holder }, options),
    );
  };

  return {
    /** @param intervalMs the job's interval as it is now */
    async acquire(name: string, intervalMs: number): Promise<Attempt> {
      const found = await leases.find(name);
      const now = clock();
      const expiresAt = found?.expiresAt ?? now;
      // A lease of this process was taken, or not released, because of a store error: no run holds it, so it counts as waiting.
      const isRunningElsewhere =
        found !== undefined && found.value.holder !== NO_HOLDER && found.value.holder !== holder;
      // Expires later than the interval allows: the setting was shortened since, so do not wait for it.
      const isWaiting = found !== undefined && !isRunningElsewhere && expiresAt - now <= intervalMs;
      if (isWaiting) return { notBefore: expiresAt };
      // Not for the whole lease: the run ends long before, and its process may have stopped by the time the job is due again.
      const retryAt = now + Math.min(intervalMs, LEASE_MS);
      if (isRunningElsewhere) return { notBefore: Math.min(expiresAt, retryAt) };
      const taken = await take(name, found);
      return taken === undefined ? { notBefore: retryAt } : { lease: leaseOf(name, taken) };
    },
  };
}
