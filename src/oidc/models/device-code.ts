// Device codes (RFC 8628). A device must present the code itself, never the handle by which our pages load it
// (adapters/oidc.ts), since that is in the store. Guesses of user codes are counted here for every page. Scopes
// of the admin and account API are removed from stored codes; settle-scope.ts removes them from requests.

import { type AdapterPayload, errors } from 'oidc-provider';
import type { Apis } from '../../apis/index.ts';
import type { Clock } from '../../clock.ts';
import { isMembers, memberOf } from '../../json.ts';
import type { ApiPairs } from '../entitlements/api-pairs.ts';
import { bindApi, pairsToKeep } from '../entitlements/requested-api.ts';
import { withoutInteractiveScopes } from '../entitlements/scopes.ts';
import { type DeviceCodeClass, ProviderBase } from '../provider-base.ts';
import { typedUserCode } from '../user-code.ts';
import { confirmedInSession } from './confirmed.ts';
import { keepingNewer, type WithNewer, withNewer } from './newer-members.ts';
import { beganBeforeAnswer, noteRedeemed, wasUsed } from './redeemed-codes.ts';

interface Charge {
  giveBack(): void;
}

export interface DeviceCodeDeps {
  readonly isHandle: (value: string) => boolean;
  readonly apis: Pick<Apis, 'find' | 'findByIdentifier'>;
  readonly clock: Clock;
  /**
   * Counts one guess of a user code before it is looked up (§5.1).
   * @param holder the account that is signed in, or the session
   * @throws AppError request.rate_limited
   */
  readonly chargeUserCode: (address: string, holder: string) => Promise<Charge>;
  /** Counts a question that comes before the person has decided. @returns whether it is not too early (§3.5) */
  readonly mayPoll: (code: string) => Promise<boolean>;
}

type FindOptions = { ignoreExpiration?: boolean };

/** Also filters codes that were stored before this rule. */
function filtered(properties: Record<string, unknown>): Record<string, unknown> {
  const { params, scope } = properties;
  const result = { ...properties };
  if (typeof scope === 'string') result.scope = withoutInteractiveScopes(scope) ?? '';
  const requested = memberOf(params, 'scope');
  if (isMembers(params) && typeof requested === 'string')
    result.params = { ...params, scope: withoutInteractiveScopes(requested) };
  return result;
}

export function createDeviceCodeModel(
  Base: DeviceCodeClass,
  { isHandle, apis, clock, chargeUserCode, mayPoll }: DeviceCodeDeps,
): DeviceCodeClass {
  return class DeviceCode extends Base {
    static override IN_PAYLOAD = [...Base.IN_PAYLOAD, 'api', 'confirmedAt'];
    declare api?: ApiPairs;
    declare scope?: string;
    declare newer?: WithNewer['newer'];

    static override instantiate(payload: AdapterPayload) {
      return withNewer(super.instantiate(payload), payload, this.IN_PAYLOAD);
    }

    constructor(properties: Record<string, unknown>) {
      super(filtered(properties));
    }

    static override async find(value: string, options?: FindOptions) {
      const { ctx } = ProviderBase;
      if (ctx?.oidc.route !== 'token') return super.find(value, options);
      const code = isHandle(value) ? undefined : await super.find(value, options);
      const { client } = ctx.oidc;
      // The code itself is the proof: nobody but the device has seen it.
      const isOfClient = code !== undefined && code.clientId === client?.clientId;
      if (isOfClient && code.consumed !== undefined && beganBeforeAnswer(code, ctx, clock))
        throw wasUsed('DeviceCode');
      const isUsable = isOfClient && code.isValid;
      // Until the person has decided, the device only asks whether they have.
      if (isUsable && client !== undefined && code.accountId !== undefined)
        await bindApi(ctx, client, code, apis);
      const isWaiting = isUsable && code.accountId === undefined && code.error === undefined;
      if (isWaiting && !(await mayPoll(value))) throw new errors.SlowDown();
      return code;
    }

    override async consume(): Promise<void> {
      await super.consume();
      const { ctx } = ProviderBase;
      if (ctx !== undefined) noteRedeemed(this.jti, ctx.res);
    }

    static override async findByUserCode(userCode: string, options?: FindOptions) {
      const { ctx } = ProviderBase;
      const { session } = ctx?.oidc ?? {};
      const holder = session?.accountId ?? session?.uid ?? '';
      const charge = await chargeUserCode(ctx?.ip ?? '', holder);
      const found = await super.findByUserCode(typedUserCode(ctx?.oidc.params) ?? userCode, options);
      if (found !== undefined) charge.giveBack();
      return found;
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      // Set from the grant after the user confirms; the same client may have got more scopes elsewhere.
      if (this.scope !== undefined) this.scope = withoutInteractiveScopes(this.scope) ?? '';
      const pairs = ProviderBase.ctx && this.api === undefined && pairsToKeep(ProviderBase.ctx.oidc, this);
      if (pairs) this.api = pairs;
      Object.assign(this, confirmedInSession());
      return keepingNewer(this, await super.getValueAndPayload());
    }
  };
}
