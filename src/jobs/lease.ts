// Owns who may run a job now, over all processes: a document per job in the store. While somebody runs it, the document
// names the holder and expires soon, so that a dead holder blocks nobody; afterwards it names nobody and expires when
// the job is due again.
import type { Clock } from '../clock.ts';
import type { LeaseRecord } from '../store/collections.ts';
import { AlreadyExists, type EphemeralCollection, type Stored, VersionConflict } from '../store/port.ts';

/** Longer than any pause of a process or difference between clocks that should not end a run. */
export const LEASE_MS = 60_000;

const NOBODY = '';

export interface Lease {
  /** @returns false when the lease was lost: somebody else may be running by now */
  renew(): Promise<boolean>;
  /** Ends the run; the job is due again at `dueAt` (epoch ms). */
  release(dueAt: number): Promise<void>;
}

/** The lease, or until when (epoch ms) asking again is pointless. */
export type Attempt = { readonly lease: Lease } | { readonly restingUntil: number };

export interface LeasesOptions {
  readonly leases: EphemeralCollection<LeaseRecord>;
  readonly clock: Clock;
  /** Names this process among all. */
  readonly holder: string;
}

/** @returns undefined when another process was faster */
async function unlessLost<T>(act: () => Promise<T>): Promise<T | undefined> {
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
      const written = await unlessLost(() => leases.replace(name, version, next, { expiresAt }));
      if (written !== undefined) version = written.version;
      return written !== undefined;
    };
    return {
      renew: () => write({ holder }, clock() + LEASE_MS),
      async release(dueAt) {
        await write({ holder: NOBODY }, dueAt);
      },
    };
  };

  const take = (
    name: string,
    found: Stored<LeaseRecord> | undefined,
  ): Promise<Stored<LeaseRecord> | undefined> => {
    const options = { expiresAt: clock() + LEASE_MS };
    return unlessLost(() =>
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
      const freeAt = found?.expiresAt ?? now;
      // One of ours was taken, or not given back, while the store could not say so: nobody runs under it, so it is a rest.
      const isRunningElsewhere =
        found !== undefined && found.value.holder !== NOBODY && found.value.holder !== holder;
      // A rest longer than the interval was begun under a longer one: the setting has changed since.
      const isResting = found !== undefined && !isRunningElsewhere && freeAt - now <= intervalMs;
      if (isResting) return { restingUntil: freeAt };
      // Not for the whole lease: the run is over long before, and who ran it may have stopped by the time it is due again.
      const later = now + Math.min(intervalMs, LEASE_MS);
      if (isRunningElsewhere) return { restingUntil: Math.min(freeAt, later) };
      const taken = await take(name, found);
      return taken === undefined ? { restingUntil: later } : { lease: leaseOf(name, taken) };
    },
  };
}
