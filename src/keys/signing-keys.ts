// Owns the signing keys in the store: the first one, which one signs now, what the JWKS shows. The private half is
// sealed with SECRET_KEY (checklist R141). States: `next` is shown before it signs, `current` signs, `retired` is shown
// until its document expires, which is when the last token that it signed has expired.
import type { JsonWebKey } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { SigningKeyRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { generateRsaKey, type PrivateJwk, type PublicJwk, toPrivateJwk, toPublicJwk } from './rsa-key.ts';
import { type Sealer, UnsealError } from './sealing.ts';

export interface KeySet {
  readonly current: { readonly kid: string; readonly alg: 'RS256'; readonly privateJwk: PrivateJwk };
  /** Public halves: the current key first, then next and retired ones. */
  readonly all: readonly PublicJwk[];
  /** RFC 7517 §5 JWK Set, as it is served. */
  jwks(): { keys: readonly PublicJwk[] };
}

export interface SigningKeys {
  /** Makes the first key when there is none. @throws SigningKeyUnreadable */
  load(): Promise<KeySet>;
}

/** The stored key cannot be opened; the message tells the operator what to do. */
export class SigningKeyUnreadable extends Error {
  override readonly name = 'SigningKeyUnreadable';
}

type StoredKey = Stored<SigningKeyRecord>;

const purposeOf = (kid: string): string => `signing key ${kid}`;

/** @param deps.generate makes a private RSA key of at least 2048 bits, as a JWK */
export function createSigningKeys(deps: {
  collection: Collection<SigningKeyRecord>;
  sealer: Sealer;
  clock: Clock;
  generate?: () => Promise<JsonWebKey>;
}): SigningKeys {
  const { collection, sealer, clock, generate = generateRsaKey } = deps;

  // `of` is the one who was faster: its key is the key, and we read it.
  const unlessBeaten = async (write: () => Promise<unknown>): Promise<void> => {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof AlreadyExists || error instanceof VersionConflict)) throw error;
    }
  };

  /** A rotation that was cut short left no current key but the next one: it goes first. */
  async function promote(next: StoredKey): Promise<void> {
    const value: SigningKeyRecord = { ...next.value, state: 'current', activatedAt: clock() };
    await unlessBeaten(() => collection.replace(next.id, next.version, value));
  }

  async function createFirst(): Promise<void> {
    const privateJwk = await toPrivateJwk(await generate());
    const publicJwk = await toPublicJwk(privateJwk);
    const record: SigningKeyRecord = {
      alg: 'RS256',
      state: 'current',
      publicJwk,
      sealedPrivateJwk: sealer.seal(purposeOf(publicJwk.kid), JSON.stringify(privateJwk)),
      createdAt: clock(),
      activatedAt: clock(),
    };
    await unlessBeaten(() => collection.insert(publicJwk.kid, record));
  }

  async function open({ id, value }: StoredKey): Promise<PrivateJwk> {
    try {
      const opened: unknown = JSON.parse(sealer.open(purposeOf(id), value.sealedPrivateJwk));
      return await toPrivateJwk(Object(opened));
    } catch (cause) {
      const isOtherKey = cause instanceof UnsealError && cause.reason === 'unknown_key';
      throw new SigningKeyUnreadable(
        isOtherKey
          ? `The signing key ${id} is sealed with another SECRET_KEY. Start with the SECRET_KEY that was in use ` +
              'before; to change it, list both, the new one first: SECRET_KEY=new,old. If the old one is lost, ' +
              'delete all documents of the collection signing_keys: a new key is made, and everybody signs in again.'
          : `The signing key ${id} is damaged in the store. Restore the store from a backup, or delete that ` +
              'document: a new key is made, and everybody signs in again.',
        { cause },
      );
    }
  }

  /** Moves what an older secret key sealed over to the newest, so that the older one can be dropped from the list. */
  async function reseal(keys: readonly StoredKey[]): Promise<void> {
    for (const { id, version, value } of keys) {
      if (!sealer.needsReseal(value.sealedPrivateJwk)) continue;
      const privateJwk = await open({ id, version, value }).catch(() => undefined);
      if (privateJwk === undefined) continue;
      const sealedPrivateJwk = sealer.seal(purposeOf(id), JSON.stringify(privateJwk));
      await unlessBeaten(() => collection.replace(id, version, { ...value, sealedPrivateJwk }));
    }
  }

  async function readAll(): Promise<readonly StoredKey[]> {
    const { items } = await collection.query({ sort: 'created_at', order: 'desc', limit: 100 });
    return items;
  }

  /** All live keys, of which one is current. */
  async function settle(): Promise<{ keys: readonly StoredKey[]; current: StoredKey }> {
    // Each round either finds the current key or sees another process (or itself) put one there.
    for (let round = 0; round < 10; round += 1) {
      const keys = await readAll();
      const current = keys.find(({ value }) => value.state === 'current');
      if (current !== undefined) return { keys, current };
      const next = keys.find(({ value }) => value.state === 'next');
      await (next === undefined ? createFirst() : promote(next));
    }
    throw new Error('signing keys: no process managed to store a current key');
  }

  return {
    async load() {
      const { keys, current } = await settle();
      const privateJwk = await open(current);
      await reseal(keys);
      const others = keys.filter(({ id }) => id !== current.id);
      const all = await Promise.all([current, ...others].map(({ value }) => toPublicJwk(value.publicJwk)));
      return { current: { kid: current.id, alg: 'RS256', privateJwk }, all, jwks: () => ({ keys: all }) };
    },
  };
}
