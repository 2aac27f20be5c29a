// Part of the data model (collections.ts): groups, API keys, event counts, idempotency keys, test sign-ins.
import { audit } from './collections.ts';
import type { CollectionDefinition } from './port.ts';
import type { AuditRecord } from './records.ts';

/** The id is the name. Memberships are stored on the accounts. */
export interface GroupRecord {
  name: string;
  displayName?: string;
  description?: string;
  /** Set at the start of a removal; from then on the group counts as removed. */
  removingAt?: number;
  createdAt: number;
  updatedAt: number;
}

/** The owner of an API key: the key grants no more than its owner may do now. */
export interface ApiKeyOwner {
  kind: 'user' | 'client';
  id: string;
}

/** A bearer credential for programs that use the admin API. */
export interface ApiKeyRecord {
  name: string;
  scopes: readonly ('admin' | 'admin:read')[];
  /** SHA-256 of the key. */
  digest: string;
  /** `kind:id` of the caller that created it. */
  createdBy: string;
  /** Null: the installation. Absent: a key from before keys had owners; derived from `createdBy` (clients/api-keys.ts). */
  owner?: ApiKeyOwner | null;
  createdAt: number;
  /** Rounded to 15 minutes. */
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

/** Event counts of one hour; the id is its start. */
export interface EventHourRecord {
  at: number;
  /** Number of events by event name. */
  counts: Record<string, number>;
  /** Number of active sessions when the hour was counted; absent if it was counted much later. */
  sessionsActive?: number;
}

export const eventHours: CollectionDefinition<EventHourRecord> = {
  name: 'event_hours',
  durability: 'durable',
  indexes: {},
  fields: { at: { type: 'number', of: (h) => h.at } },
};

/**
 * Token events of the audit log. A separate collection, since it grows faster, has a shorter retention, and must not slow
 * down queries of the rest.
 */
export const tokenEvents: CollectionDefinition<AuditRecord> = { ...audit, name: 'token_events' };

/** The id is a digest of the idempotency key and its sender. */
export interface IdempotencyRecord {
  /** Digest of the request. */
  fingerprint: string;
  /** The response, sealed with SECRET_KEY because it can contain a secret. Absent while the request runs. */
  sealedReply?: string;
}

export const idempotencyKeys: CollectionDefinition<IdempotencyRecord> = {
  name: 'idempotency_keys',
  durability: 'durable',
  indexes: {},
  fields: {},
};

/** An administrator's test sign-in as an application; the id is a digest of its `state`. */
export interface TestSignInRecord {
  clientId: string;
  adminId: string;
  /** The SSO session that started it. */
  sessionUid: string;
  /** Digest of the id of the browser that started it. */
  browser: string;
  /** Of the authorization request, without its `state`. */
  parameters: Record<string, string>;
}

export const testSignIns: CollectionDefinition<TestSignInRecord> = {
  name: 'trials',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};
