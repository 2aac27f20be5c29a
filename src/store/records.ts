// The record types of all collections: plain JSON. Times (`…At`) are epoch milliseconds. Indexes are in collections.ts.

import type { Address, Profile } from '../model/users/rows.ts';
import type { AddressChange } from './address-records.ts';
import type { GuessCounters } from './guess-records.ts';

export type { Address, Profile } from '../model/users/rows.ts';

// ---------------------------------------------------------------------------------------------- accounts

/** `auditor` may read all that an administrator may read, and change nothing. */
export type Role = 'user' | 'auditor' | 'admin';

export interface TotpRecord {
  /** Sealed with SECRET_KEY. */
  sealedSecret: string;
  /** The last accepted time step (RFC 6238 §5.2): it and earlier ones are not accepted again. */
  lastStep: number;
  enrolledAt: number;
}

export interface AccountPasskey {
  /** The credential id, base64url. */
  id: string;
  /** security_key: has no user verification or is not discoverable, so it is a second factor only. */
  kind: 'passkey' | 'security_key';
}

export interface OtherEmail {
  address: string;
  /** As `emailKey`, and unique together with it. */
  key: string;
  verifiedAt: number;
}

export interface AccountRecord extends GuessCounters {
  username: string;
  /** NFKC, case-folded, trimmed: used for uniqueness and sign-in. */
  usernameKey: string;
  email?: string;
  emailKey?: string;
  isEmailVerified: boolean;
  /** Verified addresses besides `email`, in the order in which they came; they count as long as `email` is verified. */
  otherEmails?: OtherEmail[];
  role: Role;
  /** PHC string (argon2id); absent for accounts that never had a password. */
  passwordHash?: string;
  passwordChangedAt?: number;
  isActive: boolean;
  /**
   * Sessions and tokens of earlier authentications are no longer valid. Written in the same write as the change that ends them
   * (password, role, deactivation), so that a crash before the clean-up leaves none valid.
   */
  authenticatedNotBefore?: number;
  /** The owner changed factors: a sign-in in progress whose first factor is not later than this is refused (R063). */
  proofsNotBefore?: number;
  /**
   * Its owner asked for its deletion: until `dueAt` it may sign in to undo that, and nothing else. Absent: no one did.
   */
  deletion?: { requestedAt: number; dueAt: number };
  /** Set at the start of a deletion; from then on the account counts as deleted. A job finishes after a crash. */
  deletingAt?: number;
  lastLoginAt?: number;
  totpVerified: boolean;
  /** The enrolled authenticator app; absent until its first code was verified. */
  totp?: TotpRecord;
  /** SHA-256 of the unused recovery codes. */
  recoveryCodes?: string[];
  /** The valid passkeys; their details are in `passkeys` under the same ids. */
  passkeys?: AccountPasskey[];
  /** Whether codes by mail may be used as the second factor. */
  hasEmailCodes?: boolean;
  /** An administrator reset the second factor: the next sign-in requires enrolling one, whatever the settings say. */
  mustEnrolSecondFactor?: boolean;
  /**
   * When the password, address, a factor, role or activation last changed; strictly increasing. Trusted browsers, links and
   * codes are bound to it, so that such a change invalidates them without further writes.
   */
  securityChangedAt?: number;
  profile: Profile;
  /** The picture that its owner gave (avatars.ts); absent: none. */
  avatarId?: string;
  address?: Address;
  phoneNumber?: string;
  isPhoneNumberVerified?: boolean;
  /** The terms that the user accepted when signing up. */
  acceptedTerms?: { at: number; termsUrl?: string; privacyUrl?: string };
  /** Names of the account's groups, sorted; absent: none. */
  groups?: string[];
  /** The change of an address that can be stopped, or was; src/accounts/address-change.ts has its rules. */
  addressChange?: AddressChange;
  createdAt: number;
  updatedAt: number;
}

/** A trusted browser, which is not asked for the second factor; the id is the digest of its cookie's value. */
export interface TrustedDeviceRecord {
  accountId: string;
  label: string;
  ipAddress: string;
  userAgent: string;
  createdAt: number;
  lastUsedAt: number;
  /** The security state it is bound to: a new password or second-factor reset invalidates it. */
  boundTo: string;
}

/** A link sent by mail; the id is the digest of its token. */
export interface LinkRecord {
  accountId: string;
  purpose: 'password_reset' | 'email_verification' | 'magic_link' | 'invitation';
  /** The address it was sent to: using the link verifies only this address. */
  email: string;
  createdAt: number;
  /** The interaction that requested a magic link, where the sign-in continues. */
  boundTo?: string;
  /** To a former address: the link does not count before. */
  validFrom?: number;
  /** Made where there was no mail server, to be handed over: using it does not verify the address. */
  isHanded?: boolean;
  /** The account's security state at creation; a later change of password, address or factor voids the link. */
  securityState: string;
}

