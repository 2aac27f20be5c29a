// Which access tokens open the account API (decision 0023): a user's, with the scope `openid`, issued to a client of ours.
// Its freshness is that of the session it was issued in, as it was then: the holder of an old token gains nothing when the
// user authenticates again.

import type Koa from 'koa';
import { AppError } from '../../errors.ts';
import type { ClientRecord } from '../../store/collections.ts';
import { isOfFragment } from '../legacy/index.ts';
import type { GuardBearer } from './bearer-guard.ts';
import { type DpopProofs, presentedToken } from './dpop.ts';
import type { SessionOfToken, TokenSession } from './token-session.ts';
import type { TokenState } from './token-state.ts';

export interface UserBearer {
  readonly kind: 'user';
  /** The account. */
  readonly id: string;
  /** None: the session has ended, and the token outlives it. */
  readonly session: TokenSession | undefined;
}

interface Deps {
  readonly tokens: TokenState;
  readonly sessionOf: SessionOfToken;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
  readonly guard: GuardBearer;
  readonly dpop: Pick<DpopProofs, 'checkBinding'>;
}

/** @returns the user of a request's Authorization header; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export function createAuthorizeUser({ tokens, sessionOf, findClient, guard, dpop }: Deps) {
  async function authorize(ctx: Koa.Context): Promise<UserBearer> {
    const presented = presentedToken(ctx.get('authorization'));
    const live = await tokens.live(await tokens.find(presented.value));
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    // A token for an API is none for us (decisions §2).
    if (live.target !== undefined || isOfFragment(live.token)) throw new AppError('auth.invalid_token');
    const { token, account } = live;
    await dpop.checkBinding(ctx, presented, token);
    const client = await findClient(token.clientId ?? '');
    // What another client was given to recognise a user must not open the user's account.
    const isOurs = client?.skipConsent === true;
    if (account === undefined || token.kind !== 'AccessToken' || !live.scopes.has('openid') || !isOurs)
      throw new AppError('auth.insufficient_scope', { message: 'This token does not open the account.' });
    return { kind: 'user', id: account.id, session: await sessionOf(token, account.id) };
  }

  return (ctx: Koa.Context): Promise<UserBearer> => guard(() => authorize(ctx));
}
