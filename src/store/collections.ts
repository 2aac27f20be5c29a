// Owns the whole data model on one page: every collection, its record type, its indexes and its queryable fields.
// Record types are plain JSON. Times are epoch milliseconds (`…At`). Adding a field here is the only place to add it.
import type { CollectionDefinition } from './port.ts';

// ---------------------------------------------------------------------------------------------- accounts

export type Role = 'user' | 'admin';

/** OIDC Core §5.1 standard claims that we keep as they come (strings). */
export interface Profile {
  name?: string;
  given_name?: string;
  family_name?: string;
  middle_name?: string;
  nickname?: string;
  profile?: string;
  picture?: string;
  website?: string;
  gender?: string;
  birthdate?: string;
  zoneinfo?: string;
  locale?: string;
}

/** OIDC Core §5.1.1. */
export interface Address {
  formatted?: string;
  street_address?: string;
  locality?: string;
  region?: string;
  postal_code?: string;
  country?: string;
}

export interface AccountRecord {
  username: string;
  /** NFKC, case-folded, trimmed: what uniqueness and sign-in compare. */
  usernameKey: string;
  email?: string;
  emailKey?: string;
  isEmailVerified: boolean;
  role: Role;
  /** PHC string (argon2id); absent for accounts that have never had a password. */
  passwordHash?: string;
  passwordChangedAt?: number;
  isActive: boolean;
  /**
   * Sessions and tokens of an authentication before this count no more. Written together with the change that ends them
   * (password, role, deactivation), so that no crash between the change and the clean-up leaves one alive.
   */
  authenticatedNotBefore?: number;
  /** Set at the start of a deletion: from then on the account counts as gone; a job finishes what a crash left. */
  deletingAt?: number;
  /** Failures in a row since the last success; what lockout counts. */
  failedLoginAttempts: number;
  /** How often it was locked in a row; doubles the lock's length. */
  lockCount: number;
  lockedUntil?: number;
  lastLoginAt?: number;
  totpVerified: boolean;
  profile: Profile;
  address?: Address;
  phoneNumber?: string;
  isPhoneNumberVerified?: boolean;
  createdAt: number;
  updatedAt: number;
}

export const accounts: CollectionDefinition<AccountRecord> = {
  name: 'accounts',
  durability: 'durable',
  indexes: {
    username: { unique: true, key: (a) => a.usernameKey },
    email: { unique: true, key: (a) => a.emailKey },
    role: { key: (a) => a.role },
    deleting: { key: (a) => (a.deletingAt === undefined ? undefined : 'yes') },
  },
  fields: {
    username: { type: 'string', of: (a) => a.usernameKey },
    email: { type: 'string', of: (a) => a.emailKey },
    role: { type: 'string', of: (a) => a.role },
    is_active: { type: 'boolean', of: (a) => a.isActive },
    is_email_verified: { type: 'boolean', of: (a) => a.isEmailVerified },
    totp_verified: { type: 'boolean', of: (a) => a.totpVerified },
    locked_until: { type: 'number', of: (a) => a.lockedUntil },
    last_login_at: { type: 'number', of: (a) => a.lastLoginAt },
    created_at: { type: 'number', of: (a) => a.createdAt },
    updated_at: { type: 'number', of: (a) => a.updatedAt },
    is_deleting: { type: 'boolean', of: (a) => a.deletingAt !== undefined },
  },
};

// ---------------------------------------------------------------------------------------------- clients

/** RFC 7591 metadata, wire names, exactly as validated; never with a secret. */
export type ClientMetadata = Record<string, unknown> & { client_id: string };

export interface ClientRecord {
  metadata: ClientMetadata;
  /** SHA-256 of each secret that is accepted now (two during a rotation's overlap). */
  secrets: { digest: string; createdAt: number; expiresAt?: number }[];
  clientType: 'confidential' | 'public';
  isActive: boolean;
  /** First-party: no consent page. Only an administrator can set it. */
  skipConsent: boolean;
  /** Who made it: an administrator, RFC 7591 registration, or this program at first start. */
  origin: 'admin' | 'registration' | 'seed';
  /** Seconds; absent: the runtime setting applies. */
  accessTokenSeconds?: number;
  refreshTokenSeconds?: number;
  idTokenSeconds?: number;
  allowSelfSignup?: boolean;
  /** SHA-256 of the RFC 7592 registration access token. */
  registrationTokenDigest?: string;
  createdAt: number;
  updatedAt: number;
}

