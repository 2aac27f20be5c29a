// Owns how many sign-ins in progress one network can have in the store at once (checklist R138), over all processes. Each
// takes one of the network's places, by a unique key that is written with it: a free place costs no further call and no
// count. Only where several places in a row are taken are all of the network's read, and that at most every ten seconds.
import { randomInt } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { secretDigest } from '../ids.ts';
import { AlreadyExists, type EphemeralCollection, type Stored, VersionConflict } from '../store/port.ts';
import type { ProtocolPayload } from '../store/records.ts';
import { networkOf } from './key.ts';

export interface OpenPlaces {
  /**
   * @param save writes the new document with this place; undefined: there is no limit
   * @throws AppError request.rate_limited where all places of the network are taken by what is not to be dropped
   */
  take<T>(address: string, save: (place: string | undefined) => Promise<T>): Promise<T>;
  /** A form of this interaction was submitted: it is not dropped to make room. */
  markInUse(uid: string): Promise<void>;
}

interface Deps {
  readonly collection: EphemeralCollection<ProtocolPayload>;
  readonly clock: Clock;
  /** Places per network; 0: no limit. */
  readonly limit: () => number;
}

interface Occupant {
  /** Of the document; '' where it is known only that there is one. */
  readonly id: string;
  readonly since: number;
  /** All live equally long, and this is to the millisecond. */
  readonly expiresAt: number;
  /** Whether a form of it was submitted: somebody is there. */
  readonly isInUse: boolean;
}

/** What is known of a crowded network. */
interface Picture {
  readonly occupants: Map<number, Occupant>;
}

const BLIND_TRIES = 4;
const KNOWING_TRIES = 20;
const PICTURE_MS = 10_000;
const MAX_PICTURES = 500;
/** Whoever looks at a sign-in page for longer can load it again. */
const DROPPED_AFTER_MS = 600_000;

const placeOf = (network: string, slot: number): string => `${network}#${slot}`;
const slotOf = (place: unknown): number => Number(String(place).slice(String(place).lastIndexOf('#') + 1));

function occupantOf({ id, value, expiresAt = 0 }: Stored<ProtocolPayload>): Occupant {
  const parts = [value.formAt, value.progress, value.result, value.lastSubmission];
  const isInUse = parts.some((part) => part !== undefined);
  return { id, since: Number(value.iat) * 1000, expiresAt, isInUse };
}

export function createOpenPlaces({ collection, clock, limit }: Deps): OpenPlaces {
  const pictures = new Map<string, { readonly at: number; readonly picture: Promise<Picture> }>();

  async function look(network: string): Promise<Picture> {
    const found = await collection.findBy('network', network);
    const occupants = found.map((stored) => [slotOf(stored.value.place), occupantOf(stored)] as const);
    return { occupants: new Map(occupants) };
  }

  const isKnown = (network: string): boolean => {
    const known = pictures.get(network);
    return known !== undefined && Math.abs(clock() - known.at) < PICTURE_MS;
  };

  function pictureOf(network: string): Promise<Picture> {
    const known = pictures.get(network);
    if (known !== undefined && isKnown(network)) return known.picture;
    const picture = look(network);
    pictures.delete(network);
    pictures.set(network, { at: clock(), picture });
    const [oldest] = pictures.keys();
    if (pictures.size > MAX_PICTURES && oldest !== undefined) pictures.delete(oldest);
    return picture;
  }

  /** @returns undefined where the place was taken meanwhile */
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

  function freeSlot({ occupants }: Picture, size: number): number | undefined {
    const start = randomInt(size);
    for (let step = 0; step < size; step += 1) {
      const slot = (start + step) % size;
      if (!occupants.has(slot)) return slot;
    }
    return undefined;
  }

  /** Drops the oldest that nobody is at. @returns whether there was one; what was in the way is gone or known better */
  async function dropOldest({ occupants }: Picture): Promise<boolean> {
    const idle = [...occupants].filter(
      ([, { since, isInUse }]) => !isInUse && since <= clock() - DROPPED_AFTER_MS,
    );
    const [oldest] = idle.toSorted(([, left], [, right]) => left.expiresAt - right.expiresAt);
    if (oldest === undefined) return false;
    const [slot, { id }] = oldest;
    // A form may have come since the look.
    const now = await collection.find(id);
    const occupant = now && occupantOf(now);
    if (occupant?.isInUse) occupants.set(slot, occupant);
    else {
      if (occupant !== undefined) await collection.remove(id);
      occupants.delete(slot);
    }
    return true;
  }

  async function takeKnowing<T>(
    network: string,
    size: number,
    save: (place: string) => Promise<T>,
  ): Promise<T> {
    const picture = await pictureOf(network);
    const taken: Occupant = { id: '', since: clock(), expiresAt: Number.POSITIVE_INFINITY, isInUse: false };
    for (let tries = 0; tries < KNOWING_TRIES; tries += 1) {
      const slot = freeSlot(picture, size);
      if (slot !== undefined) {
        // Before it is written: others here choose by the same picture.
        picture.occupants.set(slot, taken);
        const done = await trySave(placeOf(network, slot), save);
        if (done !== undefined) return done.saved;
      } else if (!(await dropOldest(picture))) break;
    }
    throw new AppError('request.rate_limited', { retryAfterSeconds: 60 });
  }

  return {
    async take(address, save) {
      const size = limit();
      if (size <= 0) return save(undefined);
      const network = networkOf(address);
      for (let tries = 0; tries < BLIND_TRIES && !isKnown(network); tries += 1) {
        const done = await trySave(placeOf(network, randomInt(size)), save);
        if (done !== undefined) return done.saved;
      }
      return takeKnowing(network, size, save);
    },

    async markInUse(uid) {
      // The store keeps interactions by their digest (adapters/oidc.ts).
      const id = secretDigest(uid);
      const found = await collection.find(id);
      if (found === undefined || found.value.formAt !== undefined) return;
      try {
        await collection.replace(id, found.version, { ...found.value, formAt: clock() });
      } catch (error) {
        // Written or ended by another form meanwhile, which then says the same.
        if (!(error instanceof VersionConflict)) throw error;
      }
    },
  };
}
