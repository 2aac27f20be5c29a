// API keys: bearer credentials for programs that use the admin API. Shown once, stored as a digest, named, expiring,
// revocable, owned by a user, a client or the installation. Each use reads the key, so that a revocation applies to the next
// request in every process; what its owner may do now is decided in src/oidc/tokens/admin-bearer.ts.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Events } from '../events/index.ts';
import type { ApiKeyOwner, ApiKeyRecord } from '../store/administration.ts';
import { type Collection, type Query, type Stored, StoreUnavailable } from '../store/port.ts';
import { update } from '../store/update.ts';
import { pagesOf } from '../store/walk.ts';
import { SECRET_BYTES, type SecretDigest } from './secrets.ts';

export interface ApiKey extends ApiKeyRecord {
  readonly id: string;
  /** Null: the installation. */
  readonly owner: ApiKeyOwner | null;
  readonly version: number;
  /** Epoch milliseconds of its expiry. */
  readonly expiresAt: number;
}

export interface ApiKeys {
  /** @returns the key itself, which is not stored, and its record */
  create(input: {
    readonly name: string;
    readonly scopes: ApiKeyRecord['scopes'];
    readonly expiresInSeconds: number;
    readonly createdBy: string;
    readonly owner: ApiKeyOwner | null;
  }): Promise<{ readonly value: string; readonly apiKey: ApiKey }>;
  find(id: string): Promise<ApiKey | undefined>;
  query(query: Query): Promise<{ items: ApiKey[]; total: number }>;
  /** Finds the key of a valid bearer and records its use. */
  use(bearer: string): Promise<ApiKey | undefined>;
  /** @throws AppError api_key.not_found */
  remove(id: string): Promise<void>;
}

interface Deps {
  readonly collection: Collection<ApiKeyRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly newSecret: (bytes: number) => string;
  readonly secretDigest: SecretDigest;
  /** All keys that belong to a user are removed with the account. */
  readonly events: Pick<Events, 'on'>;
}

/** Identifies an API key: for us without a look-up, and for secret scanners. */
const API_KEY_PREFIX = 'latchkey_';
/** `last_used_at` is recorded to this precision, so that a busy key does not cause a write per request. */
const USE_STEP_MS = 15 * 60 * 1000;

/** Bound on keys created by keys created by keys. */
const MAX_CHAIN = 10;

export function createApiKeys(deps: Deps): ApiKeys {
  const { collection, clock, newId, newSecret, secretDigest, events } = deps;
  /**
   * For keys from before keys had owners: their creator if known, else the installation. A key created by another key has
   * that key's owner; otherwise a demoted administrator would keep the access of such a key.
   */
  async function ownerOf({ owner, createdBy }: ApiKeyRecord, depth = 0): Promise<ApiKeyOwner | null> {
    if (owner !== undefined) return owner;
    const [, kind, id = ''] = /^(user|client|api_key):(.+)$/s.exec(createdBy) ?? [];
    if (kind === 'user' || kind === 'client') return { kind, id };
    const creator = kind === 'api_key' && depth < MAX_CHAIN ? await collection.find(id) : undefined;
    return creator === undefined ? null : ownerOf(creator.value, depth + 1);
  }

  const toApiKey = async ({ id, version, value, expiresAt }: Stored<ApiKeyRecord>): Promise<ApiKey> => ({
    ...value,
    id,
    version,
    owner: await ownerOf(value),
    expiresAt: expiresAt ?? Number.MAX_SAFE_INTEGER,
  });

  /** A failure is ignored. Stores the owner too, since the key that it is derived from may be removed. */
  async function recordUse(id: string, owner: ApiKeyOwner | null): Promise<void> {
    const now = clock();
    try {
      await update(collection, id, (value) =>
        isNoted(value, now) ? undefined : { value: { ...value, owner, lastUsedAt: now } },
      );
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  async function removeWhere(isGone: (value: ApiKeyRecord) => boolean | Promise<boolean>): Promise<void> {
    // Read first: a key's owner can be derived from another key that is removed here too.
    const ids: string[] = [];
    for await (const items of pagesOf(collection, { limit: 1000 })) {
      for (const { id, value } of items) if (await isGone(value)) ids.push(id);
    }
    await Promise.all(ids.map((id) => collection.remove(id)));
  }

  events.on('accountRemoving', ({ accountId }) =>
    removeWhere(async (value) => {
      const owner = await ownerOf(value);
      return owner?.kind === 'user' && owner.id === accountId;
    }),
  );
  // Those of the installation, too, if that person created them.
  events.on('addressChangeStopped', ({ accountId, since }) =>
    removeWhere(async (value) => {
      if (value.createdAt < since) return false;
      const owner = await ownerOf(value);
      const isOwn = owner?.kind === 'user' && owner.id === accountId;
      return isOwn || value.createdBy === `user:${accountId}`;
    }),
  );

  return {
    async create({ name, scopes, expiresInSeconds, createdBy, owner }) {
      const value = `${API_KEY_PREFIX}${newSecret(SECRET_BYTES)}`;
      const createdAt = clock();
      const stored = await collection.insert(
        newId(),
        { name, scopes, createdBy, owner, digest: secretDigest(value), createdAt },
        { expiresAt: createdAt + expiresInSeconds * 1000 },
      );
      return { value, apiKey: await toApiKey(stored) };
    },

    async find(id) {
      const stored = await collection.find(id);
      return stored && toApiKey(stored);
    },

    async query(query) {
      const page = await collection.query(query);
      return { items: await Promise.all(page.items.map(toApiKey)), total: page.total };
    },

    async use(bearer) {
      if (!bearer.startsWith(API_KEY_PREFIX)) return undefined;
      const [stored] = await collection.findBy('digest', secretDigest(bearer));
      if (stored === undefined) return undefined;
      const apiKey = await toApiKey(stored);
      if (!isNoted(stored.value, clock())) await recordUse(stored.id, apiKey.owner);
      return apiKey;
    },

    async remove(id) {
      if (!(await collection.remove(id))) throw new AppError('api_key.not_found');
    },
  };
}

const isNoted = ({ lastUsedAt }: ApiKeyRecord, now: number): boolean =>
  lastUsedAt !== undefined && now - lastUsedAt < USE_STEP_MS;
