// The interface of the application registry.
import type { Clock } from '../clock.ts';
import type { ClientRecord, InitialAccessTokenRecord } from '../store/collections.ts';
import type { Collection, Query } from '../store/port.ts';
import type { Client, GivenSettings } from './application.ts';
import type { checkRedirectUris } from './check-redirect-uris.ts';
import type { InitialAccessTokens } from './initial-access-tokens.ts';
import type { ValidateMetadata } from './prepare.ts';
import type { SecretDigest } from './secrets.ts';

export interface ClientsDeps {
  readonly collection: Collection<ClientRecord>;
  readonly initialAccessTokens: Collection<InitialAccessTokenRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly newSecret: (bytes: number) => string;
  readonly secretDigest: SecretDigest;
  /**
   * The protocol core's client schema. Returns normalised metadata, or throws an Error with `error`
   * (`invalid_client_metadata`, `invalid_redirect_uri`) and `error_description`.
   */
  readonly validateMetadata: ValidateMetadata;
  /** Revokes everything that was granted to the client: grants, tokens, consents. */
  readonly endClient: (clientId: string) => Promise<void>;
  /** Removes what belongs to the client elsewhere; default: nothing does. */
  readonly clientRemoving?: (clientId: string) => Promise<void>;
  /** BASE_URL: no redirect URI may be an address of this server. */
  readonly baseUrl?: string;
  /** The setting `agents`: whether applications that nobody vouched for can do anything; default: no. */
  readonly isOpenToAgents?: () => boolean;
  /** The setting `legacy_profiles`; default: off. */
  readonly hasLegacyProfiles?: () => boolean;
  /** Whether OUTBOUND_ALLOW lets this server call a plain http address; default: none. */
  readonly mayBePlain?: (uri: string, use: 'keys' | 'notice') => boolean;
  /** @returns the API with this identifier; default: none has it */
  readonly findApi?: (identifier: string) => Promise<ClientRecord['defaultApi']>;
  /** @returns the names that are not groups; default: group names are not checked */
  readonly missingGroups?: (names: readonly string[]) => Promise<string[]>;
}

export interface CreateClient {
  /** RFC 7591 members by wire name; null is absent, unknown ones are dropped. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly settings?: GivenSettings;
  /** `registration` is subject to the rules for dynamic registration; the others are an administrator's. */
  readonly origin: ClientRecord['origin'];
  /** RFC 7591 §3; one use is consumed when the client is created. */
  readonly initialAccessToken?: string;
  /** Whether the client may manage itself (RFC 7592). */
  readonly hasRegistrationToken?: boolean;
  /** Nobody vouched for it (quarantine.ts). */
  readonly quarantine?: ClientRecord['quarantine'];
  /** Only for `seed`, whose clients have fixed ids, and for documents, whose address is the id. */
  readonly clientId?: string;
}

export interface UpdateClient {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** `replace`: absent members are reset to their defaults; `merge`: they stay, null removes. */
  readonly mode: 'replace' | 'merge';
  readonly settings?: GivenSettings;
  readonly authority: 'administrator' | 'registrant';
  /** Of a client that its document describes: when that was read, and what it says. */
  readonly document?: Pick<NonNullable<ClientRecord['quarantine']>, 'fetchedAt' | 'says'>;
  /** Only if the client still has this version. */
  readonly ifVersion?: number | undefined;
  /** By this server itself: nobody else changes the client of its own pages. */
  readonly isOfOurs?: true;
}

export interface Clients {
  readonly initialAccessTokens: InitialAccessTokens;
  find(clientId: string): Promise<Client | undefined>;
  /** The same for who only reads it: what is in it is frozen. */
  findShared(clientId: string): Promise<Client | undefined>;
  query(query: Query): Promise<{ items: Client[]; total: number }>;
  /** What a registration by an administrator would say about each; registers nothing. */
  checkRedirectUris(asked: Parameters<typeof checkRedirectUris>[0]): ReturnType<typeof checkRedirectUris>;
  /** Active applications with the legacy profile. */
  findLegacy(): Promise<Client[]>;
  /** Whether some active client may use the password grant. */
  hasPasswordGrant(): Promise<boolean>;
  /** Whether some active client may ask for scopes of the account API. */
  hasAccountScopes(): Promise<boolean>;
  /** Whether some active client may ask for signed authorization responses. */
  hasSignedResponses(): Promise<boolean>;
  /** @throws AppError client.invalid_metadata (`fields`), auth.invalid_token (initial access token used up) */
  create(
    input: CreateClient,
  ): Promise<{ client: Client; clientSecret?: string; registrationAccessToken?: string }>;
  /**
   * @returns the client as it was and is, and a secret when the change made one necessary
   * @throws AppError client.not_found, client.built_in, client.invalid_metadata, account.changed
   */
  update(
    clientId: string,
    input: UpdateClient,
  ): Promise<{ before: Client; client: Client; clientSecret?: string }>;
  /**
   * @param overlapSeconds how long the previous secret stays valid; 0: it ends at once
   * @throws AppError client.not_found, client.built_in, client.invalid_metadata (it has no secret), account.changed
   */
  rotateSecret(
    clientId: string,
    options?: { overlapSeconds?: number | undefined; ifVersion?: number | undefined },
  ): Promise<{ client: Client; clientSecret: string }>;
  /**
   * When this resolves, nothing granted to the client is valid any more. @returns what it was
   * @throws AppError client.not_found, client.built_in, account.changed
   */
  remove(clientId: string, options?: { ifVersion?: number | undefined }): Promise<Client>;
  /** For the job that finishes interrupted revocations. @returns the number of clients checked */
  finishEndings(): Promise<number>;
  /** @returns the client if the RFC 7592 token belongs to it and it is active; undefined in every other case */
  verifyRegistrationToken(clientId: string, token: string): Promise<Client | undefined>;
  /** Constant time. @param now epoch milliseconds, default: the clock's */
  verifySecret(record: Pick<ClientRecord, 'secrets'>, presented: string, now?: number): boolean;
}
