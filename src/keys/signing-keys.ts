// Which key signs, what the JWKS contains, and rotation: a next key is published before it signs; a retired key stays
// published until the last token that it signed has expired. Scheduled (advance) or on request (rotate). Any process may
// take a step, and each step is taken once.
import { type EcPrivateJwk, type EcPublicJwk, toEcPublicJwk } from './ec-key.ts';
import type { PrivateJwk, PublicJwk } from './rsa-key.ts';
import { toPublicJwk } from './rsa-key.ts';
import { createStoredKeys, RETIRED_MS, type StoredKey, type StoredKeysDeps } from './stored-keys.ts';

export interface KeySet {
  /** Signs access tokens, and what applications do not want signed otherwise. */
  readonly current: { readonly kid: string; readonly alg: 'RS256'; readonly privateJwk: PrivateJwk };
  /** Its companion: signs what applications want by ES256, never access tokens. */
  readonly currentEs256: { readonly kid: string; readonly alg: 'ES256'; readonly privateJwk: EcPrivateJwk };
  /**
   * Public halves: the current key first, then next and retired ones, then their companions in that order: simple applications
   * take the first key of a JWKS.
   */
  readonly all: readonly (PublicJwk | EcPublicJwk)[];
  /** RFC 7517 §5 JWK Set, as it is served. */
  jwks(): { keys: KeySet['all'] };
  /** Epoch ms at which the set changes by itself. */
  readonly changesAt: number;
}

/**
 * `gradual`: the new key is published long enough for every application to have fetched it. `immediate`: only long enough
 * for our own processes; applications with a cached JWKS fetch it again when they see an unknown `kid`. `compromised`: at
 * once, and everything that the old key signed becomes invalid.
 */
export type RotationMode = 'gradual' | 'immediate' | 'compromised';

/** A key as administrators see it. */
export interface KeyView {
  readonly kid: string;
  readonly alg: 'RS256' | 'ES256';
  readonly state: 'next' | 'current' | 'retired';
  /** Epoch milliseconds, all of them. */
  readonly createdAt: number;
  readonly activatesAt?: number | undefined;
  readonly activatedAt?: number | undefined;
  readonly retiredAt?: number | undefined;
  /** When a retired key is removed from the JWKS. */
  readonly removedAt?: number | undefined;
}

export interface SigningKeys {
  /** Creates the first key when there is none, and takes a due step. @throws SigningKeyUnreadable */
  load(): Promise<KeySet>;
  /** The next one first, then the current one, then retired ones; each followed by its companion. */
  list(): Promise<KeyView[]>;
  rotate(mode: RotationMode): Promise<void>;
  /** Publishes a next key when the current one will soon be older than `rotationSeconds` (0: never), and takes a due step. */
  advance(rotationSeconds: number): Promise<{ published: number; activated: number }>;
  /** @returns how many were resealed with the newest SECRET_KEY, and how many no listed key can open */
  reseal(): Promise<{ resealed: number; unreadable: number }>;
}

/** Three times the JWKS cache lifetime (documents.ts). */
export const PUBLISH_AHEAD_MS = 900_000;
/** Time within which every process sees a change (one second), with a margin. */
const PROPAGATION_MS = 3_000;

interface Settled {
  readonly keys: readonly StoredKey[];
  readonly current: StoredKey;
  /** How many times this call promoted a next key to the current one. */
  readonly activated: number;
}

const inState = (keys: readonly StoredKey[], state: KeyView['state']): StoredKey | undefined =>
  keys.find(({ value }) => value.state === state);

async function viewsOf({ id, expiresAt, value }: StoredKey): Promise<KeyView[]> {
  const view: KeyView = {
    kid: id,
    alg: value.alg,
    state: value.state,
    createdAt: value.createdAt,
    activatesAt: value.activateAt,
    activatedAt: value.activatedAt,
    retiredAt: value.retiredAt,
    removedAt: expiresAt,
  };
  if (value.es256 === undefined) return [view];
  const { kid, alg } = await toEcPublicJwk(value.es256.publicJwk);
  return [view, { ...view, kid, alg }];
}

