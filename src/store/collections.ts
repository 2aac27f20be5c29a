// The data model: every collection with its indexes and queryable fields (sign-ups: signups.ts; protocol:
// protocol-collections.ts). Record types are in records.ts and client-records.ts. To add a field, add it there and, if a query needs it, here.
import { accountState, agentState, clientName, hasPasswordGrant } from './client-fields.ts';
import type { ClientRecord, InitialAccessTokenRecord, LogoutDeliveryRecord } from './client-records.ts';
import type { EmailChallengeRecord } from './code-records.ts';
import { asPath, dropEmails, furtherAddresses } from './fields.ts';
import type { CollectionDefinition } from './port.ts';
import type {
  AccountRecord,
  AuditRecord,
  ConsentRecord,
  EmailChangeRecord,
  FactRecord,
  LeaseRecord,
  LinkRecord,
  MailRecord,
  MailRequestRecord,
  RateRecord,
  SessionRecord,
  SettingsRecord,
  SigningKeyRecord,
  TrustedDeviceRecord,
} from './records.ts';
import { eventText, namesOf, orderOfName } from './search-text.ts';

export type { AddressChange } from './address-records.ts';
export type {
  ClientMetadata,
  ClientRecord,
  InitialAccessTokenRecord,
  LogoutDeliveryRecord,
  LogoutProblem,
} from './client-records.ts';
export type { EmailChallengeRecord } from './code-records.ts';
export type {
  AccountRecord,
  Address,
  AuditRecord,
  ConsentRecord,
  EmailChangeRecord,
  FactRecord,
  LeaseRecord,
  LinkRecord,
  MailRecord,
  MailRequestRecord,
  OtherEmail,
  Profile,
  ProtocolPayload,
  RateRecord,
  Role,
  SessionRecord,
  SettingsRecord,
  SigningKeyRecord,
  TrustedDeviceRecord,
} from './records.ts';
export type { InvitationRecord, SignupRecord } from './signups.ts';

/** A collection without indexes. */
const byId = <T>(
  name: string,
  durability: CollectionDefinition<T>['durability'],
): CollectionDefinition<T> => ({ name, durability, indexes: {}, fields: {} });

// ---------------------------------------------------------------------------------------------- accounts
export const accounts: CollectionDefinition<AccountRecord> = {
  name: 'accounts',
  durability: 'durable',
  indexes: {
    username: { unique: true, key: (a) => a.usernameKey },
    email: {
      unique: true,
      key: (a) => a.emailKey,
      furtherKeys: furtherAddresses,
      dropFurther: dropEmails,
    },
    role: { key: (a) => a.role },
    deleting: { key: (a) => (a.deletingAt === undefined ? undefined : 'yes') },
    leaving: { key: (a) => (a.deletion === undefined ? undefined : 'yes') },
  },
  fields: {
    username: { type: 'string', of: (a) => a.usernameKey },
    email: { type: 'string', of: (a) => a.emailKey },
    name: { type: 'string', of: orderOfName },
    names: { type: 'string', isSearched: true, isOnlySearched: true, of: namesOf },
    /** Between spaces, which no address contains. */
    other_emails: {
      type: 'string',
      isSearched: true,
      of: ({ otherEmails: others = [] }) =>
        others.length === 0 ? undefined : ` ${others.map(({ key }) => key).join(' ')} `,
    },
    role: { type: 'string', of: (a) => a.role },
    is_active: { type: 'boolean', of: (a) => a.isActive },
    is_email_verified: { type: 'boolean', of: (a) => a.isEmailVerified },
    totp_verified: { type: 'boolean', of: (a) => a.totpVerified },
    locked_until: { type: 'number', of: (a) => a.lockedUntil },
    last_login_at: { type: 'number', of: (a) => a.lastLoginAt },
    created_at: { type: 'number', of: (a) => a.createdAt },
    updated_at: { type: 'number', of: (a) => a.updatedAt },
    is_deleting: { type: 'boolean', of: (a) => a.deletingAt !== undefined },
    groups: { type: 'string', isSearched: true, of: (a) => asPath(a.groups) },
    passkey_count: { type: 'number', of: (a) => a.passkeys?.length ?? 0 },
  },
};

export const trustedDevices: CollectionDefinition<TrustedDeviceRecord> = {
  name: 'trusted_devices',
  durability: 'durable',
  indexes: { account: { key: (d) => d.accountId } },
  fields: { last_used_at: { type: 'number', of: (d) => d.lastUsedAt } },
};

export const emailChallenges: CollectionDefinition<EmailChallengeRecord> = {
  name: 'email_challenges',
  durability: 'ephemeral',
  indexes: { account: { key: (c) => c.accountId }, bound: { key: (c) => c.boundTo } },
  fields: {},
};

export const links: CollectionDefinition<LinkRecord> = {
  name: 'links',
  durability: 'durable',
  indexes: { account: { key: (l) => l.accountId } },
  fields: {},
};

export const emailChanges: CollectionDefinition<EmailChangeRecord> = {
  name: 'email_changes',
  durability: 'durable',
  indexes: { account: { key: (c) => c.accountId } },
  fields: {},
};

