// The cookie of "Don't ask on this device again": HttpOnly, and Strict because it is only read when one
// of our forms is submitted.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { InteractionDoors } from './doors.ts';
import { type CookieScope, createOwnCookie } from './own-cookie.ts';

export interface TrustedDeviceCookie {
  /** Renews the cookie if the device is still trusted by this account. */
  isTrusted(ctx: Koa.Context, account: Account): Promise<boolean>;
  /** Right after a second factor was given. */
  trust(ctx: Koa.Context, account: Account): Promise<void>;
}

export function createTrustedDeviceCookie(
  { secondFactors, settings }: InteractionDoors,
  scope: CookieScope,
): TrustedDeviceCookie {
  const cookie = createOwnCookie('device', 'strict', scope);
  const set = (ctx: Koa.Context, token: string): void =>
    cookie.write(ctx, token, settings().trusted_device_seconds * 1000);
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
