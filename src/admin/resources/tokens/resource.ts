import type { Api } from '../../../apis/index.ts';
import { registeredId } from '../../../client-ids.ts';
import { AppError, invalid } from '../../../errors.ts';
import { memberOf } from '../../../json.ts';
import type { IssuedGrant, IssuedToken, TokenKind } from '../../../sessions/index.ts';
import { grants as grantCollection, refreshTokens } from '../../../store/protocol-collections.ts';
import type { ProtocolPayload } from '../../../store/records.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { AdminPorts } from '../../api/ports.ts';
import { Told } from '../../api/route.ts';
import { iso, isoOrNull, oneOf, string } from '../../api/schema-parts.ts';
import { selectFew } from '../../api/select-few.ts';
import { atVersion, idParams, userGrantParams, userOf, userParams } from '../../api/shared.ts';
import { aClientId, anId, grantSchema, kindMeaning, kinds, tokenSchema } from './schema.ts';

const list: ListDefinition<ProtocolPayload> = {
  name: 'tokens',
  collection: refreshTokens,
  sorts: ['created_at', 'id'],
  defaultOrder: 'desc',
  filters: {
    // Selects the collection; not a field of either.
    kind: {
      schema: oneOf([...kinds], `Only tokens of this kind. ${kindMeaning}`),
      toGroups: () => [[]],
    },
    user_id: { schema: anId('Only tokens of this user.') },
    client_id: { schema: aClientId('Only tokens of this application.') },
    grant_id: { schema: anId('Only tokens of this grant.') },
    // Records have its internal id, so that an API made again under the same identifier has none of them.
    resource: {
      schema: string({
        minLength: 1,
        maxLength: 500,
        description: 'Only tokens for the API with this identifier.',
      }),
      toGroups: () => [[]],
    },
  },
  times: [],
};

const grantList: ListDefinition<ProtocolPayload> = {
  name: 'user-grants',
  collection: grantCollection,
  sorts: ['created_at', 'client_id', 'id'],
  defaultOrder: 'desc',
  filters: { client_id: { schema: aClientId('Only grants to this application.') } },
  times: [],
};

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const scopesOf = (value: unknown): string[] =>
  typeof value === 'string' ? value.split(' ').filter((scope) => scope !== '') : [];
const textIn = (values: unknown, name: string): string | undefined => {
  const value = memberOf(values, name);
  return typeof value === 'string' ? value : undefined;
};

const issuedAt = ({ iat }: ProtocolPayload): number => (typeof iat === 'number' ? iat : 0);

const times = ({ value, expiresAt }: IssuedGrant) => ({
  created_at: iso(issuedAt(value) * 1000),
  expires_at: isoOrNull(expiresAt),
});

/** Of the APIs that tokens and grants name by their internal ids; each is read once. */
async function readApis(ids: readonly (string | undefined)[], { apis }: AdminPorts) {
  const named = [...new Set(ids.filter((id) => id !== undefined))];
  const found = await Promise.all(named.map((id) => apis.find(id)));
  return new Map(found.flatMap((api): [string, Api][] => (api === undefined ? [] : [[api.id, api]])));
}

async function showTokens(tokens: readonly IssuedToken[], ports: AdminPorts) {
  const apiOf = ({ value }: IssuedToken) => textIn(value.api, 'id');
  const apis = await readApis(tokens.map(apiOf), ports);
  return tokens.map((token) => showToken(token, apis.get(apiOf(token) ?? '')));
}

const showToken = (token: IssuedToken, api: Api | undefined) => ({
  id: token.id,
  kind: token.kind,
  user_id: textOrNull(token.value.accountId),
  client_id: registeredId(textIn(token.value, 'clientId')) ?? null,
  grant_id: textOrNull(token.value.grantId),
  session_id: textOrNull(token.value.sessionUid),
  resource: api?.value.identifier ?? null,
  scopes: scopesOf(token.value.scope),
  ...times(token),
});

/** By the internal id of an API, ids of its scopes (src/oidc/models/grant.ts). */
async function apisOf({ resources }: ProtocolPayload, ports: AdminPorts) {
  const granted = typeof resources === 'object' && resources !== null ? Object.entries(resources) : [];
  const apis = await readApis(
    granted.map(([id]) => id),
    ports,
  );
  return granted.flatMap(([id, entries]) => {
    const api = apis.get(id);
    const ids = scopesOf(entries);
    const scopes = api?.value.scopes.filter((scope) => ids.includes(scope.id)).map(({ name }) => name);
    return api && scopes?.length ? [{ resource: api.value.identifier, scopes }] : [];
  });
}

async function showGrant(grant: IssuedGrant, ports: AdminPorts) {
  const { clients } = ports;
  const { accountId, sessionUid, openid } = grant.value;
  const clientId = registeredId(textIn(grant.value, 'clientId'));
  // Not found when the application was deleted.
  const client = clientId === undefined ? undefined : await clients.find(clientId);
  return {
    id: grant.id,
    user_id: textOrNull(accountId),
    client_id: clientId ?? null,
    client_name: client ? String(client.value.metadata.client_name ?? client.id) : null,
    session_id: textOrNull(sessionUid),
    scopes: scopesOf(textIn(openid, 'scope')),
    apis: await apisOf(grant.value, ports),
    is_first_party: client?.value.skipConsent ?? false,
    ...times(grant),
  };
}

