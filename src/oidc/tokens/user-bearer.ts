// Which access tokens open the account API (decision 0023): a user's, with the scope `account`, or `account:read` to read, issued to a
// first-party application. Its freshness is that of the authorization that it comes from: the holder of a token gains nothing
// when the user authenticates elsewhere, before or after.

import type Koa from 'koa';
import { isFirstParty } from '../../clients/index.ts';
import { AppError } from '../../errors.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { authenticationOf } from '../entitlements/find-account.ts';
import { isOfFragment } from '../legacy/index.ts';
import type { GuardBearer } from './bearer-guard.ts';
import { type DpopProofs, presentedToken } from './dpop.ts';
import type { SessionOfToken, TokenSession } from './token-session.ts';
import type { LiveToken, TokenState } from './token-state.ts';

export interface UserBearer {
  readonly kind: 'user';
  /** The account. */
  readonly id: string;
  /** Of the authentication that the token came from. */
  readonly acr: string | undefined;
  /** None: the session has ended, and the token outlives it. */
  readonly session: TokenSession | undefined;
}

/** What a request of the account API does. */
export type AccountAccess = 'read' | 'change';

interface Deps {
  readonly tokens: TokenState;
  readonly sessionOf: SessionOfToken;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
  readonly guard: GuardBearer;
  readonly dpop: Pick<DpopProofs, 'checkBinding'>;
  /** A first-party application brought a user's token without the scope. */
  readonly scopeMissing: (clientId: string) => void;
}

/** By the Authorization header of a request. @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeUser = (ctx: Koa.Context, access: AccountAccess) => Promise<UserBearer>;

/** RFC 6750 §3: with the scope that opens all of it, whatever the request was. */
const closed = (message: string): AppError =>
  new AppError('auth.insufficient_scope', { message, scope: 'account' });

export function createAuthorizeUser(deps: Deps): AuthorizeUser {
  const { tokens, sessionOf, findClient, guard, dpop, scopeMissing } = deps;

  /** @throws AppError auth.insufficient_scope */
  async function checkScopes({ token, account, scopes }: LiveToken, access: AccountAccess): Promise<void> {
    if (scopes.has('account') || (access === 'read' && scopes.has('account:read'))) return;
    if (scopes.has('account:read')) throw closed('This token only reads: a change needs the scope account.');
    const clientId = token.clientId ?? '';
    const client = await findClient(clientId);
    if (account !== undefined && client !== undefined && isFirstParty(client)) scopeMissing(clientId);
    throw closed('This token does not open the account: it has no scope account.');
  }

  async function authorize(ctx: Koa.Context, access: AccountAccess): Promise<UserBearer> {
    const presented = presentedToken(ctx.get('authorization'));
    const live = await tokens.live(await tokens.find(presented.value));
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    // A token for an API is none for us, whatever its scopes are called.
    if (live.target !== undefined || isOfFragment(live.token)) throw new AppError('auth.invalid_token');
    const { token, account } = live;
    await dpop.checkBinding(ctx, presented, token);
    await checkScopes(live, access);
    if (account === undefined || token.kind !== 'AccessToken') throw closed('An application has no account.');
    const session = await sessionOf(token, account.id);
    return { kind: 'user', id: account.id, acr: authenticationOf(token).acr, session };
  }

  return (ctx, access) => guard(() => authorize(ctx, access));
}
