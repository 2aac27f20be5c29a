// Owns the library's view of a person: usable accounts only, with the claims that scopes open.
import {
  errors,
  type FindAccount,
  type KoaContextWithOIDC,
  type Account as LibraryAccount,
} from 'oidc-provider';
import type { MethodTimes } from '../accounts/freshness.ts';
import { currentScopes, isGrantTypeAllowed, opensAdmin } from './entitlement.ts';
import { clientRecord } from './models/client.ts';
import { isTrialExchange } from './trial-gate.ts';

/** What this folder needs to know of an account. */
export interface OidcAccount {
  readonly id: string;
  readonly username: string;
  readonly role: string;
  readonly groups?: readonly string[];
}

export interface AccountDirectory<A extends OidcAccount = OidcAccount> {
  find(id: string): Promise<A | undefined>;
  /** Active, not being deleted. */
  isUsable(account: A): boolean;
  /** Whether an authentication at that time (epoch seconds) still counts: a new password or role ends what was before. */
  isAuthenticationCurrent(account: A, at: number): boolean;
  /** The same of a sign-in that is not completed yet, by the time of its proof (epoch milliseconds). */
  isProofCurrent(account: A, provenAt: number): boolean;
  /** What its sign-ins can come to, with the factors that it has, the strongest first (acr.ts). */
  reachableAcrs(account: A): readonly string[];
  /** Whether a sign-in that came to that `acr` may have `admin` scopes (decisions §2). */
  mayAdminister(account: A, acr: string | undefined): boolean;
  /** Whether a sensitive act may be done by who authenticated like this (decisions §8): the one rule for all of them. */
  isFresh(account: A, times: MethodTimes): boolean;
  /** Whether a password is not all that is asked of it, so that no program can sign it in by that alone. */
  owesSecondFactor(account: A): boolean;
  /** After a sign-in without a browser (the password grant). @returns false when the account changed since it was read */
  complete(account: A): Promise<boolean>;
  claims(account: A): { sub: string; [claim: string]: unknown };
  /** A sign-in without pages, for the audit log; awaited before anything is given (checklist R150). */
  reportSignIn(report: {
    readonly kind: 'complete' | 'password_accepted';
    readonly accountId: string;
    readonly clientId: string;
    readonly amr: readonly string[];
    readonly methods: readonly string[];
    readonly next?: string;
  }): Promise<void>;
}

/** @returns when the person of this token authenticated, in epoch seconds; when it was issued if that is not known */
export const authenticationTime = (token: Noted): number | undefined =>
  notedAuthentication(token).auth_time ?? token.iat;

