// Whether a token is active, for introspection, the admin API and revocation alike. Active means: signed by us, not expired,
// stored, not consumed, its grant exists, its account is usable, and its client may still use the grant type and at least
// one of the scopes. Nothing is cached here; what is found may be shared with other requests (shared-models.ts).
import type { AccessToken, ClientCredentials, RefreshToken } from 'oidc-provider';
import type { Api, Apis } from '../../apis/index.ts';
import { isBelowRequired } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import type { ApiClaim } from '../../store/apis.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { type ApiPairs, apiClaims, liveScopes, pairsOf, scopeNames } from '../entitlements/api-pairs.ts';
import { mayUse } from '../entitlements/client-access.ts';
import { currentScopes, isGrantTypeAllowed, withheldScopes } from '../entitlements/entitlement.ts';
import {
  type AccountDirectory,
  authenticationOf,
  authenticationTime,
  type OidcAccount,
} from '../entitlements/find-account.ts';
import { countsFrom } from '../models/confirmed.ts';
import type { SessionGrant } from '../models/grant.ts';
import { type RefreshSettings, secondsLeft } from '../policies.ts';
import type { Models } from '../provider-base.ts';
import type { AccessTokenJwt } from './access-token-jwt.ts';

export type AnyToken = AccessToken | ClientCredentials | RefreshToken;

export interface LiveToken {
  readonly token: AnyToken;
  readonly client: ClientRecord;
  /** Absent for a client's own token. */
  readonly account?: OidcAccount | undefined;
  readonly grant?: SessionGrant | undefined;
  /** Those that its client and account may have now; the token itself keeps all that were granted. */
  readonly scopes: ReadonlySet<string>;
  /** What it is for when that is an API, with the claims about the user that it may carry. */
  readonly target?: { readonly api: Api; readonly claims: readonly ApiClaim[] } | undefined;
}

export interface TokenState {
  /** Finds a token by its value, active or not, white space around it or not; never by an id or a code. */
  find(bearer: string): Promise<AnyToken | undefined>;
  /** @returns the token with its account if it is active */
  live(token: AnyToken | undefined): Promise<LiveToken | undefined>;
}

/** Where tokens and what they came from are found. */
export type TokenModels = {
  readonly [Name in 'AccessToken' | 'ClientCredentials' | 'RefreshToken' | 'Grant']: Pick<
    Models[Name],
    'find'
  >;
};

interface Deps {
  readonly models: () => TokenModels;
  readonly jwt: () => AccessTokenJwt;
  readonly accounts: Pick<
    AccountDirectory,
    'find' | 'isUsable' | 'isAuthenticationCurrent' | 'mayAdminister'
  >;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
  readonly apis: Pick<Apis, 'find'>;
  readonly settings: () => RefreshSettings;
  readonly clock: Clock;
}

export function createTokenState(deps: Deps): TokenState {
  const { models, jwt, accounts, findClient, apis, settings, clock } = deps;

  /** What a refresh would say: a token is worth what its application and API take now (decision 0003). */
  function isRefreshable(token: AnyToken, client: ClientRecord, api: Api | undefined): boolean {
    if (token.kind !== 'RefreshToken') return true;
    if (isBelowRequired(token.acr, client) || (api && isBelowRequired(token.acr, api.value))) return false;
    return secondsLeft(client, token, settings(), clock) > 0;
  }

  return {
    async find(given) {
      const bearer = given.trim();
      switch (jwt().kindOf(bearer)) {
        case 'AccessToken':
          return models().AccessToken.find(bearer);
        case 'ClientCredentials':
          return models().ClientCredentials.find(bearer);
        default:
          return models().RefreshToken.find(bearer);
      }
    },

    async live(token) {
      if (token === undefined || !token.isValid) return undefined;
      const pairs = pairsOf(token);
      if (token.kind === 'ClientCredentials') {
        const [client, api] = await Promise.all([
          findClient(token.clientId ?? ''),
          pairs && apis.find(pairs.id),
        ]);
        return client?.isActive === true ? limited(token, { client, pairs, api }) : undefined;
      }
      const [grant, account, client, api] = await Promise.all([
        token.grantId === undefined ? undefined : models().Grant.find(token.grantId),
        accounts.find(token.accountId),
        findClient(token.clientId ?? ''),
        pairs && apis.find(pairs.id),
      ]);
      // Logout and revocation remove the grant first; a token that is saved a moment later must not outlive it.
      if (grant?.clientId !== token.clientId || grant?.accountId !== token.accountId) return undefined;
      if (account === undefined || !accounts.isUsable(account)) return undefined;
      if (client?.isActive !== true || !mayUse(client, account)) return undefined;
      const isCurrent = accounts.isAuthenticationCurrent(
        account,
        countsFrom(token, authenticationTime(token) ?? 0),
      );
      if (!isRefreshable(token, client, api)) return undefined;
      const withheld = withheldScopes(accounts, account, token);
      return isCurrent ? limited(token, { client, account, grant, withheld, pairs, api }) : undefined;
    },
  };
}

