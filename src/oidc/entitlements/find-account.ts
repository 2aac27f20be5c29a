import {
  errors,
  type FindAccount,
  type KoaContextWithOIDC,
  type Account as LibraryAccount,
} from 'oidc-provider';
import type { MethodTimes } from '../../sessions/index.ts';
import { hasKeycloakTokens, keycloakClaims, keycloakRoles } from '../foreign-layout/keycloak-tokens.ts';
import { clientRecord } from '../models/client.ts';
import { countsFrom } from '../models/confirmed.ts';
import { apiClaims, liveScopes, pairsOf, scopeNames } from './api-pairs.ts';
import { currentScopes, isGrantTypeAllowed, withheldScopes } from './entitlement.ts';
import { requestedApi } from './requested-api.ts';

/** The part of an account that the protocol core needs. */
export interface OidcAccount {
  readonly id: string;
  readonly username: string;
  readonly role: string;
  readonly groups?: readonly string[];
}

export interface AccountDirectory<A extends OidcAccount = OidcAccount> {
  find(id: string): Promise<A | undefined>;
  /** The same for who only reads it: what is in it is frozen. */
  findShared(id: string): Promise<A | undefined>;
  /** Active and not deleted. */
  maySignIn(account: A): boolean;
  /** The same, and its owner did not ask for its deletion: whether its sessions and tokens count. */
  isUsable(account: A): boolean;
  /** Whether an authentication at that time (epoch seconds) is still valid: a new password or role invalidates earlier ones. */
  isAuthenticationCurrent(account: A, at: number): boolean;
  /** The same for a sign-in in progress, by the time of its first authentication (epoch milliseconds). */
  isSignInCurrent(account: A, provenAt: number): boolean;
  /** The values that its sign-ins can reach with its factors, strongest first (acr.ts). */
  reachableAcrs(account: A): readonly string[];
  /** Whether a sign-in with that `acr` may have `admin` scopes (decision 0002). */
  mayAdminister(account: A, acr: string | undefined): boolean;
  /** Whether this authentication is fresh enough for a sensitive act (decision 0011); the same rule for all of them. */
  isFresh(account: A, times: MethodTimes): boolean;
  /** Whether a password alone is not enough to sign in, so a program cannot sign in with one. */
  owesSecondFactor(account: A): boolean;
  /** After a sign-in without a browser (the password grant). @returns false when the account changed since it was read */
  complete(account: A): Promise<boolean>;
  claims(account: A): { sub: string; [claim: string]: unknown };
  /** Records a sign-in without pages in the audit log; awaited before any token is issued. */
  reportSignIn(report: {
    readonly kind: 'complete' | 'password_accepted';
    readonly accountId: string;
    readonly clientId: string;
    readonly amr: readonly string[];
    readonly methods: readonly string[];
    readonly next?: string;
  }): Promise<void>;
}

/** @returns when the user of this token authenticated, in epoch seconds; its time of issue if that is unknown */
export const authenticationTime = (token: TokenFacts): number | undefined =>
  authenticationOf(token).auth_time ?? token.iat;

