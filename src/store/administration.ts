// Owns the part of the data model that is about administration alone: groups, API keys, counts,
// requests that must not be done twice, trials of applications. It belongs to
// collections.ts and records.ts and stands beside them for their length.
import { audit } from './collections.ts';
import type { CollectionDefinition } from './port.ts';
import type { AuditRecord } from './records.ts';

/** Who may what, together; the id is the name. Who belongs to it is on the accounts. */
export interface GroupRecord {
  name: string;
  displayName?: string;
  description?: string;
  /** Set at the start of a removal: from then on it counts as gone. */
  removingAt?: number;
  createdAt: number;
  updatedAt: number;
}

/** The user or client that a key belongs to; the key is worth no more than its owner is now. */
export interface ApiKeyOwner {
  kind: 'user' | 'client';
  id: string;
}

/** A bearer for programs that use the admin API. */
export interface ApiKeyRecord {
  name: string;
  scopes: readonly ('admin' | 'admin:read')[];
  /** SHA-256 of the key. */
  digest: string;
  /** `kind:id` of the caller that created it. */
  createdBy: string;
  /** Null: the installation. Absent: created before keys had owners; it follows from `createdBy` (clients/api-keys.ts). */
  owner?: ApiKeyOwner | null;
  createdAt: number;
  /** To the quarter of an hour. */
  lastUsedAt?: number;
}

export const groups: CollectionDefinition<GroupRecord> = {
  name: 'groups',
  durability: 'durable',
  indexes: {},
  fields: {
    name: { type: 'string', of: (g) => g.name },
    display_name: { type: 'string', of: (g) => g.displayName },
    is_removing: { type: 'boolean', of: (g) => g.removingAt !== undefined },
    created_at: { type: 'number', of: (g) => g.createdAt },
    updated_at: { type: 'number', of: (g) => g.updatedAt },
  },
};

export const apiKeys: CollectionDefinition<ApiKeyRecord> = {
  name: 'api_keys',
  durability: 'durable',
  indexes: { digest: { unique: true, key: (k) => k.digest } },
  fields: {
    name: { type: 'string', of: (k) => k.name },
    created_at: { type: 'number', of: (k) => k.createdAt },
    last_used_at: { type: 'number', of: (k) => k.lastUsedAt },
  },
};

/** What happened in one hour; the id is its start. */
export interface EventHourRecord {
  at: number;
  /** How often, by the event's name. */
  counts: Record<string, number>;
  /** How many sessions ran when the hour was counted; absent where that was long after it. */
  sessionsActive?: number;
}

export const eventHours: CollectionDefinition<EventHourRecord> = {
  name: 'event_hours',
  durability: 'durable',
  indexes: {},
  fields: { at: { type: 'number', of: (h) => h.at } },
};

/**
 * What happened to tokens, as events of the audit log: a collection of its own, since it grows faster, is kept for a shorter
 * time, and must not slow down a look at the rest.
 */
export const tokenEvents: CollectionDefinition<AuditRecord> = { ...audit, name: 'token_events' };

/** A request that is done once; the id is a digest of its key and of who sent it. */
export interface IdempotencyRecord {
  /** Digest of its body. */
  fingerprint: string;
  /** What was answered, sealed with SECRET_KEY: it can hold a secret. Absent while it is being done. */
  sealedReply?: string;
}

export const idempotencyKeys: CollectionDefinition<IdempotencyRecord> = {
  name: 'idempotency_keys',
  durability: 'durable',
  indexes: {},
  fields: {},
};

/** An administrator's trial sign-in as an application, under way; the id is a digest of its `state`. */
export interface TrialRecord {
  clientId: string;
  adminId: string;
  /** The SSO session that it was begun in. */
  sessionUid: string;
  /** Digest of the id of the browser that it was begun in. */
  browser: string;
  /** Of the authorization request, without its `state`. */
  parameters: Record<string, string>;
}

export const trials: CollectionDefinition<TrialRecord> = {
  name: 'trials',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};
