// Owns API keys (decisions §2.4): bearers for programs that use the admin API. Shown once, stored as a digest, named,
// expiring, revocable. Each use looks the key up, so that a revocation counts at the next request in every process.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { ApiKeyRecord } from '../store/administration.ts';
import { type Collection, type Query, type Stored, StoreUnavailable } from '../store/port.ts';
import { update } from '../store/update.ts';
import { SECRET_BYTES, type SecretDigest } from './secrets.ts';

export interface ApiKey extends ApiKeyRecord {
  readonly id: string;
  readonly version: number;
  /** Epoch milliseconds; from then on it does not exist. */
  readonly expiresAt: number;
}

export interface ApiKeys {
  /** @returns the key itself, which cannot be had again, and what is kept of it */
  create(input: {
    readonly name: string;
    readonly scopes: ApiKeyRecord['scopes'];
    readonly expiresInSeconds: number;
    readonly createdBy: string;
  }): Promise<{ readonly value: string; readonly apiKey: ApiKey }>;
  find(id: string): Promise<ApiKey | undefined>;
  query(query: Query): Promise<{ items: ApiKey[]; total: number }>;
  /** Finds the key of a bearer that is valid now, and notes its use. */
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
}

/** By it a key is known for what it is: to us without a look-up, and to whoever searches repositories for lost ones. */
export const API_KEY_PREFIX = 'latchkey_';
/** `last_used_at` tells the day and hour, so that a busy key is not a write per request. */
const USE_STEP_MS = 15 * 60 * 1000;

const toApiKey = ({ id, version, value, expiresAt }: Stored<ApiKeyRecord>): ApiKey => ({
  ...value,
  id,
  version,
  expiresAt: expiresAt ?? Number.MAX_SAFE_INTEGER,
});

export function createApiKeys({ collection, clock, newId, newSecret, secretDigest }: Deps): ApiKeys {
  /** That it cannot be noted refuses nobody. */
  async function noteUse(id: string): Promise<void> {
    const now = clock();
    try {
      await update(collection, id, (value) =>
        isNoted(value, now) ? undefined : { value: { ...value, lastUsedAt: now } },
      );
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  return {
    async create({ name, scopes, expiresInSeconds, createdBy }) {
      const value = `${API_KEY_PREFIX}${newSecret(SECRET_BYTES)}`;
      const createdAt = clock();
      const stored = await collection.insert(
        newId(),
        { name, scopes, createdBy, digest: secretDigest(value), createdAt },
        { expiresAt: createdAt + expiresInSeconds * 1000 },
      );
      return { value, apiKey: toApiKey(stored) };
    },

    async find(id) {
      const stored = await collection.find(id);
      return stored && toApiKey(stored);
    },

    async query(query) {
      const page = await collection.query(query);
      return { items: page.items.map(toApiKey), total: page.total };
    },

    async use(bearer) {
      if (!bearer.startsWith(API_KEY_PREFIX)) return undefined;
      const [stored] = await collection.findBy('digest', secretDigest(bearer));
      if (stored === undefined) return undefined;
      if (!isNoted(stored.value, clock())) await noteUse(stored.id);
      return toApiKey(stored);
    },

    async remove(id) {
      if (!(await collection.remove(id))) throw new AppError('api_key.not_found');
    },
  };
}

const isNoted = ({ lastUsedAt }: ApiKeyRecord, now: number): boolean =>
  lastUsedAt !== undefined && now - lastUsedAt < USE_STEP_MS;
