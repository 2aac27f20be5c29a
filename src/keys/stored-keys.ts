// Signing keys as documents: creating one, sealing its private part (checklist R141), and the transitions between `next`
// (published, does not sign yet), `current` (signs) and `retired` (published until its document expires). Every transition
// is a compare-and-set that all processes may attempt; one succeeds.
import type { JsonWebKey } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { OperatorError } from '../errors.ts';
import type { SigningKeyRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { generateRsaKey, type PrivateJwk, toPrivateJwk, toPublicJwk } from './rsa-key.ts';
import { type Sealer, UnsealError } from './sealing.ts';

export type StoredKey = Stored<SigningKeyRecord>;

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
      sealedPrivateJwk: sealer.seal(purposeOf(publicJwk.kid), JSON.stringify(privateJwk)),
      createdAt: clock(),
    };
    return isWritten(() => collection.insert(publicJwk.kid, record));
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
              'delete all documents of the collection signing_keys: a new key is created, and all users sign in again.'
          : `The signing key ${id} is damaged in the store. Restore the store from a backup, or delete that ` +
              'document: a new key is created, and all users sign in again.',
        { cause },
      );
    }
  }

  return {
    create,
    open,

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
      let [resealed, unreadable] = [0, 0];
      for (const key of keys) {
        const { id, version, value } = key;
        if (!sealer.needsReseal(value.sealedPrivateJwk)) continue;
        const privateJwk = await open(key).catch(() => undefined);
        if (privateJwk === undefined) {
          unreadable += 1;
          continue;
        }
        const sealedPrivateJwk = sealer.seal(purposeOf(id), JSON.stringify(privateJwk));
        const isOurs = await isWritten(() => collection.replace(id, version, { ...value, sealedPrivateJwk }));
        if (isOurs) resealed += 1;
      }
      return { resealed, unreadable };
    },
  };
}
