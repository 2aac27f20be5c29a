// At the token endpoint, a code whose challenge and the request's verifier do not belong together is spent before it is refused
// (decision 0008): a verifier without challenge is a downgrade of the authorization request (RFC 9700 §4.8.2), a challenge without
// verifier another user's code. A wrong verifier leaves the code to its application, as the library does.
import { type AdapterPayload, type AuthorizationCode as AnyCode, errors } from 'oidc-provider';
import type { Apis } from '../../apis/index.ts';
import type { Clock } from '../../clock.ts';
import type { MethodTimes } from '../../sessions/index.ts';
import type { ApiPairs } from '../entitlements/api-pairs.ts';
import { bindApi, pairsToKeep } from '../entitlements/requested-api.ts';
import { ProviderBase, type TokenClass } from '../provider-base.ts';
import { confirmedInSession } from './confirmed.ts';
import { timesOfSignIn } from './proven-times.ts';
import { beganBeforeAnswer, isVerifierOf, noteRedeemed, revokeReused, wasUsed } from './redeemed-codes.ts';

// RFC 7636 §4.1.
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

type Challenge = Pick<AnyCode, 'codeChallenge' | 'codeChallengeMethod'>;

/** @returns why such a pair is refused and the code spent */
function mismatchOf(
  { codeChallenge, codeChallengeMethod }: Challenge,
  verifier: string | undefined,
): string | undefined {
  if (codeChallenge === undefined) {
    return verifier === undefined ? undefined : 'code_verifier without code_challenge';
  }
  if (verifier === undefined) return 'code_verifier missing';
  return codeChallengeMethod !== 'S256' || verifier === codeChallenge ? 'code_verifier is plain' : undefined;
}

interface Deps {
  readonly apis: Pick<Apis, 'find' | 'findByIdentifier'>;
  readonly clock: Clock;
  readonly revokeGrant: (grantId: string) => Promise<void>;
}

export const createAuthorizationCodeModel = (
  Base: TokenClass<AnyCode>,
  { apis, clock, revokeGrant }: Deps,
): TokenClass<AnyCode> =>
  class AuthorizationCode extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'api', 'methodTimes', 'confirmedAt'];
    declare api?: ApiPairs;
    declare consumed?: number;
    declare methodTimes?: MethodTimes;

    override getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const pairs = ProviderBase.ctx && pairsToKeep(ProviderBase.ctx.oidc, this);
      if (pairs !== undefined) this.api = pairs;
      const times = timesOfSignIn(this);
      if (times !== undefined) this.methodTimes = times;
      Object.assign(this, confirmedInSession());
      return super.getValueAndPayload();
    }

    /** Of parallel requests one is first. The others began before its answer; without a verifier they count as replays. */
    override async consume(): Promise<void> {
      try {
        await super.consume();
      } catch (error) {
        const isReplay = error instanceof errors.InvalidGrant && this.codeChallenge === undefined;
        // Removed with its grant by another one of them: nothing is left.
        if (isReplay && (await this.adapter.find(this.jti))) await revokeReused(this, revokeGrant);
        throw error;
      }
      const { ctx } = ProviderBase;
      if (ctx !== undefined) noteRedeemed(this.jti, ctx.res);
    }

    static override async find(
      ...given: Parameters<TokenClass<AnyCode>['find']>
    ): Promise<AnyCode | undefined> {
      const code = await super.find(...given);
      const { ctx } = ProviderBase;
      const { client, params, route } = ctx?.oidc ?? {};
      if (code === undefined || ctx === undefined || route !== 'token') return code;
      if (client === undefined || code.clientId !== client.clientId) return code;
      const sent = params?.code_verifier;
      const isUsed = code instanceof AuthorizationCode && code.consumed !== undefined;
      if (isUsed && isVerifierOf(code, sent) && beganBeforeAnswer(code, ctx, clock))
        throw wasUsed('AuthorizationCode');
      // Another client's, used or expired codes are refused by the library, which revokes what a used one gave.
      if (!code.isValid) return code;
      const verifier = typeof sent === 'string' && sent !== '' ? sent : undefined;
      const mismatch = mismatchOf(code, verifier);
      if (mismatch !== undefined) {
        // It gave nothing, so there is nothing to revoke when it comes back: removed, not marked as used.
        await code.destroy();
        throw new errors.InvalidGrant(mismatch);
      }
      if (verifier !== undefined && !VERIFIER.test(verifier)) {
        // RFC 7636 §4.6: the library would call a malformed one invalid_request.
        throw new errors.InvalidGrant('code_verifier is malformed');
      }
      await bindApi(ctx, client, code, apis);
      return code;
    }
  };
