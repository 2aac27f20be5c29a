// Owns the application registry's face: what it needs, what it offers, and which errors each act may throw.
import type { Clock } from '../clock.ts';
import type { ClientRecord, InitialAccessTokenRecord } from '../store/collections.ts';
import type { Collection, Query } from '../store/port.ts';
import type { SettingChanges } from './client-settings.ts';
import type { InitialAccessTokens } from './initial-access-tokens.ts';
import type { ValidateMetadata } from './prepare.ts';
import type { SecretDigest } from './secrets.ts';
import type { Client } from './to-client.ts';

export interface ClientsDeps {
  readonly collection: Collection<ClientRecord>;
  readonly initialAccessTokens: Collection<InitialAccessTokenRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly newSecret: (bytes: number) => string;
  readonly secretDigest: SecretDigest;
  /**
   * The protocol core's own client schema. Answers normalised metadata, or throws an Error with `error`
   * (`invalid_client_metadata`, `invalid_redirect_uri`) and `error_description`.
   */
  readonly validateMetadata: ValidateMetadata;
  /** Ends everything that was given to the client: grants, tokens, consents. */
  readonly endClient: (clientId: string) => Promise<void>;
  /** BASE_URL: no application may have an address of this server as its redirect URI; default: none are known. */
  readonly baseUrl?: string;
  /** @returns those of the names that are no group; default: none are looked for */
  readonly missingGroups?: (names: readonly string[]) => Promise<string[]>;
}

export interface CreateClient {
  /** RFC 7591 members by wire name; null is absent, unknown ones are dropped. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly settings?: SettingChanges;
  /** `registration` is bound by the rules for strangers; the others are an administrator's. */
  readonly origin: ClientRecord['origin'];
  /** RFC 7591 §3: used up by one when the client is made, and only then. */
  readonly initialAccessToken?: string;
  /** Whether the client may manage itself (RFC 7592). */
  readonly hasRegistrationToken?: boolean;
  /** Only for `seed`: programs of ours are known by a fixed id. */
  readonly clientId?: string;
}

export interface UpdateClient {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** `replace`: absent members go back to their defaults; `merge`: they stay, null removes. */
  readonly mode: 'replace' | 'merge';
  readonly settings?: SettingChanges;
  readonly authority: 'administrator' | 'registrant';
  /** Only if the client still has this version. */
  readonly ifVersion?: number | undefined;
}

export interface Clients {
  readonly initialAccessTokens: InitialAccessTokens;
  find(clientId: string): Promise<Client | undefined>;
  query(query: Query): Promise<{ items: Client[]; total: number }>;
  /** @throws AppError client.invalid_metadata (`fields`), auth.invalid_token (initial access token used up) */
  create(
    input: CreateClient,
  ): Promise<{ client: Client; clientSecret?: string; registrationAccessToken?: string }>;
  /**
   * @returns the client, and a secret when the change made one necessary
   * @throws AppError client.not_found, client.invalid_metadata, account.changed
   */
  update(clientId: string, input: UpdateClient): Promise<{ client: Client; clientSecret?: string }>;
  /**
   * @param overlapSeconds how long the secret until now is still taken; 0: not any more
   * @throws AppError client.not_found, client.invalid_metadata (it has no secret), account.changed
   */
  rotateSecret(
    clientId: string,
    options?: { overlapSeconds?: number | undefined; ifVersion?: number | undefined },
  ): Promise<{ client: Client; clientSecret: string }>;
  /** Nothing that was given to the client works any more when this resolves. @throws AppError client.not_found */
  remove(clientId: string, options?: { ifVersion?: number | undefined }): Promise<void>;
  /** For the job that completes what a crash cut short: a deactivation, or that people are asked for consent. @returns how many it looked at */
  finishEndings(): Promise<number>;
  /** @returns the client if the RFC 7592 token is its own and it is active; one answer for every other case */
  verifyRegistrationToken(clientId: string, token: string): Promise<Client | undefined>;
  /** Constant time. @param now epoch milliseconds, default: the clock's */
  verifySecret(record: Pick<ClientRecord, 'secrets'>, presented: string, now?: number): boolean;
}
