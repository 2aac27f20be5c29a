// Owns the record types of every collection: plain JSON. Times: epoch ms (`…At`). collections.ts: what of them is indexed.

import type { GuessCounters } from './guess-records.ts';

// ---------------------------------------------------------------------------------------------- accounts

/** `auditor` reads all that an administrator reads, and changes nothing. */
export type Role = 'user' | 'auditor' | 'admin';

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

export interface TotpRecord {
  /** Sealed with SECRET_KEY. */
  sealedSecret: string;
  /** The last accepted time step (RFC 6238 §4.2): it and all before are never accepted again. */
  lastStep: number;
  enrolledAt: number;
}

export interface AccountPasskey {
  /** The credential id, base64url. */
  id: string;
  /** security_key: cannot check who holds it, or is not found without a name; a second factor, no way in by itself. */
  kind: 'passkey' | 'security_key';
}

export interface AccountRecord extends GuessCounters {
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
  /** The owner changed factors: a sign-in under way whose first proof is not after this comes to nothing (R063). */
  proofsNotBefore?: number;
  /** Set at the start of a deletion: from then on the account counts as gone; a job finishes what a crash left. */
  deletingAt?: number;
  lastLoginAt?: number;
  totpVerified: boolean;
  /** The enrolled authenticator; absent until its first code was right. */
  totp?: TotpRecord;
  /** SHA-256 of the unused recovery codes. */
  recoveryCodes?: string[];
  /** The passkeys that count; what is known of each is in `passkeys` under the same id. */
  passkeys?: AccountPasskey[];
  /** Whether a code by mail may be asked for as the second factor. */
  hasEmailCodes?: boolean;
  /** An administrator erased the second factor: the next sign-in enrols one, whatever the settings say. */
  mustEnrolSecondFactor?: boolean;
  /**
   * When the password, the address, a factor, the role or the activation last changed; strictly grows. Trusted
   * browsers, links and codes are bound to it, and so a change leaves all of them behind without a write.
   */
  securityChangedAt?: number;
  profile: Profile;
  address?: Address;
  phoneNumber?: string;
  isPhoneNumberVerified?: boolean;
  /** What the person agreed to when signing up, as it was called then. */
  acceptedTerms?: { at: number; termsUrl?: string; privacyUrl?: string };
  /** Names of the groups it belongs to, in order; absent: none. */
  groups?: string[];
  createdAt: number;
  updatedAt: number;
}

/** A browser that need not give the second factor again; the id is the digest of the cookie's value. */
export interface TrustedDeviceRecord {
  accountId: string;
  label: string;
  ipAddress: string;
  userAgent: string;
  createdAt: number;
  lastUsedAt: number;
  /** What it was bound to: a new password or a reset of the second factor leaves it behind. */
  boundTo: string;
}

/** A code sent by mail; the id names it to the interaction that asked for it. */
export interface EmailChallengeRecord {
  accountId: string;
  /** A code for one purpose is worth nothing for another. */
  purpose: 'sign_in' | 'email_change';
  digest: string;
  triesLeft: number;
  createdAt: number;
  /** The interaction or session that asked. */
  boundTo: string;
}

/** A link sent by mail; the id is the digest of the token in it. */
export interface LinkRecord {
  accountId: string;
  purpose: 'password_reset' | 'email_verification' | 'magic_link' | 'invitation';
  /** The address it was sent to: it proves that address and no later one. */
  email: string;
  createdAt: number;
  /** Where a magic link goes on: the interaction that asked. */
  boundTo?: string;
  /** What the account's security rested on when it was made; a later password, address or factor voids it. */
  securityState: string;
}

// ---------------------------------------------------------------------------------------------- clients

/** RFC 7591 metadata, wire names, exactly as validated; never with a secret. */
export type ClientMetadata = Record<string, unknown> & { client_id: string };

