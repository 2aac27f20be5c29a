// The session that issued a user's access token, limited to the authentications before the token's own: an old token gains
// nothing when its user authenticates again. What makes the token fresh is less than that: only what was authenticated in the
// authorization that it comes from (models/proven-times.ts).
import type { AccessToken } from 'oidc-provider';
import { type MethodTimes, methodTimesUntil } from '../../sessions/index.ts';
import { authenticationTime } from '../entitlements/find-account.ts';
import type { SessionGrant } from '../models/grant.ts';
import { provenTimesOf } from '../models/proven-times.ts';
import type { Models } from '../provider-base.ts';

export interface TokenSession {
  readonly uid: string;
  readonly loginTs: number | undefined;
  readonly amr: readonly string[];
  readonly acr: string | undefined;
  /** Of the session; none later than the token's own authentication. */
  readonly sessionTimes: MethodTimes;
  /** Of the token's own authorization; none where that was silent. */
  readonly methodTimes: MethodTimes;
}

/** @returns undefined when the session has ended and the token outlives it */
export type SessionOfToken = (token: AccessToken, accountId: string) => Promise<TokenSession | undefined>;

export const createSessionOfToken =
  (models: () => Pick<Models, 'Grant' | 'Session'>): SessionOfToken =>
  async (token, accountId) => {
    const { grantId } = token;
    const grant: SessionGrant | undefined =
      grantId === undefined ? undefined : await models().Grant.find(grantId);
    const uid = grant?.sessionUid;
    const session = uid === undefined ? undefined : await models().Session.findByUid(uid);
    if (uid === undefined || session?.accountId !== accountId) return undefined;
    const authenticatedAt = authenticationTime(token) ?? 0;
    const times = provenTimesOf(session);
    return {
      uid,
      loginTs: Math.min(session.loginTs ?? 0, authenticatedAt),
      amr: session.amr ?? [],
      acr: session.acr,
      sessionTimes: methodTimesUntil(times, authenticatedAt),
      methodTimes: provenTimesOf(token),
    };
  };
