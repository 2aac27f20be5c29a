// Limits how many unfinished sign-ins the store holds at once of all strangers together, and of the wider networks around an
// address (key.ts), over all processes. As those of one network (open-sign-ins.ts), each takes numbered places by unique keys in its
// own document: no store call more, and nothing to give back after a crash. Only where random places were taken several
// times, some are drawn and looked at: of the installation's, a sign-in of whoever has most of them makes room.
import { randomInt } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { AlreadyExists, type EphemeralCollection } from '../store/port.ts';
import type { ProtocolPayload } from '../store/records.ts';
import { type NetworkFactor, networksOf } from './key.ts';
import { endUntouched, isAbandoned, networksIn, occupantOf, placeOf, type SignIn } from './occupant.ts';

/** Whose sign-in begins. */
export interface Beginner {
  readonly address: string;
  /** Nobody is signed in there. */
  readonly isStranger: boolean;
}

export interface SharedPlaces {
  /**
   * @param save writes the new document with these places
   * @throws AppError request.rate_limited when no place can be had
   */
  take<T>(beginner: Beginner, save: (places: readonly string[]) => Promise<T>): Promise<T>;
}

export type SharedPlaceSettings = {
  readonly limit_open_signins_ip: number;
  readonly limit_open_signins: number;
} & { readonly [Factor in NetworkFactor]: number };

interface Deps {
  readonly collection: EphemeralCollection<ProtocolPayload>;
  readonly clock: Clock;
  readonly settings: () => SharedPlaceSettings;
}

/** Something that has so many places. */
interface Area {
  readonly name: string;
  readonly size: number;
}

const INSTALLATION = '*';
const DRAWN = 64;
const RANDOM_ATTEMPTS = 4;
const DRAWS = 4;
/** Where nothing limits a network, its sign-ins are numbered all the same: an eviction goes by networks. */
const UNLIMITED = 2 ** 47;

const refusal = (): AppError => new AppError('request.rate_limited', { retryAfterSeconds: 60 });

/** Up to 64 different ones. */
function drawFrom(size: number): readonly number[] {
  const drawn = new Set<number>();
  while (drawn.size < Math.min(size, DRAWN)) drawn.add(randomInt(size));
  return [...drawn];
}

const olderFirst = (left: SignIn, right: SignIn): number => (left.expiresAt ?? 0) - (right.expiresAt ?? 0);

/**
 * The oldest untouched one of the network with most among them: of the widest networks, then within it of the narrower ones, so
 * that the neighbours of a crowd stay.
 */
function oldestOfCrowd(signIns: readonly SignIn[], depth = 0): SignIn | undefined {
  if (signIns.every((one) => networksIn(one)[depth] === undefined))
    return signIns.filter((one) => !occupantOf(one).isInUse).toSorted(olderFirst)[0];
  const networks = Map.groupBy(signIns, (one) => networksIn(one)[depth]);
  const candidates = [...networks.values()].flatMap((ofOne) => {
    const oldest = oldestOfCrowd(ofOne, depth + 1);
    return oldest === undefined ? [] : [{ count: ofOne.length, oldest }];
  });
  const [most] = candidates.toSorted(
    (left, right) => right.count - left.count || olderFirst(left.oldest, right.oldest),
  );
  return most?.oldest;
}

export function createSharedPlaces({ collection, clock, settings }: Deps): SharedPlaces {
  /** The installation first, then the wider networks, the widest first. */
  function areasOf({ address, isStranger }: Beginner): readonly Area[] {
    const current = settings();
    const all = isStranger ? current.limit_open_signins : 0;
    const wider = networksOf(address)
      .toReversed()
      .flatMap(({ name, factor }) =>
        factor === undefined ? [] : [{ name, size: current[factor] * current.limit_open_signins_ip }],
      );
    if (all <= 0) return wider.filter(({ size }) => size > 0);
    const numbered = wider.map(({ name, size }) => ({ name, size: size > 0 ? size : UNLIMITED }));
    return [{ name: INSTALLATION, size: all }, ...numbered];
  }

  /** @returns undefined when one of them was taken meanwhile */
  async function trySave<T>(
    places: readonly string[],
    save: (places: readonly string[]) => Promise<T>,
  ): Promise<{ readonly saved: T } | undefined> {
    try {
      return { saved: await save(places) };
    } catch (error) {
      if (error instanceof AlreadyExists && error.index === 'shared_place') return undefined;
      throw error;
    }
  }

  function victimOf({ name }: Area, signIns: readonly SignIn[]): SignIn | undefined {
    if (name === INSTALLATION) return oldestOfCrowd(signIns);
    return signIns.filter((one) => isAbandoned(occupantOf(one), clock())).toSorted(olderFirst)[0];
  }

  /** @returns a place that is free, or was made free. @throws AppError */
  async function roomIn(area: Area): Promise<string> {
    const places = drawFrom(area.size).map((slot) => placeOf(area.name, slot));
    const found = await Promise.all(
      places.map(async (place) => ({ place, by: (await collection.findBy('shared_place', place))[0] })),
    );
    const free = found.find(({ by }) => by === undefined);
    if (free !== undefined) return free.place;
    let left = found;
    while (left.length > 0) {
      const victim = victimOf(
        area,
        left.flatMap(({ by }) => by ?? []),
      );
      const itsOwn = left.find(({ by }) => by === victim);
      if (victim === undefined || itsOwn === undefined) break;
      if (await endUntouched(collection, clock, victim)) return itsOwn.place;
      // A form was submitted meanwhile.
      left = left.filter((one) => one !== itsOwn);
    }
    throw refusal();
  }

  return {
    async take(beginner, save) {
      const areas = areasOf(beginner);
      if (areas.length === 0) return save([]);
      for (let attempt = 0; attempt < RANDOM_ATTEMPTS; attempt += 1) {
        const places = areas.map(({ name, size }) => placeOf(name, randomInt(size)));
        const done = await trySave(places, save);
        if (done !== undefined) return done.saved;
      }
      for (let draw = 0; draw < DRAWS; draw += 1) {
        const places: string[] = [];
        // The narrowest first: what it refuses takes nothing from anybody else.
        for (const area of areas.toReversed()) places.unshift(await roomIn(area));
        const done = await trySave(places, save);
        if (done !== undefined) return done.saved;
      }
      throw refusal();
    },
  };
}
