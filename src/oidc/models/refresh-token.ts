// Owns refresh token rotation where it meets parallel use: exactly one successor per token, a short grace in which a
// racing tab gets that same successor as long as nobody has used it, and the end of the whole grant when a used token comes
// back (RFC 9700 §4.14.2). Also which of the scopes asked for count: those that were granted (decisions §5).
import { createHmac } from 'node:crypto';
import { errors, type RefreshToken } from 'oidc-provider';
import { type Clock, epochSeconds } from '../../clock.ts';
import { ProviderBase, type TokenClass } from '../provider-base.ts';
import { withoutAdminScopes } from '../scopes.ts';

interface Deps {
  readonly clock: Clock;
  /** Derives a successor from the token it replaces; secret, the same in every process. */
  readonly successorKey: Buffer;
  readonly graceSeconds: () => number;
  readonly revokeGrant: (grantId: string) => Promise<void>;
}

export function createRefreshTokenModel(
  Base: TokenClass<RefreshToken>,
  { clock, successorKey, graceSeconds, revokeGrant }: Deps,
): TokenClass<RefreshToken> {
  const isInGrace = (consumed: unknown): boolean =>
    typeof consumed === 'number' && graceSeconds() > 0 && epochSeconds(clock) - consumed <= graceSeconds();

  // Derived, not random: every racing tab computes the same successor, and no stored value is needed to repeat it.
  const successorOf = (id: string): string =>
    createHmac('sha256', successorKey).update(id).digest('base64url');

  return class RefreshToken extends Base {
    #isRepeat = false;

    constructor(properties: Record<string, unknown>) {
      super(ofDevice(properties));
    }

    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const token = await super.find(value, options);
      const oidc = ProviderBase.ctx?.oidc;
      // Only a refresh has a grace: for introspection and revocation a used token is a used token.
      if (!(token instanceof RefreshToken) || oidc?.params?.grant_type !== 'refresh_token') return token;
      // To another client it is no token at all; the library says so.
      if (token.clientId !== oidc.client?.clientId) return token;
      if (isInGrace(token.consumed) && !(await token.#isSuccessorUsed())) {
        token.consumed = undefined;
        token.#isRepeat = true;
      }
      // Before anything is consumed: a refusal leaves the token as it is. Reuse is reuse, whatever is asked for with it.
      const isUsed = token.consumed !== undefined;
      // No API is registered, so none was granted (configuration.ts).
      if (!isUsed && oidc.params.resource) throw new errors.InvalidTarget();
      oidc.params.scope = isUsed ? undefined : grantedOf(oidc.params.scope, token.scopes);
      return token;
    }

    /** Not stored yet: the request that it is for has only just consumed this one. */
    async #isSuccessorUsed(): Promise<boolean> {
      return (await this.adapter.find(successorOf(this.jti)))?.consumed !== undefined;
    }

    override async consume(): Promise<void> {
      if (this.#isRepeat) return;
      try {
        await super.consume();
      } catch (error) {
        if (!(error instanceof errors.InvalidGrant)) throw error;
        // Somebody was faster between our look and our write. Inside the grace that is a racing tab, outside a replay.
        const stored = await this.adapter.find(this.jti);
        if (stored && isInGrace(stored.consumed) && !(await this.#isSuccessorUsed())) return;
        if (this.grantId !== undefined) {
          await revokeGrant(this.grantId);
          // As the library says it where it finds the reuse itself (lib/helpers/revoke.js).
          const { ctx } = ProviderBase;
          ctx?.oidc.provider.emit('grant.revoked', ctx, this.grantId);
        }
        throw error;
      }
    }

    override generateTokenId(): string {
      const rotated = ProviderBase.ctx?.oidc.entities.RotatedRefreshToken;
      return rotated === undefined ? super.generateTokenId() : successorOf(rotated.jti);
    }
  };
}

/** No device has an `admin` scope (device-code.ts), also by a token that was issued before that rule. */
function ofDevice(properties: Record<string, unknown>): Record<string, unknown> {
  const { gty, scope } = properties;
  const isFiltered = typeof gty === 'string' && gty.startsWith('device_code') && typeof scope === 'string';
  return isFiltered ? { ...properties, scope: withoutAdminScopes(scope) ?? '' } : properties;
}

/** Decisions §5: scopes outside what was granted are ignored. @throws InvalidScope nothing is left */
function grantedOf(asked: unknown, granted: ReadonlySet<string>): string | undefined {
  if (typeof asked !== 'string' || asked === '') return undefined;
  const scopes = asked.split(' ').filter((scope) => granted.has(scope));
  if (scopes.length === 0) throw new errors.InvalidScope('none of these scopes was granted', asked);
  return scopes.join(' ');
}
