// The cookie of "Don't ask on this device again" (checklist R100, R114): HttpOnly, and Strict because it is only read when one
// of our forms is submitted.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { SecondFactors } from '../src/second-factors/index.ts';
import { type CookieScope, createOwnCookie } from './own-cookie.ts';

export interface TrustedDeviceCookie {
  /** Renews the cookie if the device is still trusted by this account. */
  isTrusted(ctx: Koa.Context, account: Account): Promise<boolean>;
  /** Right after a second factor was given. */
  trust(ctx: Koa.Context, account: Account): Promise<void>;
}

interface Deps extends CookieScope {
  readonly secondFactors: Pick<SecondFactors, 'trustedDevices' | 'trustDevice'>;
  readonly seconds: () => number;
}

export function createTrustedDeviceCookie({ secondFactors, seconds, ...scope }: Deps): TrustedDeviceCookie {
  const cookie = createOwnCookie('device', 'strict', scope);
  const set = (ctx: Koa.Context, token: string): void => cookie.write(ctx, token, seconds() * 1000);
  return {
    async isTrusted(ctx, account) {
      const token = cookie.read(ctx);
      if (token === undefined || !(await secondFactors.trustedDevices.check(account, token))) return false;
      set(ctx, token);
      return true;
    },
    async trust(ctx, { id }) {
      const token = await secondFactors.trustDevice(id);
      if (token !== undefined) set(ctx, token);
    },
  };
}
