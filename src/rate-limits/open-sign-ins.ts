// Limits how many sign-ins in progress one network can have in the store at once, over all processes. Each
// takes one of the network's numbered places through a unique key in its own document, so a free place costs no further
// store call. Only after several random places were taken are all of the network's read, at most every ten seconds.
import { randomInt } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { secretDigest } from '../ids.ts';
import { AlreadyExists, type EphemeralCollection, VersionConflict } from '../store/port.ts';
import type { ProtocolPayload } from '../store/records.ts';
import { networkOf } from './key.ts';
import { endUntouched, isAbandoned, type Occupant, occupantOf, placeOf, slotOf } from './occupant.ts';

export interface OpenSignIns {
  /**
   * @param save writes the new document with this place; undefined: no limit applies
   * @throws AppError request.rate_limited when all places of the network are taken by sign-ins that are not abandoned
   */
  take<T>(address: string, save: (place: string | undefined) => Promise<T>): Promise<T>;
  /** A form of this interaction was submitted: it no longer counts as abandoned. */
  markInUse(uid: string): Promise<void>;
}

interface Deps {
  readonly collection: EphemeralCollection<ProtocolPayload>;
  readonly clock: Clock;
  /** Places per network; 0: no limit. */
  readonly limit: () => number;
}

/** The places of a network in use. */
interface Snapshot {
  readonly occupants: Map<number, Occupant>;
}

const RANDOM_ATTEMPTS = 4;
const SNAPSHOT_ATTEMPTS = 20;
const SNAPSHOT_MS = 10_000;
const MAX_SNAPSHOTS = 500;

export function createOpenSignIns({ collection, clock, limit }: Deps): OpenSignIns {
  const snapshots = new Map<string, { readonly at: number; readonly snapshot: Promise<Snapshot> }>();

  async function readSnapshot(network: string): Promise<Snapshot> {
    const found = await collection.findBy('network', network);
    const occupants = found.map((stored) => [slotOf(stored.value.place), occupantOf(stored)] as const);
    return { occupants: new Map(occupants) };
  }

  const isCrowded = (network: string): boolean => {
    const cached = snapshots.get(network);
    return cached !== undefined && Math.abs(clock() - cached.at) < SNAPSHOT_MS;
  };

  function snapshotOf(network: string): Promise<Snapshot> {
    const cached = snapshots.get(network);
    if (cached !== undefined && isCrowded(network)) return cached.snapshot;
    const snapshot = readSnapshot(network);
    snapshots.delete(network);
    snapshots.set(network, { at: clock(), snapshot });
    const [oldest] = snapshots.keys();
    if (snapshots.size > MAX_SNAPSHOTS && oldest !== undefined) snapshots.delete(oldest);
    return snapshot;
  }

  /** @returns undefined when the place was taken meanwhile */
  async function trySave<T>(
    place: string,
    save: (place: string) => Promise<T>,
  ): Promise<{ readonly saved: T } | undefined> {
    try {
      return { saved: await save(place) };
    } catch (error) {
      if (error instanceof AlreadyExists && error.index === 'place') return undefined;
      throw error;
    }
  }

  function freeSlot({ occupants }: Snapshot, size: number): number | undefined {
    const start = randomInt(size);
    for (let step = 0; step < size; step += 1) {
      const slot = (start + step) % size;
      if (!occupants.has(slot)) return slot;
    }
    return undefined;
  }

  /** Removes the oldest abandoned sign-in. @returns whether there was one; its place is then free or known to be in use */
  async function removeOldestAbandoned({ occupants }: Snapshot): Promise<boolean> {
    const idle = [...occupants].filter(([, occupant]) => isAbandoned(occupant, clock()));
    const [oldest] = idle.toSorted(([, left], [, right]) => left.expiresAt - right.expiresAt);
    if (oldest === undefined) return false;
    const [slot, { id }] = oldest;
    // A form may have been submitted since the snapshot.
    const current = await collection.find(id);
    const occupant = current && occupantOf(current);
    if (current === undefined) occupants.delete(slot);
    else if (occupant?.isInUse !== true && (await endUntouched(collection, clock, current)))
      occupants.delete(slot);
    else occupants.set(slot, { ...occupantOf(current), isInUse: true });
    return true;
  }

  async function takeFromSnapshot<T>(
    network: string,
    size: number,
    save: (place: string) => Promise<T>,
  ): Promise<T> {
    const snapshot = await snapshotOf(network);
    const taken: Occupant = { id: '', since: clock(), expiresAt: Number.POSITIVE_INFINITY, isInUse: false };
    for (let attempt = 0; attempt < SNAPSHOT_ATTEMPTS; attempt += 1) {
      const slot = freeSlot(snapshot, size);
      if (slot !== undefined) {
        // Marked before the write, since parallel calls use the same snapshot.
        snapshot.occupants.set(slot, taken);
        const done = await trySave(placeOf(network, slot), save).catch((error: unknown) => {
          snapshot.occupants.delete(slot);
          throw error;
        });
        if (done !== undefined) return done.saved;
      } else if (!(await removeOldestAbandoned(snapshot))) break;
    }
    throw new AppError('request.rate_limited', { retryAfterSeconds: 60 });
  }

  return {
    async take(address, save) {
      const size = limit();
      if (size <= 0) return save(undefined);
      const network = networkOf(address);
      for (let attempt = 0; attempt < RANDOM_ATTEMPTS && !isCrowded(network); attempt += 1) {
        const done = await trySave(placeOf(network, randomInt(size)), save);
        if (done !== undefined) return done.saved;
      }
      return takeFromSnapshot(network, size, save);
    },

    async markInUse(uid) {
      // The store has interactions by digest (adapters/oidc.ts).
      const id = secretDigest(uid);
      const found = await collection.find(id);
      if (found === undefined || found.value.formAt !== undefined) return;
      try {
        await collection.replace(id, found.version, { ...found.value, formAt: clock() });
      } catch (error) {
        // Another form has written or ended it meanwhile, which marks it as in use too.
        if (!(error instanceof VersionConflict)) throw error;
      }
    },
  };
}
