// Signing keys as documents: creating one, sealing its private parts, and the transitions between `next`
// (published, does not sign yet), `current` (signs) and `retired` (published until its document expires). Every transition
// is a compare-and-set that all processes may attempt; one succeeds. A document holds the RSA key and its companion for ES256,
// so that one transition moves both.
import type { JsonWebKey } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import type { SigningKeyRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { type EcPrivateJwk, generateEcKey, toEcPrivateJwk, toEcPublicJwk } from './ec-key.ts';
import { generateRsaKey, type PrivateJwk, toPrivateJwk, toPublicJwk } from './rsa-key.ts';
import { type Sealer, UnsealError } from './sealing.ts';

export type StoredKey = Stored<SigningKeyRecord>;
type Companion = NonNullable<SigningKeyRecord['es256']>;

/** The stored key cannot be opened; the message tells the operator what to do. */
export class SigningKeyUnreadable extends OperatorError {
  override readonly name = 'SigningKeyUnreadable';
}

export interface StoredKeysDeps {
  readonly collection: Collection<SigningKeyRecord>;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** Generates a private RSA key of at least 2048 bits, as a JWK. */
  readonly generate?: () => Promise<JsonWebKey>;
}

/**
 * How long a retired key stays published: the longest lifetime of any token (settings and applications allow no more), plus
 * a minute for clock differences and processes that had not loaded the change.
 */
export const RETIRED_MS = (86_400 + 60) * 1000;

export interface PrivateKeys {
  readonly rsa: PrivateJwk;
  readonly es256: EcPrivateJwk;
}

const purposeOf = (kid: string): string => `signing key ${kid}`;

/** @returns whether this process wrote; false: another was faster */
async function isWritten(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof AlreadyExists || error instanceof VersionConflict) return false;
    throw error;
  }
}

export function createStoredKeys(deps: StoredKeysDeps) {
  const { collection, sealer, clock, generate = generateRsaKey } = deps;

  const sealed = (jwk: { readonly kid: string }): string =>
    sealer.seal(purposeOf(jwk.kid), JSON.stringify(jwk));

  async function newCompanion(): Promise<Companion> {
    const privateJwk = await toEcPrivateJwk(await generateEcKey());
    return { publicJwk: await toEcPublicJwk(privateJwk), sealedPrivateJwk: sealed(privateJwk) };
  }

  /** @returns whether it was stored; false: there is already one in that state */
  async function create(
    state: Pick<SigningKeyRecord, 'state' | 'activateAt' | 'activatedAt'>,
  ): Promise<boolean> {
    const privateJwk = await toPrivateJwk(await generate());
    const publicJwk = await toPublicJwk(privateJwk);
    const record: SigningKeyRecord = {
      alg: 'RS256',
      ...state,
      publicJwk,
      sealedPrivateJwk: sealed(privateJwk),
      es256: await newCompanion(),
      createdAt: clock(),
    };
    return isWritten(() => collection.insert(publicJwk.kid, record));
  }

  function openOne(kid: string, text: string): object {
    const opened: unknown = JSON.parse(sealer.open(purposeOf(kid), text));
    return Object(opened);
  }

  async function openCompanion({ publicJwk, sealedPrivateJwk }: Companion): Promise<EcPrivateJwk> {
    const { kid } = await toEcPublicJwk(publicJwk);
    return toEcPrivateJwk(openOne(kid, sealedPrivateJwk));
  }

  /** @throws SigningKeyUnreadable */
  async function open({ id, value }: StoredKey): Promise<PrivateKeys> {
    try {
      if (value.es256 === undefined) throw new TypeError('the key has no companion');
      return {
        rsa: await toPrivateJwk(openOne(id, value.sealedPrivateJwk)),
        es256: await openCompanion(value.es256),
      };
    } catch (cause) {
      const isOtherKey = cause instanceof UnsealError && cause.reason === 'unknown_key';
      throw new SigningKeyUnreadable(
        isOtherKey
          ? `The signing key ${id} is sealed with another SECRET_KEY. Start with the SECRET_KEY that was in use ` +
              'before; to change it, list both, the new one first: SECRET_KEY=new,old. If the old one is lost, ' +
              'delete all documents of the collection signing_keys: a new key is created, and all users sign in again.'
          : `The signing key ${id} is damaged in the store. Restore the store from a backup, or delete that ` +
              'document: a new key is created, and all users sign in again.',
        { cause },
      );
    }
  }

  /** @returns the record sealed with the newest key; undefined when no listed key opens it */
  async function resealed(id: string, value: SigningKeyRecord): Promise<SigningKeyRecord | undefined> {
    const anew = (kid: string, text: string) =>
      sealer.needsReseal(text) ? sealer.reseal(purposeOf(kid), text) : text;
    const sealedPrivateJwk = anew(id, value.sealedPrivateJwk);
    if (sealedPrivateJwk === undefined) return undefined;
    const { es256 } = value;
    if (es256 === undefined) return { ...value, sealedPrivateJwk };
    const companion = anew((await toEcPublicJwk(es256.publicJwk)).kid, es256.sealedPrivateJwk);
    if (companion === undefined) return undefined;
    return { ...value, sealedPrivateJwk, es256: { ...es256, sealedPrivateJwk: companion } };
  }

  return {
    create,
    open,

    /** Gives a key that an earlier version made its companion. @returns whether this process did */
    complete: async ({ id, version, value }: StoredKey): Promise<boolean> => {
      const es256 = await newCompanion();
      return isWritten(() => collection.replace(id, version, { ...value, es256 }));
    },

    /** All live keys, the newest first. */
    async readAll(): Promise<readonly StoredKey[]> {
      const { items } = await collection.query({ sort: 'created_at', order: 'desc', limit: 1000 });
      return items;
    },

    /** @returns whether this process changed it */
    change: ({ id, version, value }: StoredKey, changes: Partial<SigningKeyRecord>): Promise<boolean> =>
      isWritten(() => collection.replace(id, version, { ...value, ...changes })),

    /** It signs nothing from now on. @param shownUntil epoch ms. @returns whether this process retired it */
    retire: ({ id, version, value }: StoredKey, shownUntil: number): Promise<boolean> =>
      isWritten(() =>
        collection.replace(
          id,
          version,
          { ...value, state: 'retired', retiredAt: clock() },
          { expiresAt: shownUntil },
        ),
      ),

    /** Makes the next key current; the previous one must be retired first. @returns whether this process promoted it */
    promote({ id, version, value }: StoredKey): Promise<boolean> {
      const { activateAt: _, ...rest } = value;
      const promoted: SigningKeyRecord = { ...rest, state: 'current', activatedAt: clock() };
      return isWritten(() => collection.replace(id, version, promoted));
    },

    /**
     * Reseals with the newest secret key, so that older ones can be removed from the list.
     * @returns how many were resealed, and how many no listed secret key can open
     */
    async reseal(keys: readonly StoredKey[]): Promise<{ resealed: number; unreadable: number }> {
      let [written, unreadable] = [0, 0];
      for (const { id, version, value } of keys) {
        const texts = [value.sealedPrivateJwk, value.es256?.sealedPrivateJwk];
        if (!texts.some((text) => text !== undefined && sealer.needsReseal(text))) continue;
        const anew = await resealed(id, value);
        if (anew === undefined) {
          unreadable += 1;
          continue;
        }
        if (await isWritten(() => collection.replace(id, version, anew))) written += 1;
      }
      return { resealed: written, unreadable };
    },
  };
}