const clientName = (c: ClientRecord): string =>
  typeof c.metadata.client_name === 'string' ? c.metadata.client_name : c.metadata.client_id;

export const clients: CollectionDefinition<ClientRecord> = {
  name: 'clients',
  durability: 'durable',
  indexes: {},
  fields: {
    client_name: { type: 'string', of: clientName },
    client_type: { type: 'string', of: (c) => c.clientType },
    is_active: { type: 'boolean', of: (c) => c.isActive },
    created_at: { type: 'number', of: (c) => c.createdAt },
  },
};

/** RFC 7591 §3 initial access tokens: the id is the digest of the token. */
export interface InitialAccessTokenRecord {
  label: string;
  usesLeft: number;
  createdAt: number;
}

export const initialAccessTokens: CollectionDefinition<InitialAccessTokenRecord> = {
  name: 'initial_access_tokens',
  durability: 'durable',
  indexes: {},
  fields: { created_at: { type: 'number', of: (t) => t.createdAt } },
};

// ---------------------------------------------------------------------------------------------- what people agreed to

/** What a person allowed an application, kept over sessions; the id is `accountId:clientId`. */
export interface ConsentRecord {
  accountId: string;
  clientId: string;
  scopes: string[];
  claims: string[];
  createdAt: number;
  updatedAt: number;
}

export const consents: CollectionDefinition<ConsentRecord> = {
  name: 'consents',
  durability: 'durable',
  indexes: { account: { key: (c) => c.accountId }, client: { key: (c) => c.clientId } },
  fields: { updated_at: { type: 'number', of: (c) => c.updatedAt } },
};

// ---------------------------------------------------------------------------------------------- sessions

/**
 * The administrator's and the owner's view of an SSO session; the id is the session's public `uid`. The secret half
 * (the cookie's value) is in `oidcSessions`. Kept after the end, until retention removes it.
 */
export interface SessionRecord {
  accountId: string;
  ipAddress: string;
  userAgent: string;
  amr: string[];
  clientIds: string[];
  createdAt: number;
  lastActivityAt: number;
  expiresAt: number;
  endedAt?: number;
}

export const sessions: CollectionDefinition<SessionRecord> = {
  name: 'sessions',
  durability: 'durable',
  indexes: { account: { key: (s) => s.accountId } },
  fields: {
    user_id: { type: 'string', of: (s) => s.accountId },
    ip_address: { type: 'string', of: (s) => s.ipAddress },
    created_at: { type: 'number', of: (s) => s.createdAt },
    last_activity_at: { type: 'number', of: (s) => s.lastActivityAt },
    expires_at: { type: 'number', of: (s) => s.expiresAt },
    ended_at: { type: 'number', of: (s) => s.endedAt },
  },
};

// ---------------------------------------------------------------------------------------------- protocol artifacts

/** A payload of oidc-provider, as its models give it to their adapter. Bearer values are never in it (see oidc.ts). */
export type ProtocolPayload = Record<string, unknown>;

const text = (payload: ProtocolPayload, name: string): string | undefined => {
  const value = payload[name];
  return typeof value === 'string' ? value : undefined;
};
const number = (payload: ProtocolPayload, name: string): number | undefined => {
  const value = payload[name];
  return typeof value === 'number' ? value : undefined;
};

const protocolIndexes = {
  account: { key: (p: ProtocolPayload) => text(p, 'accountId') },
  client: { key: (p: ProtocolPayload) => text(p, 'clientId') },
  grant: { key: (p: ProtocolPayload) => text(p, 'grantId') },
};

