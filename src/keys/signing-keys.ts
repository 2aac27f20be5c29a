// Owns which signing key signs now and what the JWKS shows, and rotation: the next key is shown ahead of its use, then it
// signs, and the one before stays shown until the last token that it signed has expired. By schedule (advance), or because
// somebody asks for it (rotate). Each step may be taken by any process, and is taken once.
import type { PrivateJwk, PublicJwk } from './rsa-key.ts';
import { toPublicJwk } from './rsa-key.ts';
import { createStoredKeys, RETIRED_MS, type StoredKey, type StoredKeysDeps } from './stored-keys.ts';

export interface KeySet {
  readonly current: { readonly kid: string; readonly alg: 'RS256'; readonly privateJwk: PrivateJwk };
  /** Public halves: the current key first, then next and retired ones. */
  readonly all: readonly PublicJwk[];
  /** RFC 7517 §5 JWK Set, as it is served. */
  jwks(): { keys: readonly PublicJwk[] };
  /** Epoch ms from which the set is another one, if nobody intervenes. */
  readonly changesAt: number;
}

/**
 * `gradual`: the new key is shown first, long enough for every application to have fetched it. `immediate`: just long
 * enough for our own processes; applications that keep the old list fetch again when they meet an unknown key.
 * `compromised`: at once, and what the old key signed is worth nothing any more.
 */
export type RotationMode = 'gradual' | 'immediate' | 'compromised';

/** As administrators see a key. */
export interface KeyView {
  readonly kid: string;
  readonly alg: 'RS256';
  readonly state: 'next' | 'current' | 'retired';
  /** Epoch milliseconds, all of them. */
  readonly createdAt: number;
  readonly activatesAt?: number | undefined;
  readonly activatedAt?: number | undefined;
  readonly retiredAt?: number | undefined;
  /** When a retired key is no longer shown. */
  readonly removedAt?: number | undefined;
}

export interface SigningKeys {
  /** Makes the first key when there is none, and takes the step that is due. @throws SigningKeyUnreadable */
  load(): Promise<KeySet>;
  /** The next one first, then the current one, then retired ones. */
  list(): Promise<KeyView[]>;
  rotate(mode: RotationMode): Promise<void>;
  /** Shows the next key when the current one will soon be older than `rotationSeconds` (0: never), and takes the step that is due. */
  advance(rotationSeconds: number): Promise<{ published: number; activated: number }>;
  /** @returns how many were sealed anew under the newest SECRET_KEY, and how many no listed one opens */
  reseal(): Promise<{ resealed: number; unreadable: number }>;
}

/** Three times as long as the JWKS may be kept (documents.ts). */
export const SHOWN_AHEAD_MS = 900_000;
/** What every process of ours needs to see a change (one second), and a bit. */
const SEEN_BY_ALL_MS = 3_000;

interface Settled {
  readonly keys: readonly StoredKey[];
  readonly current: StoredKey;
  /** How many times a next key became the current one by us. */
  readonly activated: number;
}

const inState = (keys: readonly StoredKey[], state: KeyView['state']): StoredKey | undefined =>
  keys.find(({ value }) => value.state === state);

