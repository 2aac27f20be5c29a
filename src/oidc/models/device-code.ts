// Owns device codes (RFC 8628): what a device presents is the code itself, never the stand-in for its digest by which the
// pages come back to it (adapters/oidc.ts), which is in the store; guesses of user codes are charged here, whatever page
// they come by; and `admin` scopes never enter a device code or come out of one that is stored.
import { type AdapterPayload, errors } from 'oidc-provider';
import { type DeviceCodeClass, ProviderBase } from '../provider-base.ts';
import { withoutAdminScopes } from '../scopes.ts';

interface Charge {
  giveBack(): void;
}

export interface DeviceCodeDeps {
  readonly isHandle: (value: string) => boolean;
  /**
   * Counts one guess of a user code before it is looked up (§5.1).
   * @param holder the account that is signed in, or the session
   * @throws AppError request.rate_limited
   */
  readonly chargeUserCode: (address: string, holder: string) => Promise<Charge>;
}

type FindOptions = { ignoreExpiration?: boolean };

/** Codes stored before this rule are filtered as well. */
function filtered(properties: Record<string, unknown>): Record<string, unknown> {
  const { params, scope } = properties;
  const own = { ...properties };
  if (typeof scope === 'string') own.scope = withoutAdminScopes(scope) ?? '';
  const requested = requestedScope(properties);
  if (typeof params === 'object' && typeof requested === 'string')
    own.params = { ...params, scope: withoutAdminScopes(requested) };
  return own;
}

export function createDeviceCodeModel(
  Base: DeviceCodeClass,
  { isHandle, chargeUserCode }: DeviceCodeDeps,
): DeviceCodeClass {
  return class DeviceCode extends Base {
    declare scope?: string;

    constructor(properties: Record<string, unknown>) {
      const own = filtered(properties);
      super(own);
      // An application that asks for nothing but what devices never get is told so (RFC 8628 §3.2, RFC 6749 §5.2).
      const isNew = ProviderBase.ctx?.oidc.route === 'device_authorization';
      if (isNew && requestedScope(properties) !== undefined && requestedScope(own) === undefined)
        throw new errors.InvalidScope('admin scopes are not granted to devices', 'admin');
    }

    static override async find(value: string, options?: FindOptions) {
      const isPresented = ProviderBase.ctx?.oidc.route === 'token';
      return isPresented && isHandle(value) ? undefined : super.find(value, options);
    }

    static override async findByUserCode(userCode: string, options?: FindOptions) {
      const { ctx } = ProviderBase;
      const { session } = ctx?.oidc ?? {};
      const holder = session?.accountId ?? session?.uid ?? '';
      const charge = await chargeUserCode(ctx?.ip ?? '', holder);
      const found = await super.findByUserCode(userCode, options);
      if (found !== undefined) charge.giveBack();
      return found;
    }

    override async getValueAndPayload(): Promise<{ value: string; payload: AdapterPayload }> {
      // Set from the grant when the user has confirmed; the same client may have been given more elsewhere.
      if (this.scope !== undefined) this.scope = withoutAdminScopes(this.scope) ?? '';
      return super.getValueAndPayload();
    }
  };
}

function requestedScope({ params }: Record<string, unknown>): unknown {
  return typeof params === 'object' && params !== null && 'scope' in params ? params.scope : undefined;
}