export const grants: CollectionDefinition<ProtocolPayload> = {
  name: 'grants',
  durability: 'durable',
  indexes: {
    account: protocolIndexes.account,
    client: protocolIndexes.client,
    session: { key: (p) => text(p, 'sessionUid') },
  },
  fields: { created_at: { type: 'number', of: (p) => number(p, 'iat') } },
};

export const refreshTokens: CollectionDefinition<ProtocolPayload> = {
  name: 'refresh_tokens',
  durability: 'durable',
  indexes: protocolIndexes,
  fields: { created_at: { type: 'number', of: (p) => number(p, 'iat') } },
};

const ephemeralArtifact = (name: string): CollectionDefinition<ProtocolPayload> => ({
  name,
  durability: 'ephemeral',
  indexes: protocolIndexes,
  fields: {},
});

export const accessTokens = ephemeralArtifact('access_tokens');
export const clientCredentials = ephemeralArtifact('client_credentials');
export const authorizationCodes = ephemeralArtifact('authorization_codes');

export const deviceCodes: CollectionDefinition<ProtocolPayload> = {
  ...ephemeralArtifact('device_codes'),
  indexes: { ...protocolIndexes, user_code: { unique: true, key: (p) => text(p, 'userCode') } },
};

export const oidcSessions: CollectionDefinition<ProtocolPayload> = {
  name: 'oidc_sessions',
  durability: 'ephemeral',
  indexes: { uid: { key: (p) => text(p, 'uid') }, account: protocolIndexes.account },
  fields: {},
};

export const interactions: CollectionDefinition<ProtocolPayload> = {
  name: 'interactions',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};

export const pushedRequests: CollectionDefinition<ProtocolPayload> = {
  name: 'pushed_requests',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};

/** One-time identifiers of others (client assertions, DPoP proofs): insert-if-absent is the replay check. */
export const replayMarkers: CollectionDefinition<ProtocolPayload> = {
  name: 'replay_markers',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};

// ---------------------------------------------------------------------------------------------- operation

/** One document, id `current`: the settings that differ from their defaults. */
export interface SettingsRecord {
  values: Record<string, unknown>;
  updatedAt: number;
  updatedBy: string;
}

export const settings: CollectionDefinition<SettingsRecord> = {
  name: 'settings',
  durability: 'durable',
  indexes: {},
  fields: {},
};

/** A signing key; the id is its `kid`. The private part is sealed with SECRET_KEY. */
export interface SigningKeyRecord {
  alg: 'RS256';
  state: 'next' | 'current' | 'retired';
  publicJwk: Record<string, unknown>;
  sealedPrivateJwk: string;
  createdAt: number;
  activatedAt?: number;
  retiredAt?: number;
}

export const signingKeys: CollectionDefinition<SigningKeyRecord> = {
  name: 'signing_keys',
  durability: 'durable',
  // The unique index lets many processes start at once on an empty store and agree on one current key.
  indexes: { current: { unique: true, key: (k) => (k.state === 'current' ? 'yes' : undefined) } },
  fields: { created_at: { type: 'number', of: (k) => k.createdAt } },
};

/** Who runs a job now; the id is the job's name. Expires by itself when its holder dies. */
export interface LeaseRecord {
  holder: string;
}

export const leases: CollectionDefinition<LeaseRecord> = {
  name: 'leases',
  durability: 'ephemeral',
  indexes: {},
  fields: {},
};

/** Facts about the installation that must be decided once, by one process; the id is the fact's name. */
export interface FactRecord {
  at: number;
  value: string;
}

export const facts: CollectionDefinition<FactRecord> = {
  name: 'facts',
  durability: 'durable',
  indexes: {},
  fields: {},
};

/** Every collection; the contract suite, the sweeper and the copy script walk this list. */
export const allCollections: readonly CollectionDefinition<never>[] = [
  accounts,
  clients,
  initialAccessTokens,
  consents,
  sessions,
  grants,
  refreshTokens,
  accessTokens,
  clientCredentials,
  authorizationCodes,
  deviceCodes,
  oidcSessions,
  interactions,
  pushedRequests,
  replayMarkers,
  settings,
  signingKeys,
  leases,
  facts,
] as unknown as readonly CollectionDefinition<never>[];
