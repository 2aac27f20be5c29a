// Refresh token rotation under parallel use: each token has exactly one successor. During a short grace period a parallel
// request gets the same successor until that is used; after it, reuse revokes the whole grant (RFC 9700 §4.14.2). Requested
// scopes outside of the grant are ignored (decision 0007). For applications with `keycloak_tokens` it travels as a JWT (decision 0026).
import { createHmac, type KeyObject } from 'node:crypto';
import {
  type AdapterPayload,
  type Client,
  errors,
  type KoaContextWithOIDC,
  type RefreshToken,
} from 'oidc-provider';
import type { Apis } from '../../apis/index.ts';
import { isBelowRequired } from '../../clients/index.ts';
import { type Clock, epochSeconds } from '../../clock.ts';
import type { MethodTimes } from '../../sessions/index.ts';
import { type ApiPairs, pairsOf } from '../entitlements/api-pairs.ts';
import { isPageless } from '../entitlements/entitlement.ts';
import { bindApi, requestedApi, staysWithApi } from '../entitlements/requested-api.ts';
import { noScopeGranted } from '../entitlements/requested-scope.ts';
import { withoutInteractiveScopes } from '../entitlements/scopes.ts';
import { hasKeycloakTokens } from '../foreign-layout/keycloak-tokens.ts';
import type { RefreshTokenJwt } from '../foreign-layout/refresh-token-jwt.ts';
import { type RefreshSettings, secondsLeft } from '../policies.ts';
import { ProviderBase, type TokenClass } from '../provider-base.ts';
import { clientRecord } from './client.ts';
import { confirmedInSource } from './confirmed.ts';
import { timesOfSource } from './proven-times.ts';

const repeats = new WeakSet<object>();

/** Whether it was used within the grace, and is answered with its successor. */
export const isRepeat = (token: object): boolean => repeats.has(token);

/** @param consumed when a refresh token was used */
export const isOfAMomentAgo = (consumed: unknown, graceSeconds: number, clock: Clock): boolean =>
  typeof consumed === 'number' && graceSeconds > 0 && epochSeconds(clock) - consumed <= graceSeconds;

interface Deps {
  readonly clock: Clock;
  /** Secret from which successors are derived, the same in every process. */
  readonly successorKey: KeyObject;
  readonly graceSeconds: () => number;
  readonly revokeGrant: (grantId: string) => Promise<void>;
  readonly settings: () => RefreshSettings;
  readonly refreshJwt: RefreshTokenJwt;
  readonly apis: Pick<Apis, 'find' | 'findByIdentifier'>;
}

