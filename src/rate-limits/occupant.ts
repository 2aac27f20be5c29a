// A sign-in in progress, as the limits of their number see it.
import type { Clock } from '../clock.ts';
import { type EphemeralCollection, type Stored, VersionConflict } from '../store/port.ts';
import { sharedPlacesOf } from '../store/protocol-collections.ts';
import type { ProtocolPayload } from '../store/records.ts';
import { networksOf } from './key.ts';

export interface Occupant {
  /** Id of the document; '' while only its existence is known. */
  readonly id: string;
  readonly since: number;
  /** All have the same lifetime, so this orders them, to the millisecond. */
  readonly expiresAt: number;
  /** Whether a form was submitted, so that a user is present. */
  readonly isInUse: boolean;
}

export type SignIn = Stored<ProtocolPayload>;

/** After this long on a page without input, a user can load the page again. */
const ABANDONED_AFTER_MS = 600_000;

export const placeOf = (network: string, slot: number): string => `${network}#${slot}`;
const networkIn = (place: string): string => place.slice(0, place.lastIndexOf('#'));
export const slotOf = (place: unknown): number =>
  Number(String(place).slice(String(place).lastIndexOf('#') + 1));

export function occupantOf({ id, value, expiresAt = 0 }: SignIn): Occupant {
  const parts = [value.formAt, value.progress, value.result, value.lastSubmission];
  const isInUse = parts.some((part) => part !== undefined);
  return { id, since: Number(value.iat) * 1000, expiresAt, isInUse };
}

export const isAbandoned = ({ since, isInUse }: Occupant, now: number): boolean =>
  !isInUse && since <= now - ABANDONED_AFTER_MS;

/** @returns the names of the networks that it came from, the widest first */
export function networksIn({ value }: SignIn): readonly string[] {
  const wider = sharedPlacesOf(value).slice(1).map(networkIn);
  if (typeof value.place !== 'string') return wider;
  const own = networkIn(value.place);
  // A /64 is written as its first address.
  if (wider.length === 0)
    return networksOf(own.replace(/\/64$/, ''))
      .map(({ name }) => name)
      .toReversed();
  return [...wider, own];
}

/** Ends it, which frees its places, unless somebody has written it since it was read. @returns whether it is gone */
export async function endUntouched(
  collection: EphemeralCollection<ProtocolPayload>,
  clock: Clock,
  { id, version, value: { place: _, sharedPlaces: __, ...value } }: SignIn,
): Promise<boolean> {
  try {
    await collection.replace(id, version, value, { expiresAt: clock() });
    return true;
  } catch (error) {
    if (!(error instanceof VersionConflict)) throw error;
    return false;
  }
}
