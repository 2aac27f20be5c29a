// Which access tokens open the account API (decision 0023): a user's, with the scope `openid`, issued to a client of ours.
// Its freshness is that of the session it was issued in, as it was then: the holder of an old token gains nothing when the
// user authenticates again.
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { GuardBearer } from './bearer-guard.ts';
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
}

/** @returns the user of an Authorization header; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export function createAuthorizeUser({ tokens, sessionOf, findClient, guard }: Deps) {
  async function authorize(authorization: string | undefined): Promise<UserBearer> {
    const [scheme, bearer = '', ...rest] = (authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'bearer') throw new AppError('auth.required');
    if (bearer === '' || rest.length > 0) throw new AppError('auth.invalid_token');
    const live = await tokens.live(await tokens.find(bearer));
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    // A token for an API is none for us (decisions §2).
    if (live.target !== undefined) throw new AppError('auth.invalid_token');
    const { token, account } = live;
    const client = await findClient(token.clientId ?? '');
    // What another client was given to recognise a user must not open the user's account.
    const isOurs = client?.skipConsent === true;
    if (account === undefined || token.kind !== 'AccessToken' || !live.scopes.has('openid') || !isOurs)
      throw new AppError('auth.insufficient_scope', { message: 'This token does not open the account.' });
    return { kind: 'user', id: account.id, session: await sessionOf(token, account.id) };
  }

  return (authorization: string | undefined): Promise<UserBearer> => guard(() => authorize(authorization));
}