interface TokenFacts {
  readonly iat?: number | undefined;
  readonly authTime?: number | undefined;
  readonly acr?: string | undefined;
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** The authentication that a token came from; a refresh does not raise it (RFC 9470 §6). */
export function authenticationOf({ authTime, acr, extra }: TokenFacts): {
  auth_time?: number;
  acr?: string;
} {
  const recordedTime = authTime ?? extra?.auth_time;
  const recordedAcr = acr ?? extra?.acr;
  return {
    ...(typeof recordedTime === 'number' && { auth_time: recordedTime }),
    ...(typeof recordedAcr === 'string' && { acr: recordedAcr }),
  };
}

const accountOf = new WeakMap<LibraryAccount, OidcAccount>();

/** A locked, deactivated or deleted account does not exist for the protocol, so its tokens and sessions are invalid. */
export function createFindAccount(
  accounts: AccountDirectory,
  mayRequest: (ctx: KoaContextWithOIDC, account: OidcAccount) => boolean,
): FindAccount {
  return async (ctx, id, token) => {
    const account = await accounts.find(id);
    if (account === undefined || !accounts.isUsable(account)) return undefined;
    // Tokens and codes depend on access to their application; a session belongs to no single application.
    if (token !== undefined && !mayRequest(ctx, account)) return undefined;
    const { session } = ctx.oidc;
    const authenticatedAt = token === undefined ? session?.loginTs : authenticationTime(token);
    const from = authenticatedAt && countsFrom(token ?? session ?? {}, authenticatedAt);
    if (from !== undefined && !accounts.isAuthenticationCurrent(account, from)) return undefined;
    if (token !== undefined)
      limitToEntitlement(ctx, token, account, withheldScopes(accounts, account, token));
    return libraryAccount(accounts, account);
  };
}

type Source = NonNullable<Parameters<FindAccount>[2]>;

/**
 * Limits a code, device code or token of a user to what client and account may have now (decision 0003). The library loads
 * the account before it consumes a refresh token and before it issues or answers anything, so an error here has no side
 * effect (RFC 6749 §6).
 * @throws InvalidGrant the client lost the grant type or the redirect URI that this came from
 * @throws InvalidScope, or InsufficientScope at userinfo: the client may have none of its scopes any more
 */
function limitToEntitlement(
  ctx: KoaContextWithOIDC,
  token: Source,
  account: OidcAccount,
  withheld: ReadonlySet<string>,
): void {
  const { client, params } = ctx.oidc;
  // Reuse of a refresh token revokes its grant in any case; the library detects it next.
  if (client === undefined || (token.kind === 'RefreshToken' && token.consumed !== undefined)) return;
  const record = clientRecord(client);
  const isUserinfo = token.kind === 'AccessToken';
  if (!isGrantTypeAllowed(record, token)) {
    throw isUserinfo
      ? new errors.InvalidToken('grant type withdrawn')
      : new errors.InvalidGrant('the client may not use this grant type');
  }
  if (token.kind === 'AuthorizationCode') {
    const isRegistered = client.redirectUriAllowed(token.redirectUri ?? '');
    if (!isRegistered) throw new errors.InvalidGrant('the redirect_uri is no longer registered');
  }
  const isRefresh = token.kind === 'RefreshToken';
  const given = isRefresh && typeof params?.scope === 'string' ? params.scope.split(' ') : [...token.scopes];
  const asked = given.filter(Boolean);
  const left = [
    ...currentScopes(asked, record, account, withheld),
    ...apiScopesLeft(ctx, asked, { id: client.clientId, record }, account),
  ];
  if (isUserinfo) {
    if (left.length === 0) throw new errors.InvalidToken('no scope of this token is left');
    if (!left.includes('openid'))
      throw new errors.InsufficientScope('access token missing openid scope', 'openid');
  } else if (asked.length > 0 && left.length === 0) {
    throw new errors.InvalidScope('the client may have none of these scopes any more', asked.join(' '));
  }
  // The stored refresh token keeps its scopes; only this response is limited.
  if (isRefresh) Object.assign(params ?? {}, { scope: left.join(' ') });
  else token.scope = left.join(' ');
}

/** The account as the library needs it; requestAccount returns ours. */
export function libraryAccount(accounts: AccountDirectory, account: OidcAccount): LibraryAccount {
  const given: LibraryAccount = { accountId: account.id, claims: () => accounts.claims(account) };
  accountOf.set(given, account);
  return given;
}

/**
 * @returns those of the requested scopes that are of the API, and that client and person may have now
 * @throws InvalidScope when that is none
 */
function apiScopesLeft(
  ctx: KoaContextWithOIDC,
  asked: readonly string[],
  holder: Parameters<typeof liveScopes>[2],
  account: OidcAccount,
): string[] {
  const target = requestedApi(ctx.oidc);
  const scopes = target?.scopes.filter(({ name }) => asked.includes(name)) ?? [];
  if (target === undefined || scopes.length === 0) return [];
  const ids = scopes.map(({ id }) => id);
  const left = scopeNames(liveScopes(target.api, ids, holder, account));
  if (left.length === 0)
    throw new errors.InvalidScope('no scope of the API is left', scopeNames(scopes).join(' '));
  return left;
}

/** @returns the account of the request, if the library has loaded one */
export const requestAccount = (ctx: Pick<KoaContextWithOIDC, 'oidc'>): OidcAccount | undefined =>
  ctx.oidc.account && accountOf.get(ctx.oidc.account);

interface IssuedToken {
  readonly kind: string;
  readonly scopes: Set<string>;
  readonly sid?: string | undefined;
}

/**
 * Decision 0009: access tokens of users have names and roles when the scope `profile` or `roles` was granted, and always
 * the time of authentication (RFC 9068 §2.2.1).
 */
export function extraTokenClaims(
  ctx: KoaContextWithOIDC,
  token: IssuedToken,
): Record<string, unknown> | undefined {
  if (token.kind !== 'AccessToken') return foreignClaims(ctx, token);
  const { AuthorizationCode, RefreshToken, DeviceCode } = ctx.oidc.entities;
  const source = AuthorizationCode ?? RefreshToken ?? DeviceCode;
  const account = requestAccount(ctx);
  const target = requestedApi(ctx.oidc);
  const pairs = pairsOf(token);
  const ofApi: Record<string, unknown> =
    account && target && pairs ? apiClaims(account, pairs.claims ?? [], target.api) : {};
  return {
    ...(source?.authTime === undefined ? undefined : { auth_time: source.authTime }),
    ...(source?.acr === undefined ? undefined : { acr: source.acr }),
    ...(account && token.scopes.has('profile')
      ? { username: account.username, preferred_username: account.username }
      : undefined),
    // `role` for those who read ours, the list for libraries (Spring, MicroProfile JWT) and as userinfo has it.
    ...(account && token.scopes.has('roles') ? { role: account.role, roles: [account.role] } : undefined),
    ...(account && token.scopes.has('groups') ? { groups: [...(account.groups ?? [])] } : undefined),
    ...ofApi,
    ...foreignClaims(ctx, token),
    ...(account &&
      foreignRoles(ctx, account, { isOwn: token.scopes.has('roles'), isOfApi: 'roles' in ofApi })),
  };
}

/** Decision 0026. */
function foreignClaims(
  { oidc: { client } }: KoaContextWithOIDC,
  { sid }: IssuedToken,
): Record<string, unknown> | undefined {
  return hasKeycloakTokens(client) ? keycloakClaims('Bearer', client.clientId, sid) : undefined;
}

/** @param shown whether the application's scope or the API's claims show the user's role in this token */
function foreignRoles(
  { oidc }: KoaContextWithOIDC,
  { role }: OidcAccount,
  shown: { readonly isOwn: boolean; readonly isOfApi: boolean },
): Record<string, unknown> | undefined {
  const { client } = oidc;
  if (!hasKeycloakTokens(client) || (!shown.isOwn && !shown.isOfApi)) return undefined;
  const identifier = shown.isOfApi ? requestedApi(oidc)?.api.value.identifier : undefined;
  return keycloakRoles([client.clientId, ...(identifier === undefined ? [] : [identifier])], [role]);
}
