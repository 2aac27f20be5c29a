// The record types of applications.
import type { applicationRows } from '../model/applications/rows.ts';
import type { Stored } from '../model/row.ts';

/** RFC 7591 metadata with wire names, as validated; never contains a secret. */
export type ClientMetadata = Record<string, unknown> & { client_id: string };

type OfRows = Omit<
  Stored<typeof applicationRows>,
  'metadata' | 'legacyMetadata' | 'quarantine' | 'defaultApi'
>;

/** What its rows say, and what no row does. */
export interface ClientRecord extends OfRows {
  metadata: ClientMetadata;
  /** SHA-256 of each valid secret (two during a rotation's overlap). */
  secrets: { digest: string; createdAt: number; expiresAt?: number }[];
  clientType: 'confidential' | 'public';
  /** The authentication method was chosen explicitly, so no other is accepted; by default both secret methods are. */
  hasChosenAuthMethod?: boolean;
  isActive: boolean;
  /** First-party: no consent page. Only an administrator can set it. */
  skipConsent: boolean;
  /** Its scopes of the account API; absent: stored before there were any (src/clients/former-first-party.ts). */
  accountScopes?: ('account' | 'account:read')[];
  /** It was deactivated, or consent became required, and its grants are not all revoked yet. */
  isEnding?: boolean;
  /** How it was created: by an administrator, by RFC 7591 registration, or by this program at first start. */
  origin: 'admin' | 'registration' | 'seed';
  /** The API that its tokens are for when a request names none; absent: none. */
  defaultApi?: { id: string; identifier: string };
  /** Members by wire name that count only while the setting `legacy_profiles` is on; response types without `code`. */
  legacyMetadata?: Record<string, unknown>;
  /** Nobody vouched for it (src/clients/quarantine.ts); absent: an administrator did. Never removed again. */
  quarantine?: {
    /** How it came: open registration, or a metadata document at the address that is its id. */
    by: 'registration' | 'document';
    /** About when it last got tokens; absent: nobody has signed in to it yet. */
    usedAt?: number;
    /** When its document was last read. */
    fetchedAt?: number;
    /** Digest of what its document says about keys and authentication. */
    says?: string;
  };
  /** SHA-256 of the RFC 7592 registration access token. */
  registrationTokenDigest?: string;
  createdAt: number;
  updatedAt: number;
}

/**
 * A logout token for an application (OIDC Back-Channel Logout §2.5) and whether it arrived; never the token itself, nor what the
 * application answered.
 */
export interface LogoutDeliveryRecord {
  clientId: string;
  /** The user and the session as the application knows them. Those of a test belong to no one. */
  sub: string;
  sid: string;
  isTest?: boolean;
  state: 'queued' | 'delivered' | 'failed';
  /** Scheme, host and port of the address at the last attempt. */
  origin?: string;
  attempts: number;
  /** When the next attempt is due, while it is queued. */
  dueAt: number;
  createdAt: number;
  /** When the last attempt began. */
  triedAt?: number;
  /** The HTTP status of the last attempt, or why it has none. */
  status?: number;
  problem?: LogoutProblem;
  /** The user was deleted: it is removed as soon as it is not queued any more. */
  isOfDeletedUser?: boolean;
}

export type LogoutProblem =
  | 'application_inactive'
  | 'no_address'
  | 'not_allowed'
  | 'host_not_found'
  | 'no_connection'
  | 'certificate'
  | 'no_response'
  | 'invalid_response';

/** RFC 7591 §3 initial access tokens: the id is the digest of the token. */
export interface InitialAccessTokenRecord {
  label: string;
  usesLeft: number;
  createdAt: number;
  /** What clients that register with it get; absent: nothing. */
  profile?: 'legacy';
}
