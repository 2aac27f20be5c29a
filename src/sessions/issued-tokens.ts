// Lists and revokes what was issued: grants, refresh tokens and access tokens, never their values. Grants and refresh
// tokens are durable and support any query. Access tokens are in the ephemeral store, which finds them only by user,
// grant, application or API (src/store/port.ts).
import { memberOf } from '../json.ts';
import { consents as consentCollection } from '../store/collections.ts';
import type { FieldFilter, Page, Query, Store, Stored } from '../store/port.ts';
import * as protocol from '../store/protocol-collections.ts';
import type { ProtocolPayload } from '../store/records.ts';
import { consentId } from './consents.ts';
import type { Grants } from './grants.ts';

export type TokenKind = 'refresh_token' | 'access_token' | 'client_credentials';
export interface IssuedToken extends Stored<ProtocolPayload> {
  readonly kind: TokenKind;
}
export type IssuedGrant = Stored<ProtocolPayload>;

/** How to find tokens in the ephemeral store: all given members must match. */
export interface TokenOwner {
  readonly accountId?: string | undefined;
  readonly grantId?: string | undefined;
  readonly clientId?: string | undefined;
  readonly apiId?: string | undefined;
}

export interface IssuedTokens {
  /** Refresh tokens that can still be used. */
  queryRefreshTokens(query: Query): Promise<Page<ProtocolPayload>>;
  /** @param owner a user, a grant, or for `client_credentials` an application or an API; others find nothing */
  findOwned(kinds: readonly TokenKind[], owner: TokenOwner): Promise<IssuedToken[]>;
  findToken(id: string): Promise<IssuedToken | undefined>;
  /** Revokes an access token; for a refresh token its whole grant (RFC 7009 §2.1). @returns whether it existed */
  removeToken(id: string): Promise<boolean>;
  queryGrants(query: Query): Promise<Page<ProtocolPayload>>;
  findGrant(id: string): Promise<IssuedGrant | undefined>;
  /** Revokes the grant and everything issued from it; the user is asked for consent again. */
  removeGrant(grant: IssuedGrant): Promise<void>;
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const apiIdOf = ({ api }: ProtocolPayload): unknown => memberOf(api, 'id');
const notUsed: FieldFilter = { field: 'is_used', op: 'eq', value: false };

export function createIssuedTokens({
  store,
  grants,
}: {
  readonly store: Store;
  readonly grants: Pick<Grants, 'revoke'>;
}): IssuedTokens {
  const refreshTokens = store.collection(protocol.refreshTokens);
  const grantRecords = store.collection(protocol.grants);
  const consents = store.collection(consentCollection);
  const collections = {
    refresh_token: refreshTokens,
    access_token: store.ephemeral(protocol.accessTokens),
    client_credentials: store.ephemeral(protocol.clientCredentials),
  } as const;
  const kinds = ['refresh_token', 'access_token', 'client_credentials'] as const;

  const isUsable = ({ value }: IssuedToken): boolean => value.consumed === undefined;

  async function findOfKind(kind: TokenKind, { accountId, grantId, clientId, apiId }: TokenOwner) {
    const isOwn = kind === 'client_credentials';
    // The narrowest index first: an application may have tokens of a million users.
    const by = isOwn
      ? clientId === undefined
        ? (['api', apiId] as const)
        : (['client', clientId] as const)
      : grantId !== undefined
        ? (['grant', grantId] as const)
        : (['account', accountId] as const);
    if (by[1] === undefined) return [];
    const found = await collections[kind].findBy(by[0], by[1]);
    return found
      .map((stored): IssuedToken => ({ ...stored, kind }))
      .filter(
        ({ value }) =>
          (accountId === undefined || value.accountId === accountId) &&
          (grantId === undefined || value.grantId === grantId) &&
          (clientId === undefined || value.clientId === clientId) &&
          (apiId === undefined || apiIdOf(value) === apiId),
      );
  }

  async function findToken(id: string): Promise<IssuedToken | undefined> {
    for (const kind of kinds) {
      const stored = await collections[kind].find(id);
      if (stored !== undefined) return { ...stored, kind };
    }
    return undefined;
  }

  return {
    queryRefreshTokens: (query) =>
      refreshTokens.query({ ...query, filters: [...(query.filters ?? []), notUsed] }),

    async findOwned(wanted, owner) {
      const found = await Promise.all(wanted.map((kind) => findOfKind(kind, owner)));
      return found.flat().filter(isUsable);
    },

    findToken,

    async removeToken(id) {
      const token = await findToken(id);
      if (token === undefined) return false;
      const grantId = stringOf(token.value.grantId);
      if (token.kind === 'refresh_token' && grantId !== '') await grants.revoke(grantId);
      await collections[token.kind].remove(id);
      return true;
    },

    queryGrants: (query) => grantRecords.query(query),
    findGrant: (id) => grantRecords.find(id),

    async removeGrant({ id, value }) {
      await grants.revoke(id);
      await consents.remove(consentId(stringOf(value.accountId), stringOf(value.clientId)));
    },
  };
}
