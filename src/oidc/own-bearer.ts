// Owns whose access token opens people's own API (decisions §7): a person's, with the scope `openid`, given to an
// application that is our own. How fresh it is, the session says that the token was born from, and
// the token: who holds an old one gains nothing when its owner proves anew who they are.
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { SessionOfToken, TokenSession } from './token-session.ts';
import type { TokenState } from './token-state.ts';

export interface OwnBearer {
  readonly kind: 'user';
  /** The account. */
  readonly id: string;
  /** None: the session is over, and the token outlives it. */
  readonly session: TokenSession | undefined;
}

interface Deps {
  readonly tokens: TokenState;
  readonly sessionOf: SessionOfToken;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
}

/** @returns who the Authorization header is for; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export function createAuthorizeOwner({ tokens, sessionOf, findClient }: Deps) {
  return async (authorization: string | undefined): Promise<OwnBearer> => {
    const [scheme, bearer = '', ...rest] = (authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'bearer') throw new AppError('auth.required');
    if (bearer === '' || rest.length > 0) throw new AppError('auth.invalid_token');
    const live = await tokens.live(await tokens.find(bearer));
    if (live === undefined || live.token.kind === 'RefreshToken') throw new AppError('auth.invalid_token');
    const { token, account } = live;
    const client = await findClient(token.clientId ?? '');
    // What somebody else's application was given to recognise a person is no key to the person's account.
    const isOurs = client?.skipConsent === true;
    if (account === undefined || token.kind !== 'AccessToken' || !live.scopes.has('openid') || !isOurs)
      throw new AppError('auth.insufficient_scope', { message: 'This token does not open the account.' });
    return { kind: 'user', id: account.id, session: await sessionOf(token, account.id) };
  };
}