const refuse = (field: string, problem: string): AppError => invalid({ [field]: problem });

/** The owner to query in the ephemeral store as well; undefined: refresh tokens only, from the durable store. */
function ownedIn(query: object, apiId?: string) {
  const kind = textIn(query, 'kind');
  const owner = {
    accountId: textIn(query, 'user_id'),
    grantId: textIn(query, 'grant_id'),
    clientId: textIn(query, 'client_id'),
    apiId,
  };
  const isOwned = owner.accountId !== undefined || owner.grantId !== undefined;
  const isForOne = owner.clientId !== undefined || textIn(query, 'resource') !== undefined;
  if (kind === 'client_credentials' && !isForOne) {
    throw refuse('client_id', 'Required, or resource: these tokens can only be listed by these.');
  }
  if (kind === 'access_token' && !isOwned) {
    throw refuse('user_id', 'Required, or grant_id: access tokens can only be listed by these.');
  }
  if (kind === 'refresh_token' || (kind === undefined && !isOwned)) return undefined;
  const wanted: TokenKind[] =
    kind === 'client_credentials' || kind === 'access_token' ? [kind] : ['refresh_token', 'access_token'];
  return { kinds: wanted, owner };
}

async function findToken(id: string, { issuedTokens }: AdminPorts): Promise<IssuedToken | undefined> {
  const token = await issuedTokens.findToken(id);
  return token?.value.consumed === undefined ? token : undefined;
}

export const tokens = defineResource(
  {
    path: '/tokens',
    tag: 'Tokens',
    target: 'token',
    view: tokenSchema,
    present: showTokens,
    versionOf: ({ version }) => version,
  },
  (on) => ({
    list: on.list({
      summary:
        'List usable tokens: refresh tokens with or without filters, access tokens with `user_id` or `grant_id`, ' +
        'tokens of applications themselves with `kind=client_credentials` and `client_id` or `resource`',
      list,
      before: async ({ query }) => ownedIn(query),
      async query(wanted, { issuedTokens, apis }, { query }) {
        const resource = textIn(query, 'resource');
        const api = resource === undefined ? undefined : await apis.findByIdentifier(resource);
        if (resource !== undefined && api === undefined) return { items: [], total: 0 };
        const owned = ownedIn(query, api?.id);
        if (owned) {
          const found = await issuedTokens.findOwned(owned.kinds, owned.owner);
          return selectFew(found, { created_at: { type: 'number', of: (it) => issuedAt(it.value) } }, wanted);
        }
        const ofApi = api ? [{ field: 'api_id', op: 'eq', value: api.id } as const] : [];
        const { items, total } = await issuedTokens.queryRefreshTokens({
          ...wanted,
          filters: [...(wanted.filters ?? []), ...ofApi],
        });
        return { items: items.map((stored) => ({ ...stored, kind: 'refresh_token' as const })), total };
      },
      recordOf: ({ value }) => value,
    }),
    read: on.read({
      summary: 'Read the metadata of a token',
      find: findToken,
      missing: 'token.not_found',
    }),
    remove: on.remove({
      summary: 'Revoke a token; a refresh token together with its grant',
      event: 'token.revoked',
      params: idParams,
      async run({ params: { id }, ifVersion }, ports) {
        const { value } = atVersion(await findToken(id, ports), 'token.not_found', ifVersion);
        if (!(await ports.issuedTokens.removeToken(id))) throw new AppError('token.not_found');
        const details = { user_id: value.accountId, scopes: scopesOf(value.scope) };
        return new Told({ clientId: textIn(value, 'clientId'), details });
      },
    }),
  }),
);

export const grants = defineResource(
  {
    path: '/users/{id}/grants',
    tag: 'Tokens',
    target: 'grant',
    view: grantSchema,
    present: (items: readonly IssuedGrant[], ports: AdminPorts) =>
      Promise.all(items.map((grant) => showGrant(grant, ports))),
  },
  (on) => ({
    list: on.list({
      summary: 'List the grants of a user, one for each session and application',
      params: userParams,
      before: ({ params }, ports) => userOf(params.id, ports),
      list: grantList,
      query(wanted, { issuedTokens }, { params }) {
        const own = { field: 'user_id', op: 'eq', value: params.id } as const;
        return issuedTokens.queryGrants({ ...wanted, filters: [...(wanted.filters ?? []), own] });
      },
      recordOf: ({ value }) => value,
    }),
    remove: on.remove({
      path: '/users/{id}/grants/{grant_id}',
      summary:
        'Revoke the grant of a user to an application with its tokens; the user is asked for consent again',
      event: 'consent.revoked',
      params: userGrantParams,
      async run({ params, ifVersion }, ports) {
        const { issuedTokens } = ports;
        const grant = await issuedTokens.findGrant(params.grant_id);
        if (grant?.value.accountId !== params.id) throw new AppError('grant.not_found');
        atVersion(grant, 'grant.not_found', ifVersion);
        await issuedTokens.removeGrant(grant);
        // A grant's id tells nobody anything, and is gone: whose access to what it was does.
        return new Told({
          target: { kind: 'user', id: params.id },
          clientId: textIn(grant.value, 'clientId'),
          details: {
            grant_id: grant.id,
            scopes: scopesOf(textIn(grant.value.openid, 'scope')),
            apis: await apisOf(grant.value, ports),
          },
        });
      },
    }),
  }),
);