/** @param deps.onActivated called in the one process that activated a new key */
export function createSigningKeys(
  deps: StoredKeysDeps & { readonly onActivated?: (kid: string, before: string | undefined) => void },
): SigningKeys {
  const { clock, onActivated } = deps;
  const stored = createStoredKeys(deps);

  const isDue = (next: StoredKey): boolean => (next.value.activateAt ?? Number.POSITIVE_INFINITY) <= clock();

  /** All live keys, with exactly one current and none due. @param ended the kid of a current key to end */
  async function settle(ended?: string): Promise<Settled> {
    let activated = 0;
    // Each round either finds the current key or sees that a process has just stored one.
    for (let round = 0; round < 20; round += 1) {
      const keys = await stored.readAll();
      const [current, next] = [inState(keys, 'current'), inState(keys, 'next')];
      const incomplete = [current, next].find((key) => key !== undefined && key.value.es256 === undefined);
      if (incomplete !== undefined) {
        await stored.complete(incomplete);
        continue;
      }
      if (current !== undefined && (next === undefined || !isDue(next))) return { keys, current, activated };
      // Retire first, then promote; after a crash in between the next process promotes.
      if (current !== undefined) await stored.retire(current, clock() + RETIRED_MS);
      else if (next === undefined) await stored.create({ state: 'current', activatedAt: clock() });
      else if (await stored.promote(next)) {
        activated += 1;
        onActivated?.(next.id, ended ?? inState(keys, 'retired')?.id);
      }
    }
    throw new Error('signing keys: no process managed to store a current key');
  }

  /** Schedules a next key to become current at `at`, or at an earlier time already set. @returns whether one was created */
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

  /** Everything that the key has signed becomes invalid. */
  async function end(kid: string): Promise<void> {
    for (let round = 0; round < 20; round += 1) {
      const key = (await stored.readAll()).find(({ id }) => id === kid);
      if (key === undefined || (await stored.retire(key, clock()))) return;
    }
    throw new Error('signing keys: no process managed to end a key');
  }

  async function rotate(mode: RotationMode): Promise<void> {
    // Read at the time of the request: if the next key is due by now, the key to end is the one before it.
    const signing = inState(await stored.readAll(), 'current');
    const { keys, current } = await settle();
    if (mode === 'compromised') {
      const { id: ending } = signing ?? current;
      // Created while the old key still signs, because it takes a while. Nothing else precedes the end of the old key, so that a
      // caller who retries after an error ends the same key.
      if (ending === current.id) await schedule(clock() + PUBLISH_AHEAD_MS);
      await end(ending);
      await settle(ending);
      return;
    }
    const shownSince = inState(keys, 'next')?.value.createdAt ?? clock();
    const ahead = mode === 'gradual' ? PUBLISH_AHEAD_MS : PROPAGATION_MS;
    await schedule(Math.max(clock(), shownSince + ahead));
  }

  return {
    rotate,

    async load() {
      const { keys, current } = await settle();
      const { rsa, es256 } = await stored.open(current);
      await stored.reseal(keys);
      const others = keys.filter(({ id }) => id !== current.id);
      const inOrder = [current, ...others].map(({ value }) => value);
      const companions = inOrder.flatMap((value) => value.es256 ?? []);
      const all = await Promise.all([
        ...inOrder.map(({ publicJwk }) => toPublicJwk(publicJwk)),
        ...companions.map(({ publicJwk }) => toEcPublicJwk(publicJwk)),
      ]);
      const changes = others.map(({ value, expiresAt }) => value.activateAt ?? expiresAt);
      return {
        current: { kid: current.id, alg: 'RS256', privateJwk: rsa },
        currentEs256: { kid: es256.kid, alg: 'ES256', privateJwk: es256 },
        all,
        jwks: () => ({ keys: all }),
        changesAt: Math.min(...changes.map((at) => at ?? Number.POSITIVE_INFINITY)),
      };
    },

    async list() {
      const { keys } = await settle();
      const order = ['next', 'current', 'retired'];
      const sorted = keys.toSorted((a, b) => order.indexOf(a.value.state) - order.indexOf(b.value.state));
      return (await Promise.all(sorted.map(viewsOf))).flat();
    },

    async advance(rotationSeconds) {
      const { current, activated } = await settle();
      if (rotationSeconds === 0) return { published: 0, activated };
      const dueAt = (current.value.activatedAt ?? current.value.createdAt) + rotationSeconds * 1000;
      const isSoon = dueAt - PUBLISH_AHEAD_MS <= clock();
      const isNew = isSoon && (await schedule(Math.max(dueAt, clock() + PUBLISH_AHEAD_MS)));
      return { published: Number(isNew), activated };
    },

    reseal: async () => stored.reseal(await stored.readAll()),
  };
}