interface Noted {
  readonly iat?: number | undefined;
  readonly authTime?: number | undefined;
  readonly acr?: string | undefined;
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** What a token says of the sign-in that it came from; a refresh raises none of it (RFC 9470 §6). */
export function notedAuthentication({ authTime, acr, extra }: Noted): {
  auth_time?: number;
  acr?: string;
} {
  const at = authTime ?? extra?.auth_time;
  const worth = acr ?? extra?.acr;
  return {
    ...(typeof at === 'number' && { auth_time: at }),
    ...(typeof worth === 'string' && { acr: worth }),
  };
}

const accountOf = new WeakMap<LibraryAccount, OidcAccount>();

/** A locked, deactivated or deleted account does not exist for the protocol: its tokens and sessions are dead. */
export function createFindAccount(
  accounts: AccountDirectory,
  mayRequest: (ctx: KoaContextWithOIDC, account: OidcAccount) => boolean,
): FindAccount {
  return async (ctx, id, token) => {
    const account = await accounts.find(id);
    if (account === undefined || !accounts.isUsable(account)) return undefined;
    // What a token or code opens ends with the access to the application; a session is for all of them.
    if (token !== undefined && !mayRequest(ctx, account)) return undefined;
    const authenticatedAt = token === undefined ? ctx.oidc.session?.loginTs : authenticationTime(token);
    if (authenticatedAt !== undefined && !accounts.isAuthenticationCurrent(account, authenticatedAt))
      return undefined;
    if (token !== undefined) narrow(ctx, token, account, opensAdmin(accounts, account, token));
    return libraryAccount(accounts, account);
  };
}

type Source = NonNullable<Parameters<FindAccount>[2]>;

/**
 * What a code, device code or token of a person is worth now (decisions §3). The library asks for the account before it
 * consumes a refresh token and before it issues or answers anything, so a refusal here costs nothing (RFC 6749 §6).
 * @throws InvalidGrant the client lost the grant type or the redirect URI that this came from
 * @throws InvalidScope, or InsufficientScope at userinfo: nothing that the client may have is left of it
 */
function narrow(ctx: KoaContextWithOIDC, token: Source, account: OidcAccount, isForAdmin: boolean): void {
  const { client, params } = ctx.oidc;
  // Reuse of a refresh token ends its grant, whatever is left of it: the library finds that out next.
  if (client === undefined || (token.kind === 'RefreshToken' && token.consumed !== undefined)) return;
  const record = clientRecord(client);
  const isUserinfo = token.kind === 'AccessToken';
  if (!isGrantTypeAllowed(record, token)) {
    throw isUserinfo
      ? new errors.InvalidToken('grant type withdrawn')
      : new errors.InvalidGrant('the client may not use this grant type');
  }
  if (token.kind === 'AuthorizationCode' && !isTrialExchange(ctx.req, client.clientId)) {
    const isRegistered = client.redirectUriAllowed(token.redirectUri ?? '');
    if (!isRegistered) throw new errors.InvalidGrant('the redirect_uri is no longer registered');
  }
  const isRefresh = token.kind === 'RefreshToken';
  const given = isRefresh && typeof params?.scope === 'string' ? params.scope.split(' ') : [...token.scopes];
  const asked = given.filter(Boolean);
  const left = currentScopes(asked, record, account, isForAdmin);
  if (isUserinfo) {
    if (left.length === 0) throw new errors.InvalidToken('no scope of this token is left');
    if (!left.includes('openid'))
      throw new errors.InsufficientScope('access token missing openid scope', 'openid');
  } else if (asked.length > 0 && left.length === 0) {
    throw new errors.InvalidScope('the client may have none of these scopes any more', asked.join(' '));
  }
  // The stored refresh token keeps what it was given; this answer has what is left.
  if (isRefresh) Object.assign(params ?? {}, { scope: left.join(' ') });
  else token.scope = left.join(' ');
}

/** What the library is given of an account; requestAccount leads back to it. */
export function libraryAccount(accounts: AccountDirectory, account: OidcAccount): LibraryAccount {
  const given: LibraryAccount = { accountId: account.id, claims: () => accounts.claims(account) };
  accountOf.set(given, account);
  return given;
}

/** @returns the account of the request, if the library has loaded one */
export const requestAccount = (ctx: KoaContextWithOIDC): OidcAccount | undefined =>
  ctx.oidc.account && accountOf.get(ctx.oidc.account);

/**
 * Decisions §5: access tokens of people say `username` and `role` when `profile` or `roles` asks for it, and always when
 * the person authenticated (RFC 9068 §2.2.1).
 */
export function extraTokenClaims(
  ctx: KoaContextWithOIDC,
  token: { readonly kind: string; readonly scopes: Set<string> },
): Record<string, unknown> | undefined {
  if (token.kind !== 'AccessToken') return undefined;
  const { AuthorizationCode, RefreshToken, DeviceCode } = ctx.oidc.entities;
  const source = AuthorizationCode ?? RefreshToken ?? DeviceCode;
  const account = requestAccount(ctx);
  return {
    ...(source?.authTime === undefined ? undefined : { auth_time: source.authTime }),
    ...(source?.acr === undefined ? undefined : { acr: source.acr }),
    ...(account && token.scopes.has('profile') ? { username: account.username } : undefined),
    ...(account && token.scopes.has('roles') ? { role: account.role } : undefined),
    ...(account && token.scopes.has('groups') ? { groups: [...(account.groups ?? [])] } : undefined),
  };
}