/** A change of an address by its owner (src/recovery/email-changes.ts); the id is the digest of a link's token. */
export interface EmailChangeRecord {
  accountId: string;
  /** What the link does; `stopped` has no link and waits for the owner. */
  act: 'confirm' | 'stop' | 'stopped';
  /** `to` was added and is not the primary address: stopping removes it. */
  isAddition?: boolean;
  /** Absent: there was none. */
  from?: string;
  to: string;
  createdAt: number;
  /** Of `stopped`, by this version. */
  stoppedAt?: number;
  /** The account's when it was asked for: a later change of password, address or factor voids the request. */
  securityState: string;
}

// ---------------------------------------------------------------------------------------------- consents

/** What a user has allowed an application, across sessions; the id is `accountId:clientId`. */
export interface ConsentRecord {
  accountId: string;
  clientId: string;
  scopes: string[];
  claims: string[];
  /** By the internal id of an API: ids of its scopes, and `claim:` with a claim that its tokens carry. */
  apis?: Record<string, string[]>;
  /** What the application said about itself then (src/clients/quarantine.ts); absent: an administrator vouches for it. */
  statement?: string;
  createdAt: number;
  updatedAt: number;
}

// ---------------------------------------------------------------------------------------------- sessions

// The secret half, the cookie's value, is in `oidcSessions`.
/** An SSO session as shown to users and administrators, by its public `uid`; kept for a while after its end. */
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
  /** Its grants are not all revoked yet. */
  isEnding?: boolean;
  /** Until then: digest of the cookie of the browser that requested the sign-out, if one did. */
  endingOf?: string;
}

/** A payload of oidc-provider's models. It never contains bearer values (adapters/oidc.ts). */
export type ProtocolPayload = Record<string, unknown>;

// ---------------------------------------------------------------------------------------------- operation

/** The document `current`: settings that differ from their defaults. */
export interface SettingsRecord {
  values: Record<string, unknown>;
  /** Counts the changes of looks (looks.ts), so that who reads the settings knows when to read those. Absent: 0. */
  looks?: number;
  /** Of the version that wrote it last: what is absent had its default (src/settings/former-defaults.ts). Absent: 0. */
  model?: number;
  updatedAt: number;
  updatedBy: string;
}

/** A signing key; the id is its `kid`. The private parts are sealed with SECRET_KEY. */
export interface SigningKeyRecord {
  alg: 'RS256';
  state: 'next' | 'current' | 'retired';
  publicJwk: Record<string, unknown>;
  sealedPrivateJwk: string;
  /** Its companion for ES256, of its age and its end. A key that an earlier version made gets one when it is loaded. */
  es256?: { publicJwk: Record<string, unknown>; sealedPrivateJwk: string };
  createdAt: number;
  /** When a next key becomes the current one. */
  activateAt?: number;
  activatedAt?: number;
  retiredAt?: number;
}

/** A mail to send, or to keep where there is no SMTP server. Ids sort by time, so mails are sent in order. */
export interface MailRecord {
  state: 'queued' | 'sent' | 'failed' | 'kept';
  to: string;
  accountId?: string;
  template: string;
  subject: string;
  /** Sealed with SECRET_KEY: mails contain codes and links. */
  sealedText: string;
  sealedHtml: string;
  attempts: number;
  /** The attempts at which the mail server was the problem: the mail itself waits no longer for them. */
  outages?: number;
  /** When the next attempt is due. */
  dueAt: number;
  lastError?: string;
  createdAt: number;
  sentAt?: number;
}

/** A requested mail; whether the account exists is checked later, outside the request (R085). */
export interface MailRequestRecord {
  kind: 'password_reset' | 'magic_link' | 'signup';
  email: string;
  ipAddress: string;
  userAgent: string;
  language: string;
  /** The sign-in that a magic link or code continues. */
  interaction?: string;
  /** The values of its known-browser cookie, separated by spaces. */
  sealedBrowser?: string;
  createdAt: number;
}

/** An audit event; never changed, removed by retention. Ids sort by time. */
export interface AuditRecord {
  at: number;
  event: string;
  outcome: 'success' | 'failure';
  /** Internal only: not shown to callers. */
  reason?: string;
  actorKind: 'user' | 'client' | 'bootstrap' | 'api_key' | 'system' | 'anonymous';
  actorId?: string;
  targetKind?: string;
  targetId?: string;
  clientId?: string;
  ipAddress?: string;
  userAgent?: string;
  requestId?: string;
  /** The browser's SSO session in which it happened; absent in events of versions that did not record it. */
  sessionId?: string;
  /** Before and after, without secrets. */
  details?: Record<string, unknown>;
}

/** A rate limit's points; the id is the limited key. */
export interface RateRecord {
  points: number;
}

/** The holder of a job's lease; the id is the job's name. Expires when its holder crashes. */
export interface LeaseRecord {
  holder: string;
}

/** Facts about the installation that one process decides once; the id is the fact's name. */
export interface FactRecord {
  at: number;
  value: string;
}
