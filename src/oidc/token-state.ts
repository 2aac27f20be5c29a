// Whether a token is active, for introspection, the admin API and revocation alike. Active means: signed by us, not expired,
// stored, not consumed, its grant exists, its account is usable, and its client may still use the grant type and at least
// one of the scopes. Nothing is cached.
import type { AccessToken, ClientCredentials, RefreshToken } from 'oidc-provider';
import type { ClientRecord } from '../store/collections.ts';
import type { AccessTokenJwt } from './access-token-jwt.ts';
import { mayUse } from './client-access.ts';
import { currentScopes, isGrantTypeAllowed, opensAdmin } from './entitlement.ts';
import {
  type AccountDirectory,
  authenticationOf,
  authenticationTime,
  type OidcAccount,
} from './find-account.ts';
import type { Models } from './provider-base.ts';

export type AnyToken = AccessToken | ClientCredentials | RefreshToken;

export interface LiveToken {
  readonly token: AnyToken;
  /** Absent for a client's own token. */
  readonly account?: OidcAccount | undefined;
  /** Those that its client and account may have now; the token itself keeps all that were granted. */
  readonly scopes: ReadonlySet<string>;
}

export interface TokenState {
  /** Finds a token by its value, active or not; never by an id or a code. */
  find(bearer: string): Promise<AnyToken | undefined>;
  /** @returns the token with its account if it is active */
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
        return client?.isActive === true ? limited(token, client) : undefined;
      }
      const [grant, account, client] = await Promise.all([
        token.grantId === undefined ? undefined : models().Grant.find(token.grantId),
        accounts.find(token.accountId),
        findClient(token.clientId ?? ''),
      ]);
      // Logout and revocation remove the grant first; a token that is saved a moment later must not outlive it.
      if (grant?.clientId !== token.clientId || grant?.accountId !== token.accountId) return undefined;
      if (account === undefined || !accounts.isUsable(account)) return undefined;
      if (client?.isActive !== true || !mayUse(client, account)) return undefined;
      const isCurrent = accounts.isAuthenticationCurrent(account, authenticationTime(token) ?? 0);
      return isCurrent ? limited(token, client, account, opensAdmin(accounts, account, token)) : undefined;
    },
  };
}

/** @returns undefined when the client lost the grant type or all scopes of the token (decisions §3) */
function limited(
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
    ...(token.kind === 'ClientCredentials' ? undefined : authenticationOf(token)),
    // The identifier of a refresh token is its value, so it is never returned.
    ...(token.kind === 'RefreshToken' ? undefined : { jti: token.jti }),
    ...(token.kind !== 'ClientCredentials' && token.sid !== undefined ? { sid: token.sid } : undefined),
    ...(token.jkt === undefined ? undefined : { cnf: { jkt: token.jkt } }),
  };
}
