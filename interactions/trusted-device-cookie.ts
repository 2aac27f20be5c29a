// The cookie of "Don't ask on this device again" (checklist R100, R114): HttpOnly, and Strict because it is only read when one
// of our forms is submitted.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { SecondFactors } from '../src/second-factors/index.ts';

export interface TrustedDeviceCookie {
  /** Renews the cookie if the device is still trusted by this account. */
  isTrusted(ctx: Koa.Context, account: Account): Promise<boolean>;
  /** Right after a second factor was given. */
  trust(ctx: Koa.Context, account: Account): Promise<void>;
}

interface Deps {
  readonly isSecure: boolean;
  readonly basePath: string;
  readonly secondFactors: Pick<SecondFactors, 'trustedDevices' | 'trustDevice'>;
  readonly seconds: () => number;
}

export function createTrustedDeviceCookie(deps: Deps): TrustedDeviceCookie {
  const { isSecure, basePath, secondFactors, seconds } = deps;
  const name = isSecure ? '__Host-latchkey_device' : 'latchkey_device';
  const set = (ctx: Koa.Context, token: string): void => {
    ctx.cookies.set(name, token, {
      httpOnly: true,
      sameSite: 'strict',
      secure: isSecure,
      // The __Host- prefix requires the path `/`.
      path: isSecure || basePath === '' ? '/' : basePath,
      maxAge: seconds() * 1000,
      signed: true,
      overwrite: true,
    });
  };
  return {
    async isTrusted(ctx, account) {
      const token = ctx.cookies.get(name, { signed: true });
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