export interface ClientRecord {
  metadata: ClientMetadata;
  /** SHA-256 of each secret that is accepted now (two during a rotation's overlap). */
  secrets: { digest: string; createdAt: number; expiresAt?: number }[];
  clientType: 'confidential' | 'public';
  /** It said how it authenticates, so no other way is taken; by default both ways of sending a secret are. */
  hasChosenAuthMethod?: boolean;
  isActive: boolean;
  /** First-party: no consent page. Only an administrator can set it. */
  skipConsent: boolean;
  /** It was switched off, or people are asked now, and what it was given is not all taken back yet. */
  isEnding?: boolean;
  /** Who made it: an administrator, RFC 7591 registration, or this program at first start. */
  origin: 'admin' | 'registration' | 'seed';
  /** Seconds; absent: the runtime setting applies. */
  accessTokenSeconds?: number;
  refreshTokenSeconds?: number;
  idTokenSeconds?: number;
  allowSelfSignup?: boolean;
  /** Only members of one of these groups may sign in to it; absent: everybody. */
  allowedGroups?: string[];
  /** SHA-256 of the RFC 7592 registration access token. */
  registrationTokenDigest?: string;
  createdAt: number;
  updatedAt: number;
}

/** RFC 7591 §3 initial access tokens: the id is the digest of the token. */
export interface InitialAccessTokenRecord {
  label: string;
  usesLeft: number;
  createdAt: number;
}

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

// ---------------------------------------------------------------------------------------------- sessions

// The secret half, the cookie's value, is in `oidcSessions`.
/** The administrator's and the owner's view of an SSO session, by its public `uid`; kept after its end for a while. */
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
  /** What it gave is not all taken back yet. */
  isEnding?: boolean;
  /** While that is so: the digest of the cookie of the browser that asked for it, where one did. */
  endingOf?: string;
}

// ---------------------------------------------------------------------------------------------- protocol artifacts

/** A payload of oidc-provider, as its models give it to their adapter. Bearer values are never in it (see oidc.ts). */
export type ProtocolPayload = Record<string, unknown>;

// ---------------------------------------------------------------------------------------------- operation

/** One document, id `current`: the settings that differ from their defaults. */
export interface SettingsRecord {
  values: Record<string, unknown>;
  updatedAt: number;
  updatedBy: string;
}

/** A signing key; the id is its `kid`. The private part is sealed with SECRET_KEY. */
export interface SigningKeyRecord {
  alg: 'RS256';
  state: 'next' | 'current' | 'retired';
  publicJwk: Record<string, unknown>;
  sealedPrivateJwk: string;
  createdAt: number;
  /** Of a next key: when it is to become the current one. */
  activateAt?: number;
  activatedAt?: number;
  retiredAt?: number;
}

/** A mail to be sent, or kept for reading where there is no SMTP. Ids sort by time, so that they are sent in order. */
export interface MailRecord {
  state: 'queued' | 'sent' | 'failed' | 'kept';
  to: string;
  template: string;
  subject: string;
  /** Sealed with SECRET_KEY: texts carry codes and links. */
  sealedText: string;
  sealedHtml: string;
  attempts: number;
  /** When the next attempt is due. */
  dueAt: number;
  lastError?: string;
  createdAt: number;
  sentAt?: number;
}

/** Somebody's wish for a mail; whether there is such an account is looked up later, out of the request (R085). */
export interface MailRequestRecord {
  kind: 'password_reset' | 'magic_link' | 'signup';
  email: string;
  ipAddress: string;
  userAgent: string;
  language: string;
  /** The sign-in that a magic link or a code goes on with. */
  interaction?: string;
  createdAt: number;
}

/** One thing that happened; never changed, removed by retention. Ids sort by time. */
export interface AuditRecord {
  at: number;
  event: string;
  outcome: 'success' | 'failure';
  /** Inside only: callers never learn it. */
  reason?: string;
  actorKind: 'user' | 'client' | 'bootstrap' | 'api_key' | 'system' | 'anonymous';
  actorId?: string;
  targetKind?: string;
  targetId?: string;
  clientId?: string;
  ipAddress?: string;
  userAgent?: string;
  requestId?: string;
  /** Before and after, without secrets. */
  details?: Record<string, unknown>;
}

/** A rate limit's points; the id is the limited key. */
export interface RateRecord {
  points: number;
}

/** Who runs a job now; the id is the job's name. Expires by itself when its holder dies. */
export interface LeaseRecord {
  holder: string;
}

/** Facts about the installation that must be decided once, by one process; the id is the fact's name. */
export interface FactRecord {
  at: number;
  value: string;
}