export const clients: CollectionDefinition<ClientRecord> = {
  name: 'clients',
  durability: 'durable',
  indexes: {
    ending: { key: (c) => (c.isEnding === true ? 'yes' : undefined) },
    default_api: { key: (c) => c.defaultApi?.id },
    /** The legacy profile. */
    profile: { key: (c) => c.profile },
    signed_responses: { key: (c) => (c.isActive && c.signedResponseAlg !== undefined ? 'yes' : undefined) },
    account_scopes: { key: accountState },
    password_grant: { key: (c) => (c.isActive && hasPasswordGrant(c) ? 'yes' : undefined) },
  },
  fields: {
    client_name: { type: 'string', of: clientName },
    client_type: { type: 'string', of: (c) => c.clientType },
    allowed_groups: { type: 'string', of: (c) => asPath(c.allowedGroups) },
    agent_state: { type: 'string', of: agentState },
    agent_used_at: { type: 'number', of: (c) => c.quarantine && (c.quarantine.usedAt ?? c.createdAt) },
    is_active: { type: 'boolean', of: (c) => c.isActive },
    created_at: { type: 'number', of: (c) => c.createdAt },
  },
};

/** How many codes an application redeemed in a row with a verifier; the id is the client_id. */
export interface PkceRunRecord {
  run: number;
}

export const pkceRuns = byId<PkceRunRecord>('pkce_runs', 'ephemeral');

/** Requests of an application that were refused for the same reason. Times are epoch milliseconds. */
export interface RefusalEntry {
  readonly endpoint: string;
  readonly error: string;
  readonly reason?: string | undefined;
  readonly address?: string | undefined;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The last refusals of an application, the newest first; the id is the client_id. */
export interface ClientRefusalsRecord {
  readonly entries: readonly RefusalEntry[];
}

export const clientRefusals = byId<ClientRefusalsRecord>('client_refusals', 'ephemeral');

export const initialAccessTokens: CollectionDefinition<InitialAccessTokenRecord> = {
  name: 'initial_access_tokens',
  durability: 'durable',
  indexes: {},
  fields: { created_at: { type: 'number', of: (t) => t.createdAt } },
};

// ---------------------------------------------------------------------------------------------- consents

export const consents: CollectionDefinition<ConsentRecord> = {
  name: 'consents',
  durability: 'durable',
  indexes: { account: { key: (c) => c.accountId }, client: { key: (c) => c.clientId } },
  fields: { updated_at: { type: 'number', of: (c) => c.updatedAt } },
};

// ---------------------------------------------------------------------------------------------- sessions

export const sessions: CollectionDefinition<SessionRecord> = {
  name: 'sessions',
  durability: 'durable',
  indexes: {
    account: { key: (s) => s.accountId },
    ending: { key: (s) => (s.isEnding === true ? 'yes' : undefined) },
  },
  fields: {
    user_id: { type: 'string', of: (s) => s.accountId },
    ip_address: { type: 'string', of: (s) => s.ipAddress },
    created_at: { type: 'number', of: (s) => s.createdAt },
    last_activity_at: { type: 'number', of: (s) => s.lastActivityAt },
    expires_at: { type: 'number', of: (s) => s.expiresAt },
    ended_at: { type: 'number', of: (s) => s.endedAt },
  },
};

// ---------------------------------------------------------------------------------------------- operation

export const settings = byId<SettingsRecord>('settings', 'durable');

export const signingKeys: CollectionDefinition<SigningKeyRecord> = {
  name: 'signing_keys',
  durability: 'durable',
  // The unique indexes let processes that start or rotate at once agree on one current and one next key.
  indexes: {
    current: { unique: true, key: (k) => (k.state === 'current' ? 'yes' : undefined) },
    next: { unique: true, key: (k) => (k.state === 'next' ? 'yes' : undefined) },
  },
  fields: { created_at: { type: 'number', of: (k) => k.createdAt } },
};

export const logoutDeliveries: CollectionDefinition<LogoutDeliveryRecord> = {
  name: 'logout_deliveries',
  durability: 'durable',
  indexes: {
    client: { key: (d) => d.clientId },
    account: { key: (d) => (d.isTest === true ? undefined : d.sub) },
  },
  fields: {
    client_id: { type: 'string', of: (d) => d.clientId },
    state: { type: 'string', of: (d) => d.state },
    due_at: { type: 'number', of: (d) => (d.state === 'queued' ? d.dueAt : undefined) },
    created_at: { type: 'number', of: (d) => d.createdAt },
  },
};

export const mails: CollectionDefinition<MailRecord> = {
  name: 'mails',
  durability: 'durable',
  indexes: { account: { key: (m) => m.accountId } },
  fields: {
    state: { type: 'string', of: (m) => m.state },
    due_at: { type: 'number', of: (m) => m.dueAt },
    created_at: { type: 'number', of: (m) => m.createdAt },
    to: { type: 'string', of: (m) => m.to },
  },
};

export const mailRequests: CollectionDefinition<MailRequestRecord> = {
  name: 'mail_requests',
  durability: 'durable',
  indexes: {},
  fields: { created_at: { type: 'number', of: (r) => r.createdAt } },
};

export const audit: CollectionDefinition<AuditRecord> = {
  name: 'audit',
  durability: 'durable',
  indexes: {},
  fields: {
    at: { type: 'number', of: (e) => e.at },
    event: { type: 'string', of: (e) => e.event },
    outcome: { type: 'string', of: (e) => e.outcome },
    actor_id: { type: 'string', of: (e) => e.actorId },
    target_id: { type: 'string', of: (e) => e.targetId },
    client_id: { type: 'string', of: (e) => e.clientId },
    ip_address: { type: 'string', of: (e) => e.ipAddress },
    text: { type: 'string', isOnlySearched: true, of: eventText },
  },
};

export const rates = byId<RateRecord>('rates', 'ephemeral');

/** A value that a browser reads once (src/http/one-time.ts): sealed, short-lived. */
export interface OneTimeRecord {
  sealed: string;
}

export const oneTime = byId<OneTimeRecord>('one_time', 'ephemeral');

export const leases = byId<LeaseRecord>('leases', 'ephemeral');

export const facts = byId<FactRecord>('facts', 'durable');
