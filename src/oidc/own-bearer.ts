// Owns whose access token opens people's own API (decisions §7): a person's, with the scope `openid`, given to an
// application that is our own. How fresh it is, the session says that the token was born from, and
// the token: who holds an old one gains nothing when its owner proves anew who they are.
import type { AccessToken } from 'oidc-provider';
import { type MethodTimes, methodTimesUntil, readMethodTimes } from '../accounts/freshness.ts';
import { AppError } from '../errors.ts';
import type { ClientRecord } from '../store/collections.ts';
import { authenticationTime } from './find-account.ts';
import type { SessionGrant } from './models/grant.ts';
import type { Models } from './provider-base.ts';
import type { TokenState } from './token-state.ts';

export interface OwnBearer {
  readonly kind: 'user';
  /** The account. */
  readonly id: string;
  /** None: the session is over, and the token outlives it. */
  readonly session:
    | {
        readonly uid: string;
        readonly loginTs: number | undefined;
        readonly amr: readonly string[];
        readonly acr: string | undefined;
        /** No later than the token's own authentication. */
        readonly methodTimes: MethodTimes;
      }
    | undefined;
}

interface Deps {
  readonly tokens: TokenState;
  readonly models: () => Pick<Models, 'Grant' | 'Session'>;
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>;
}

/** @returns who the Authorization header is for; @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export function createAuthorizeOwner({ tokens, models, findClient }: Deps) {
  async function sessionOf(token: AccessToken, accountId: string): Promise<OwnBearer['session']> {
    const { grantId } = token;
    const grant: SessionGrant | undefined =
      grantId === undefined ? undefined : await models().Grant.find(grantId);
    const uid = grant?.sessionUid;
    const session = uid === undefined ? undefined : await models().Session.findByUid(uid);
    if (uid === undefined || session?.accountId !== accountId) return undefined;
    const authenticatedAt = authenticationTime(token) ?? 0;
    const times = readMethodTimes(Reflect.get(session, 'methodTimes'));
    return {
      uid,
      loginTs: Math.min(session.loginTs ?? 0, authenticatedAt),
      amr: session.amr ?? [],
      acr: session.acr,
      methodTimes: methodTimesUntil(times, authenticatedAt),
    };
  }

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
