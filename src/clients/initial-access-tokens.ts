// RFC 7591 §3 initial access tokens: created by an administrator, shown once, stored as a digest, with a number of uses.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { InitialAccessTokenRecord } from '../store/collections.ts';
import type { Collection, Query, Stored } from '../store/port.ts';
import { update } from '../store/update.ts';
import { pagesOf } from '../store/walk.ts';
import type { SecretDigest } from './secrets.ts';
import { SECRET_BYTES } from './secrets.ts';

export interface InitialAccessToken extends InitialAccessTokenRecord {
  /** Digest of the token: identifies it, is not a credential. */
  readonly id: string;
  readonly expiresAt: number;
}

export interface InitialAccessTokens {
  /** @returns the token itself, which is not stored, and its record */
  create(input: {
    label: string;
    uses: number;
    expiresInSeconds: number;
    profile?: 'legacy' | undefined;
  }): Promise<{ token: string; initialAccessToken: InitialAccessToken }>;
  query(query: Query): Promise<{ items: InitialAccessToken[]; total: number }>;
  /** Whether somebody may register by one. */
  hasUsable(): Promise<boolean>;
  /** @returns what the token allows if it is valid; no use is consumed */
  findUsable(token: string): Promise<Pick<InitialAccessTokenRecord, 'profile'> | undefined>;
  /** Consumes one use. Of parallel calls exactly as many succeed as there are uses. @returns whether it was valid */
  consume(token: string): Promise<boolean>;
  /** @throws AppError token.not_found */
  remove(id: string): Promise<void>;
}

export interface InitialAccessTokensDeps {
  readonly collection: Collection<InitialAccessTokenRecord>;
  readonly clock: Clock;
  readonly newSecret: (bytes: number) => string;
  readonly secretDigest: SecretDigest;
}

const toToken = ({ id, value, expiresAt }: Stored<InitialAccessTokenRecord>): InitialAccessToken => ({
  ...value,
  id,
  expiresAt: expiresAt ?? Number.MAX_SAFE_INTEGER,
});

export function createInitialAccessTokens({
  collection,
  clock,
  newSecret,
  secretDigest,
}: InitialAccessTokensDeps): InitialAccessTokens {
  return {
    async create({ label, uses, expiresInSeconds, profile }) {
      const token = newSecret(SECRET_BYTES);
      const createdAt = clock();
      const stored = await collection.insert(
        secretDigest(token),
        { label, usesLeft: uses, createdAt, ...(profile && { profile }) },
        { expiresAt: createdAt + expiresInSeconds * 1000 },
      );
      return { token, initialAccessToken: toToken(stored) };
    },

    async query(query) {
      const page = await collection.query(query);
      return { items: page.items.map(toToken), total: page.total };
    },

    async hasUsable() {
      for await (const items of pagesOf(collection, { limit: 1000 }))
        if (items.some(({ value }) => value.usesLeft > 0)) return true;
      return false;
    },

    async findUsable(token) {
      const stored = await collection.find(secretDigest(token));
      return stored !== undefined && stored.value.usesLeft > 0 ? stored.value : undefined;
    },

    async consume(token) {
      let isTaken = false;
      await update(collection, secretDigest(token), (value) => {
        isTaken = value.usesLeft > 0;
        return isTaken ? { value: { ...value, usesLeft: value.usesLeft - 1 } } : undefined;
      });
      return isTaken;
    },

    async remove(id) {
      if (!(await collection.remove(id))) throw new AppError('token.not_found');
    },
  };
}
