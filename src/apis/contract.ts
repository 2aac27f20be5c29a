// The interface of the registry of APIs.
import type { Clients } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import type { apiRows } from '../model/apis/rows.ts';
import type { Given } from '../model/row.ts';
import type { ApiRecord } from '../store/apis.ts';
import type { Collection, Query, Stored } from '../store/port.ts';

/** A stored API; its id is internal. */
export type Api = Stored<ApiRecord>;

/** By the names of the API. Absent: unchanged, or when replacing and creating the default. */
export type ApiChanges = Given<typeof apiRows>;

export interface IfVersion {
  readonly ifVersion?: number | undefined;
}

export interface Apis {
  /** An API that is being removed is not found; nor by the other two. Nothing is cached. */
  find(id: string): Promise<Api | undefined>;
  /** @param identifier as a request names it */
  findByIdentifier(identifier: string): Promise<Api | undefined>;
  /** @returns the API whose introspection credentials these are; compares in constant time */
  authenticate(introspectionClientId: string, secret: string): Promise<Api | undefined>;
  query(query: Query): Promise<{ items: Api[]; total: number }>;
  /** @throws AppError api.identifier_taken, request.invalid (`fields`) */
  create(identifier: string, fields: ApiChanges): Promise<{ api: Api; introspectionSecret: string }>;
  /**
   * When it resolves, tokens for scopes that the API has no longer are revoked.
   * @param mode `replace`: what is absent gets its default; `merge`: it stays
   * @throws AppError api.not_found, api.changed, request.invalid (`fields`)
   */
  update(id: string, changes: ApiChanges, options: IfVersion & { mode: 'replace' | 'merge' }): Promise<Api>;
  /** @param options.overlapSeconds how long the previous secret stays valid; 0: it ends at once */
  rotateSecret(
    id: string,
    options?: IfVersion & { overlapSeconds?: number | undefined },
  ): Promise<{ api: Api; introspectionSecret: string }>;
  /** When it resolves, its tokens are revoked. @throws AppError api.not_found, api.changed */
  remove(id: string, options?: IfVersion): Promise<void>;
  /** Completes what a crash interrupted. @returns how many APIs that concerned */
  finishEndings(): Promise<number>;
}

export interface ApisDeps {
  readonly collection: Collection<ApiRecord>;
  readonly clock: Clock;
  /** An API with this identifier could not be told from this server, whose tokens name it as audience. */
  readonly issuer: string;
  readonly clients: Pick<Clients, 'find'>;
  /** @returns the names that are not groups */
  readonly missingGroups: (names: readonly string[]) => Promise<string[]>;
  /** Revokes the tokens of a removed API. */
  readonly apiRemoving: (apiId: string) => Promise<void>;
  /** Revokes the tokens for scopes that an API has no longer. */
  readonly scopesRemoving: (apiId: string, scopeIds: readonly string[]) => Promise<void>;
}