/** @param deps.onActivated told in the one process that put a new key in place */
export function createSigningKeys(
  deps: StoredKeysDeps & { readonly onActivated?: (kid: string, before: string | undefined) => void },
): SigningKeys {
  const { clock, onActivated } = deps;
  const stored = createStoredKeys(deps);

  const isDue = (next: StoredKey): boolean => (next.value.activateAt ?? Number.POSITIVE_INFINITY) <= clock();

  /** All live keys, of which one is current and none is due. @param ended the one that was current and is shown no more */
  async function settle(ended?: string): Promise<Settled> {
    let activated = 0;
    // Each round either finds the current key or sees another process (or itself) put one there.
    for (let round = 0; round < 20; round += 1) {
      const keys = await stored.readAll();
      const [current, next] = [inState(keys, 'current'), inState(keys, 'next')];
      if (current !== undefined && (next === undefined || !isDue(next))) return { keys, current, activated };
      // First nobody signs, then the new one does; a crash in between is mended by whoever comes next.
      if (current !== undefined) await stored.retire(current, clock() + RETIRED_MS);
      else if (next === undefined) await stored.create({ state: 'current', activatedAt: clock() });
      else if (await stored.promote(next)) {
        activated += 1;
        onActivated?.(next.id, ended ?? inState(keys, 'retired')?.id);
      }
    }
    throw new Error('signing keys: no process managed to store a current key');
  }

  /** A next key that is to be current from `at` on, or earlier if that was said before. @returns whether one was made */
  async function schedule(at: number): Promise<boolean> {
    for (let round = 0; round < 20; round += 1) {
      const next = inState(await stored.readAll(), 'next');
      if (next === undefined) {
        if (await stored.create({ state: 'next', activateAt: at })) return true;
      } else if ((next.value.activateAt ?? Number.POSITIVE_INFINITY) <= at) {
        return false;
      } else if (await stored.change(next, { activateAt: at })) {
        return false;
      }
    }
    throw new Error('signing keys: no process managed to store a next key');
  }

  /** What the key has signed is worth nothing from now on. */
  async function end(kid: string): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      const key = (await stored.readAll()).find(({ id }) => id === kid);
      if (key === undefined || (await stored.retire(key, clock()))) return;
    }
    throw new Error('signing keys: no process managed to end a key');
  }

  async function rotate(mode: RotationMode): Promise<void> {
    // Of the moment when it was asked for: if the next one is due by now, the one to end is not the one that it makes current.
    const signing = inState(await stored.readAll(), 'current');
    const { keys, current } = await settle();
    if (mode === 'compromised') {
      const { id: ending } = signing ?? current;
      // Made while the old one still signs, because that takes a while; nothing else comes before the end of the old one,
      // so that whoever was told "not done" and asks again ends the same key.
      if (ending === current.id) await schedule(clock() + SHOWN_AHEAD_MS);
      await end(ending);
      await settle(ending);
      return;
    }
    const shownSince = inState(keys, 'next')?.value.createdAt ?? clock();
    const ahead = mode === 'gradual' ? SHOWN_AHEAD_MS : SEEN_BY_ALL_MS;
    await schedule(Math.max(clock(), shownSince + ahead));
  }

  return {
    rotate,

    async load() {
      const { keys, current } = await settle();
      const privateJwk = await stored.open(current);
      await stored.reseal(keys);
      const others = keys.filter(({ id }) => id !== current.id);
      const all = await Promise.all([current, ...others].map(({ value }) => toPublicJwk(value.publicJwk)));
      const changes = others.map(({ value, expiresAt }) => value.activateAt ?? expiresAt);
      return {
        current: { kid: current.id, alg: 'RS256', privateJwk },
        all,
        jwks: () => ({ keys: all }),
        changesAt: Math.min(...changes.map((at) => at ?? Number.POSITIVE_INFINITY)),
      };
    },

    async list() {
      const { keys } = await settle();
      const order = ['next', 'current', 'retired'];
      return keys
        .toSorted((a, b) => order.indexOf(a.value.state) - order.indexOf(b.value.state))
        .map(({ id, expiresAt, value }) => ({
          kid: id,
          alg: value.alg,
          state: value.state,
          createdAt: value.createdAt,
          activatesAt: value.activateAt,
          activatedAt: value.activatedAt,
          retiredAt: value.retiredAt,
          removedAt: expiresAt,
        }));
    },

    async advance(rotationSeconds) {
      const { current, activated } = await settle();
      if (rotationSeconds === 0) return { published: 0, activated };
      const dueAt = (current.value.activatedAt ?? current.value.createdAt) + rotationSeconds * 1000;
      const isSoon = dueAt - SHOWN_AHEAD_MS <= clock();
      const isNew = isSoon && (await schedule(Math.max(dueAt, clock() + SHOWN_AHEAD_MS)));
      return { published: Number(isNew), activated };
    },

    reseal: async () => stored.reseal(await stored.readAll()),
  };
}
