// The routes of issued tokens and of a user's grants (decisions §6). Refresh tokens can be listed without a filter; access
// tokens, of which millions can exist for minutes, only by user, grant or application.
import { Enum, Object as ObjectSchema, String as StringSchema } from 'typebox';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { IssuedGrant, IssuedToken, IssuedTokens, TokenKind } from '../../../sessions/index.ts';
import type { FieldValue, Query } from '../../../store/port.ts';
import { grants as grantCollection, refreshTokens } from '../../../store/protocol-collections.ts';
import type { ProtocolPayload } from '../../../store/records.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import type { Listing } from '../../api/ports.ts';
import { type Answer, defineRoute, type Route } from '../../api/route.ts';
import { atVersion, idParams, userOf } from '../../api/shared.ts';
import type { ClientsPort } from '../clients/routes.ts';
import type { AccountsPort } from '../users/routes.ts';
import { grantSchema, toGrant, tokenKinds, tokenSchema, toToken } from './view.ts';

interface Deps {
  readonly issuedTokens: IssuedTokens;
  readonly accounts: Pick<AccountsPort, 'find'>;
  readonly clients: Pick<ClientsPort, 'find'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const anId = () => StringSchema({ minLength: 1, maxLength: 128 });
const nothingMore = { toGroups: () => [[]] };

const list: ListDefinition<ProtocolPayload> = {
  name: 'tokens',
  collection: refreshTokens,
  sorts: ['created_at', 'id'],
  defaultOrder: 'desc',
  filters: {
    // Selects the collection; not a field of either.
    kind: { schema: Enum([...tokenKinds]), ...nothingMore },
    user_id: { schema: anId() },
    client_id: { schema: anId() },
    grant_id: { schema: anId() },
  },
  times: [],
};

const grantList: ListDefinition<ProtocolPayload> = {
  name: 'user-grants',
  collection: grantCollection,
  sorts: ['created_at', 'client_id', 'id'],
  defaultOrder: 'desc',
  filters: { client_id: { schema: anId() } },
  times: [],
};

const { id } = idParams.properties;
const userGrantParams = ObjectSchema({ id, grant_id: id }, { additionalProperties: false });
const tag = 'Tokens';

const textIn = (query: object, name: string): string | undefined => {
  const value: unknown = Reflect.get(query, name);
  return typeof value === 'string' ? value : undefined;
};

export function tokenRoutes(deps: Deps): Route[] {
  const { issuedTokens, accounts, clients, cursors, clock } = deps;

  /** The owner to query in the ephemeral store as well; undefined: refresh tokens only, from the durable store. */
  function ownedIn(query: object) {
    const kind = textIn(query, 'kind');
    const owner = {
      accountId: textIn(query, 'user_id'),
      grantId: textIn(query, 'grant_id'),
      clientId: textIn(query, 'client_id'),
    };
    const isOwned = owner.accountId !== undefined || owner.grantId !== undefined;
    if (kind === 'client_credentials' && owner.clientId === undefined) {
      throw refuse('client_id', 'Must be given: these tokens are found by their application.');
    }
    if (kind === 'access_token' && !isOwned) {
      throw refuse('user_id', 'Must be given, or grant_id: access tokens are found by these alone.');
    }
    if (kind === 'refresh_token' || (kind === undefined && !isOwned)) return undefined;
    const kinds: TokenKind[] =
      kind === 'client_credentials' || kind === 'access_token' ? [kind] : ['refresh_token', 'access_token'];
    return { kinds, owner };
  }

  const findToken = async (tokenId: string): Promise<IssuedToken> => {
    const token = await issuedTokens.findToken(tokenId);
    if (token === undefined || token.value.consumed !== undefined) throw new AppError('token.not_found');
    return token;
  };

  const viewOf = async (grant: IssuedGrant) => {
    const clientId = grant.value.clientId;
    const client = typeof clientId === 'string' ? await clients.find(clientId) : undefined;
    return toGrant(
      grant,
      client && {
        name: String(client.value.metadata.client_name ?? client.id),
        isFirstParty: client.value.skipConsent,
      },
    );
  };

  const checkUser = (userId: string): Promise<unknown> => userOf(userId, { accounts });

  return [
    defineRoute({
      method: 'GET',
      path: '/tokens',
      sensitivity: 'plain',
      tag,
      summary:
        'List issued tokens that can still be used: refresh tokens in any way, access tokens with user_id or grant_id, ' +
        'those of applications themselves with kind=client_credentials and client_id',
      query: listQuerySchema(list),
      success: { status: 200, schema: pageSchema(tokenSchema) },
      handle: async ({ query }) => {
        const owned = ownedIn(query);
        const page = await readPage<ProtocolPayload, IssuedToken>({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: async (wanted) => {
            if (owned) return pick(await issuedTokens.findOwned(owned.kinds, owned.owner), wanted);
            const found = await issuedTokens.queryRefreshTokens(wanted);
            return {
              ...found,
              items: found.items.map((stored) => ({ ...stored, kind: 'refresh_token' as const })),
            };
          },
          recordOf: ({ value }) => value,
          idOf: (token) => token.id,
        });
        return { data: { ...page, items: page.items.map(toToken) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/tokens/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'Read the metadata of a token',
      params: idParams,
      success: { status: 200, schema: tokenSchema, hasVersion: true },
      handle: async ({ params }) => {
        const token = await findToken(params.id);
        return { data: toToken(token), version: token.version };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/tokens/{id}',
      sensitivity: 'plain',
      tag,
      summary: 'Revoke a token; with a refresh token goes its whole grant',
      params: idParams,
      success: { status: 204 },
      handle: async ({ params, ifVersion }): Promise<Answer<never> | undefined> => {
        atVersion(await findToken(params.id), 'token.not_found', ifVersion);
        if (!(await issuedTokens.removeToken(params.id))) throw new AppError('token.not_found');
        return undefined;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/users/{id}/grants',
      sensitivity: 'plain',
      tag,
      summary: 'List the grants of a user, one for each session and application',
      params: idParams,
      query: listQuerySchema(grantList),
      success: { status: 200, schema: pageSchema(grantSchema) },
      handle: async ({ params, query }) => {
        await checkUser(params.id);
        const own = { ...grantList, name: `grants-of-${params.id}` };
        const ofUser = { field: 'user_id', op: 'eq', value: params.id } as const;
        const page = await readPage<ProtocolPayload, IssuedGrant>({
          list: own,
          request: readListQuery(own, query, clock()),
          cursors,
          query: (wanted) =>
            issuedTokens.queryGrants({ ...wanted, filters: [...(wanted.filters ?? []), ofUser] }),
          recordOf: ({ value }) => value,
          idOf: (grant) => grant.id,
        });
        return { data: { ...page, items: await Promise.all(page.items.map(viewOf)) } };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/users/{id}/grants/{grant_id}',
      sensitivity: 'plain',
      tag,
      summary: 'Revoke the grant of a user to an application, with its tokens; consent is asked for again',
      params: userGrantParams,
      success: { status: 204 },
      handle: async ({ params, ifVersion }): Promise<Answer<never> | undefined> => {
        const grant = await issuedTokens.findGrant(params.grant_id);
        if (grant?.value.accountId !== params.id) throw new AppError('grant.not_found');
        atVersion(grant, 'grant.not_found', ifVersion);
        await issuedTokens.removeGrant(grant);
        return undefined;
      },
    }),
  ];
}

const refuse = (field: string, problem: string): AppError =>
  new AppError('request.invalid', { fields: { [field]: problem } });

/** One page of a list that is in memory, in the storage's order (C13). */
function pick(tokens: readonly IssuedToken[], query: Query): Listing<IssuedToken> {
  const { sort, order, limit, offset = 0, after } = query;
  const direction = order === 'asc' ? 1 : -1;
  const timeOf = ({ value }: IssuedToken): number =>
    sort === 'id' || typeof value.iat !== 'number' ? 0 : value.iat;
  const compare = (aValue: number, aId: string, b: IssuedToken): number =>
    direction * (aValue - timeOf(b) || Buffer.compare(Buffer.from(aId), Buffer.from(b.id)));
  const numberOf = (value: FieldValue | undefined): number => (typeof value === 'number' ? value : 0);
  const items = tokens
    .toSorted((a, b) => compare(timeOf(a), a.id, b))
    .filter((token) => after === undefined || compare(numberOf(after.sortValue), after.id, token) < 0)
    .slice(offset, offset + limit);
  return { items, total: tokens.length };
}
