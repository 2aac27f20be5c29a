// Avatars: the picture that a person gives of themselves, encoded by us (encode.ts), kept in the store, and read by anyone who
// has its address. The address is random, new for each picture, and says nothing of the account. Whose page shows it where,
// and the claim `picture`, are decided above; the account names its picture.
import type { Account, Accounts } from '../accounts/index.ts';
import type { Base } from '../base.ts';
import { AppError } from '../errors.ts';
import { newSecret } from '../ids.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import { type AvatarRecord, avatars as definition } from '../store/avatars.ts';
import { type Collection, type Stored, VersionConflict } from '../store/port.ts';
import { type Crop, createEncoder, type EncodePicture } from './encode.ts';

export { type Crop, createLookEncoder } from './encode.ts';

/** Bytes that a person may send. */
export const MAX_AVATAR_BYTES = 2 * 1024 * 1024;

const ID_BYTES = 16;
const idPattern = /^[A-Za-z0-9_-]{22}$/;
/** What a crash left is gone after this. */
const HOUR_MS = 3_600_000;

/** The sizes, by the last part of their addresses. */
const sizes = { '256.jpg': 'large', '96.jpg': 'small' } as const;

const isSize = (name: string): name is keyof typeof sizes => Object.hasOwn(sizes, name);

/**
 * The claim `picture`: the picture that the person gave comes before the address that an administrator entered, so that
 * applications show who our pages show (decision 0023).
 */
export const pictureOf = (
  { avatarId, profile }: Pick<Account, 'avatarId' | 'profile'>,
  baseUrl: string,
): string | undefined =>
  avatarId === undefined ? profile.picture : `${baseUrl}/avatars/${avatarId}/256.jpg`;

export interface Avatars {
  /** @returns the JPEG; undefined where there is none at this address */
  read(id: string, size: string): Promise<Buffer | undefined>;
  /** Of the person themselves: what they hold a right to have. */
  recordOf(account: Account): Promise<AvatarRecord | undefined>;
  /**
   * By its owner: replaces the one before.
   * @throws AppError avatar.unreadable, avatar.too_many_pixels, avatar.busy, request.rate_limited, account.not_found
   */
  set(account: Account, bytes: Buffer, crop?: Crop): Promise<Account>;
  /** By its owner; has no effect without a picture. */
  removeOwn(account: Account): Promise<void>;
  /** Recorded by the caller. */
  removeAsAdmin(account: Account): Promise<void>;
}

interface AvatarDoors extends Base {
  readonly accounts: Accounts;
  readonly limits: RateLimits;
}

export function createAvatars({ store, clock, accounts, limits, events }: AvatarDoors): Avatars {
  const collection: Collection<AvatarRecord> = store.collection(definition);
  const encode: EncodePicture = createEncoder();
  events.on('accountRemoving', ({ accountId }) => collection.removeBy('account', accountId));

  /** @returns the account, and the id of the picture that it named before */
  async function name(accountId: string, avatar_id: string | null) {
    for (let tries = 3; ; tries -= 1) {
      const before = await accounts.find(accountId);
      if (before === undefined) throw new AppError('account.not_found');
      try {
        const after = await accounts.changeOwnAccount(accountId, { avatar_id }, { version: before.version });
        return { after, replaced: before.avatarId };
      } catch (error) {
        // Two at once: each removes exactly the picture that it replaced.
        const isOverlap = error instanceof AppError && error.code === 'account.changed';
        if (!isOverlap || tries === 1) throw error;
      }
    }
  }

  /** What is no longer named, and what earlier ones left that did not come to their end. */
  async function clear(accountId: string, replaced: string | undefined, named?: string): Promise<void> {
    if (replaced !== undefined) await collection.remove(replaced);
    const isLeft = ({ id, value }: Stored<AvatarRecord>): boolean =>
      id !== named && value.createdAt < clock() - HOUR_MS;
    const left = (await collection.findBy('account', accountId)).filter(isLeft);
    for (const { id } of left) await collection.remove(id);
  }

  /** Gone with an account, or removed, before it was named: then it stays gone. */
  async function keep({ id, version, value }: Stored<AvatarRecord>): Promise<void> {
    try {
      await collection.replace(id, version, value, { expiresAt: null });
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }

  async function remove({ id, avatarId }: Account): Promise<boolean> {
    if (avatarId === undefined) return false;
    // First: what was removed is at no address, even if the rest does not happen.
    await collection.remove(avatarId);
    const { replaced } = await name(id, null);
    await clear(id, replaced);
    return true;
  }

  async function record(event: 'avatar.changed' | 'avatar.removed', { id }: Account): Promise<void> {
    await events.record({ event, owner: id });
  }

  return {
    async read(id, size) {
      if (!idPattern.test(id) || !isSize(size)) return undefined;
      const found = await collection.find(id);
      return found && Buffer.from(found.value[sizes[size]], 'base64');
    },

    recordOf: async ({ avatarId }) =>
      avatarId === undefined ? undefined : (await collection.find(avatarId))?.value,

    async set(account, bytes, crop) {
      await limits.consume('avatar_account', account.id);
      const { large, small } = await encode(bytes, crop);
      const now = clock();
      const id = newSecret(ID_BYTES);
      const value: AvatarRecord = { accountId: account.id, createdAt: now, large, small };
      // Until an account names it, it expires.
      const stored = await collection.insert(id, value, { expiresAt: now + HOUR_MS });
      const { after, replaced } = await name(account.id, id);
      await keep(stored);
      await clear(account.id, replaced, id);
      await record('avatar.changed', account);
      return after;
    },

    async removeOwn(account) {
      if (await remove(account)) await record('avatar.removed', account);
    },

    async removeAsAdmin(account) {
      await remove(account);
    },
  };
}