export function createRefreshTokenModel(
  Base: TokenClass<RefreshToken>,
  { clock, successorKey, graceSeconds, revokeGrant, settings, refreshJwt, apis }: Deps,
): TokenClass<RefreshToken> {
  const isInGrace = (consumed: unknown): boolean => isOfAMomentAgo(consumed, graceSeconds(), clock);

  // Derived, not random: parallel requests compute the same successor without a stored value.
  const successorOf = (id: string): string =>
    createHmac('sha256', successorKey).update(id).digest('base64url');

  return class RefreshToken extends Base {
    // Refreshed ID tokens have no `nonce` (OpenID Connect Core §12.2): some clients refuse it there, since it isn't of their request.
    static override IN_PAYLOAD = [
      ...Base.IN_PAYLOAD.filter((name) => name !== 'nonce'),
      'isSigned',
      'api',
      'methodTimes',
      'confirmedAt',
    ];
    declare methodTimes?: MethodTimes;
    /** It was given out as a JWT, and is accepted as that JWT alone: whoever reads its `jti` has no token. */
    declare isSigned?: boolean;
    /** The pairs of the authorization that it came from; a refresh narrows its own token alone. */
    declare api?: ApiPairs;

    /** The stored successor, if a repeated request found one. */
    #successor: AdapterPayload | undefined;

    constructor(properties: Record<string, unknown>) {
      super(pageless(properties));
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const isJwt = refreshJwt.isJwt(value);
      const id = isJwt ? await refreshJwt.resolve(value) : value;
      if (id === undefined) return undefined;
      const token = await super.find(id, options);
      if (token instanceof RefreshToken && (token.isSigned === true) !== isJwt) return undefined;
      const { ctx } = ProviderBase;
      const oidc = ctx?.oidc;
      // The grace period applies to refreshing only; for introspection and revocation a used token is used.
      if (!(token instanceof RefreshToken) || oidc?.params?.grant_type !== 'refresh_token' || !ctx)
        return token;
      // The library rejects a token of another client.
      if (token.clientId !== oidc.client?.clientId) return token;
      if (isInGrace(token.consumed) && !(await token.#isSuccessorUsed())) {
        token.consumed = undefined;
        repeats.add(token);
      }
      // Checked before the token is consumed, so an error leaves it unchanged; for a reused token the library decides.
      const isUsed = token.consumed !== undefined;
      if (!isUsed && oidc.client) await bindApi(ctx, oidc.client, token, apis);
      // A token is worth no more than its client may have now (decision 0003).
      if (!isUsed && oidc.client && isBelowRequired(token.acr, clientRecord(oidc.client)))
        throw new errors.InvalidGrant('acr is below the required one');
      // One issued while tokens of its kind lasted longer: a successor would expire as it is issued.
      if (!isUsed && oidc.client && secondsLeft(clientRecord(oidc.client), token, settings(), clock) <= 0)
        throw new errors.InvalidGrant('refresh token is expired');
      oidc.params.scope = isUsed ? undefined : grantedOf(oidc.params.scope, token.scopes);
      if (!isUsed && !isForSomething(ctx)) throw noScopeGranted(String(oidc.params.scope));
      return token;
    }

    /** False while the successor is not stored: the other request has only just consumed this token. */
    async #isSuccessorUsed(): Promise<boolean> {
      this.#successor = (await this.adapter.find(successorOf(this.jti))) || undefined;
      return this.#successor?.consumed !== undefined;
    }

    override async consume(): Promise<void> {
      if (repeats.has(this)) return;
      try {
        await super.consume();
      } catch (error) {
        if (!(error instanceof errors.InvalidGrant)) throw error;
        // Another request consumed it after our read: within the grace period a parallel request, after it a replay.
        const stored = await this.adapter.find(this.jti);
        if (stored && isInGrace(stored.consumed) && !(await this.#isSuccessorUsed())) return;
        if (this.grantId !== undefined) {
          await revokeGrant(this.grantId);
          // The event that the library emits when it detects the reuse itself (lib/helpers/revoke.js).
          const { ctx } = ProviderBase;
          ctx?.oidc.provider.emit('grant.revoked', ctx, this.grantId);
        }
        throw error;
      }
    }

    override getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      const pairs = sourcePairs();
      if (pairs !== undefined) this.api = pairs;
      const times = timesOfSource(this);
      if (times !== undefined) this.methodTimes = times;
      Object.assign(this, confirmedInSource(this));
      return hasKeycloakTokens(this.client) ? this.#sign(this.client) : super.getValueAndPayload();
    }

    async #sign({ clientId: azp }: Client): Promise<{ value: string; payload: AdapterPayload }> {
      const rotated = ProviderBase.ctx?.oidc.entities.RotatedRefreshToken;
      // A racing tab gets the same JWT, too.
      const known = rotated instanceof RefreshToken ? rotated.#successor : undefined;
      if (known?.iat !== undefined) Object.assign(this, { iat: known.iat, exp: known.exp });
      this.isSigned = true;
      const { value: jti, payload } = await super.getValueAndPayload();
      const { iat = 0, exp = 0, sid } = payload;
      return { value: await refreshJwt.sign({ jti, azp, sid, iat, exp }), payload };
    }

    override generateTokenId(): string {
      const rotated = ProviderBase.ctx?.oidc.entities.RotatedRefreshToken;
      return rotated === undefined ? super.generateTokenId() : successorOf(rotated.jti);
    }
  };
}

/** Devices and passwords given to programs never get such scopes (device-code.ts), not even by a token from before that rule. */
function pageless(properties: Record<string, unknown>): Record<string, unknown> {
  const { gty, scope } = properties;
  return isPageless({ gty }) && typeof scope === 'string'
    ? { ...properties, scope: withoutInteractiveScopes(scope) ?? '' }
    : properties;
}

/** @returns the pairs of the code or token that this request brought */
function sourcePairs(): ApiPairs | undefined {
  const { AuthorizationCode, DeviceCode, RotatedRefreshToken } = ProviderBase.ctx?.oidc.entities ?? {};
  const source = AuthorizationCode ?? DeviceCode ?? RotatedRefreshToken;
  return source && pairsOf(source);
}

/** A refresh asks for a token for its API or for userinfo; with neither a scope of the API nor `openid` there is none. */
function isForSomething(ctx: KoaContextWithOIDC): boolean {
  const { scope } = ctx.oidc.params ?? {};
  if (requestedApi(ctx.oidc) === undefined || staysWithApi(ctx)) return true;
  return typeof scope === 'string' && scope.split(' ').includes('openid');
}

/** Decision 0007: scopes that were not granted are ignored. @throws InvalidScope when none is left */
function grantedOf(asked: unknown, granted: ReadonlySet<string>): string | undefined {
  if (typeof asked !== 'string' || asked === '') return undefined;
  const scopes = asked.split(' ').filter((scope) => granted.has(scope));
  if (scopes.length === 0) throw noScopeGranted(asked);
  return scopes.join(' ');
}
