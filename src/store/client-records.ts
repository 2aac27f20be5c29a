// The record types of applications.

/** RFC 7591 metadata with wire names, as validated; never contains a secret. */
export type ClientMetadata = Record<string, unknown> & { client_id: string };

export interface ClientRecord {
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
  /** Seconds; absent: the runtime setting applies. */
  accessTokenSeconds?: number;
  refreshTokenSeconds?: number;
  idTokenSeconds?: number;
  allowSelfSignup?: boolean;
  /** It may introspect any access token without `admin` scopes; absent: only its own. */
  mayIntrospect?: boolean;
  /** The `aud` of its access tokens that are for no API; absent: its own id, as every application had it once. */
  accessTokenAudience?: 'issuer';
  /** The weakest `acr` that a sign-in to it may have; absent: any. */
  requiredAcr?: string;
  /** How old an authentication may be at an authorization request; absent: any age. */
  maxAuthAgeSeconds?: number;
  /** The API that its tokens are for when a request names none; absent: none. */
  defaultApi?: { id: string; identifier: string };
  /** It must use PKCE; absent: only if its kind or the runtime setting says so (src/clients/pkce.ts). */
  requirePkce?: boolean;
  /** When it began to require PKCE by itself. With `requirePkce` absent: an administrator undid that, and it stays undone. */
  pkceRequiredAt?: number;
  /** A sign-out by an ID token without a browser also needs client authentication; absent: it does not. */
  logoutNeedsAuth?: boolean;
  /** Its tokens have the members that clients of Keycloak read; absent: they do not. */
  keycloakTokens?: boolean;
  /** Claims about the user come from userinfo alone (OIDC Core §5.4). */
  minimalIdTokens?: boolean;
  /** What an administrator allows it beyond the code flow; absent: nothing (src/clients/legacy.ts). */
  profile?: 'legacy';
  /** Members by wire name that count only while the setting `legacy_profiles` is on; response types without `code`. */
  legacyMetadata?: Record<string, unknown>;
  /** It may ask for signed authorization responses (JARM), which are signed with this; absent: it may not. */
  signedResponseAlg?: 'RS256' | 'ES256';
  /** Only members of one of these groups may sign in; absent: all users. */
  allowedGroups?: string[];
  /** Origins of its scripts, beside those of its redirect URIs. */
  webOrigins?: string[];
  /** Called addresses that an administrator entered or approved; absent: see src/clients/approved-addresses.ts. */
  approvedAddresses?: string[];
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
