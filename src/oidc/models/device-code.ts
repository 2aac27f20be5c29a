// Owns device codes at the token endpoint: what a device presents is the code itself, never the stand-in for its digest by
// which the pages come back to it (adapters/oidc.ts); that one stands in the store.
import type { DeviceCode } from 'oidc-provider';
import { ProviderBase, type TokenClass } from '../provider-base.ts';

export function createDeviceCodeModel(
  Base: TokenClass<DeviceCode>,
  { isHandle }: { readonly isHandle: (value: string) => boolean },
): TokenClass<DeviceCode> {
  return class DeviceCode extends Base {
    static override async find(value: string, options?: { ignoreExpiration?: boolean }) {
      const isPresented = ProviderBase.ctx?.oidc.route === 'token';
      return isPresented && isHandle(value) ? undefined : super.find(value, options);
    }
  };
}
