// Owns whether a token is alive, and what it says: the one answer behind introspection, the admin bearer and revocation.
// Alive means: signed by us and not expired, stored, not used up, its grant there, its account usable, its client still
// allowed the grant type it came from and at least one of its scopes. Nothing is cached.
import type { AccessToken, ClientCredentials, RefreshToken } from 'oidc-provider';
import type { ClientRecord } from '../store/collections.ts';
import type { AccessTokenJwt } from './access-token-jwt.ts';
import { mayUse } from './client-access.ts';
import { currentScopes, isGrantTypeAllowed, opensAdmin } from './entitlement.ts';
import {
  type AccountDirectory,
  authenticationTime,
  notedAuthentication,
  type OidcAccount,
} from './find-account.ts';
import type { Models } from './provider-base.ts';

export type AnyToken = AccessToken | ClientCredentials | RefreshToken;

export interface LiveToken {
  readonly token: AnyToken;
  /** Absent for a client's own token. */
  readonly account?: OidcAccount | undefined;
  /** What was given that its client and its account may have now; the token's own scopes say only what was given. */
  readonly scopes: ReadonlySet<string>;
}

export interface TokenState {
  /** Finds a token by its value, alive or not; a bearer of another kind (a code, an id) is never one. */
  find(bearer: string): Promise<AnyToken | undefined>;
  /** @returns the token with its account if it is alive */
  live(token: AnyToken | undefined): Promise<LiveToken | undefined>;
}

interface Deps {
  readonly models: () => Pick<Models, 'AccessToken' | 'ClientCredentials' | 'RefreshToken' | 'Grant'>;
  readonly jwt: () => AccessTokenJwt;
  readonly accounts: AccountDirectory;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
}

export function createTokenState({ models, jwt, accounts, findClient }: Deps): TokenState {
  return {
    async find(bearer) {
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
      if (token.kind === 'ClientCredentials') {
        const client = await findClient(token.clientId ?? '');
        return client?.isActive === true ? narrowed(token, client) : undefined;
      }
      const [grant, account, client] = await Promise.all([
        token.grantId === undefined ? undefined : models().Grant.find(token.grantId),
        accounts.find(token.accountId),
        findClient(token.clientId ?? ''),
      ]);
      // The grant is what logout and revocation remove first; a token saved a moment later must not outlive it.
      if (grant?.clientId !== token.clientId || grant?.accountId !== token.accountId) return undefined;
      if (account === undefined || !accounts.isUsable(account)) return undefined;
      if (client?.isActive !== true || !mayUse(client, account)) return undefined;
      const isCurrent = accounts.isAuthenticationCurrent(account, authenticationTime(token) ?? 0);
      return isCurrent ? narrowed(token, client, account, opensAdmin(accounts, account, token)) : undefined;
    },
  };
}

/** @returns undefined where the client lost the grant type, or all the scopes that the token was given (decisions §3) */
function narrowed(
  token: AnyToken,
  client: ClientRecord,
  account?: OidcAccount,
  isForAdmin = true,
): LiveToken | undefined {
  if (!isGrantTypeAllowed(client, token)) return undefined;
  const scopes = new Set(currentScopes(token.scopes, client, account, isForAdmin));
  const isEmptied = scopes.size === 0 && Boolean(token.scope);
  return isEmptied ? undefined : { token, account, scopes };
}

/** The body of an introspection answer (RFC 7662 §2.2, specification §2.2, decisions §3). */
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
    ...(token.kind === 'ClientCredentials' ? undefined : notedAuthentication(token)),
    // A refresh token's identifier is its value: it is never told.
    ...(token.kind === 'RefreshToken' ? undefined : { jti: token.jti }),
    ...(token.kind !== 'ClientCredentials' && token.sid !== undefined ? { sid: token.sid } : undefined),
    ...(token.jkt === undefined ? undefined : { cnf: { jkt: token.jkt } }),
  };
}