interface Holders {
  readonly client: ClientRecord;
  readonly account?: OidcAccount;
  readonly grant?: SessionGrant | undefined;
  readonly withheld?: ReadonlySet<string>;
  readonly pairs: ApiPairs | undefined;
  readonly api: Api | undefined;
}

/** @returns undefined when the client lost the grant type or all scopes of the token (decision 0003), or the API is gone */
function limited(token: AnyToken, holders: Holders): LiveToken | undefined {
  const { client, account, grant, withheld, pairs, api } = holders;
  if (!isGrantTypeAllowed(client, token)) return undefined;
  if (pairs !== undefined) {
    if (api === undefined) return undefined;
    const holder = { id: token.clientId ?? '', record: client };
    const ofApi = scopeNames(liveScopes(api, pairs.scopeIds, holder, account));
    if (ofApi.length === 0) return undefined;
    const { claims = [] } = pairs;
    // An access token is for the API alone; a refresh token has what else was granted with it.
    const others =
      token.kind === 'RefreshToken' ? currentScopes(token.scopes, client, account, withheld) : [];
    return { token, client, account, grant, scopes: new Set([...ofApi, ...others]), target: { api, claims } };
  }
  const scopes = new Set(currentScopes(token.scopes, client, account, withheld));
  const isEmptied = scopes.size === 0 && Boolean(token.scope);
  return isEmptied ? undefined : { token, client, account, grant, scopes };
}

/** What an API learns of a token that is meant for it (decision 0003). */
export function describeToApi(live: LiveToken | undefined, { id }: Api): Record<string, unknown> {
  if (live?.target?.api.id !== id || live.token.kind === 'RefreshToken') return { active: false };
  const { token, account, scopes, target } = live;
  return {
    active: true,
    sub: account?.id ?? token.clientId,
    ...(account === undefined ? undefined : { username: account.username }),
    scope: [...scopes].join(' '),
    client_id: token.clientId,
    exp: token.exp,
    iat: token.iat,
    nbf: token.iat,
    aud: token.aud,
    ...(token.kind === 'ClientCredentials' ? undefined : authenticationOf(token)),
    ...(token.jkt === undefined ? undefined : { cnf: { jkt: token.jkt } }),
    ...(account && apiClaims(account, target.claims, target.api)),
  };
}

/** The body of an introspection answer (RFC 7662 §2.2, decision 0003). */
export function describeToken(live: LiveToken | undefined, issuer: string): Record<string, unknown> {
  if (live === undefined) return { active: false };
  const { token, account, scopes } = live;
  const audience = token.kind === 'RefreshToken' ? undefined : token.aud;
  return {
    active: true,
    sub: account?.id ?? token.clientId,
    ...(account === undefined ? undefined : { username: account.username }),
    ...(scopes.size > 0 ? { scope: [...scopes].join(' ') } : undefined),
    client_id: token.clientId,
    token_type: token.kind === 'RefreshToken' ? 'refresh_token' : token.tokenType,
    exp: token.exp,
    iat: token.iat,
    nbf: token.iat,
    iss: issuer,
    aud: audience ?? token.clientId,
    ...(token.kind === 'ClientCredentials' ? undefined : authenticationOf(token)),
    // The identifier of a refresh token is its value, so it is never returned.
    ...(token.kind === 'RefreshToken' ? undefined : { jti: token.jti }),
    ...(token.kind !== 'ClientCredentials' && token.sid !== undefined ? { sid: token.sid } : undefined),
    ...(token.jkt === undefined ? undefined : { cnf: { jkt: token.jkt } }),
  };
}
