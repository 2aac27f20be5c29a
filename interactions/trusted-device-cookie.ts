// The cookie of "Don't ask on this device again" (checklist R100, R114): HttpOnly, and Strict because it is only read when one
// of our forms is submitted.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';

export interface TrustedDeviceCookie {
  /** Renews the cookie if the device is still trusted by this account. */
  isTrusted(ctx: Koa.Context, account: Account): Promise<boolean>;
  trust(ctx: Koa.Context, account: Account): Promise<void>;
}

interface Deps {
  readonly isSecure: boolean;
  readonly basePath: string;
  readonly devices: {
    create(input: {
      account: Account;
      ipAddress: string;
      userAgent: string;
      label: string;
    }): Promise<{ token: string; expiresAt: number }>;
    check(account: Account, token: string): Promise<boolean>;
  };
  readonly seconds: () => number;
  readonly deviceName: (userAgent: string) => string;
}

export function createTrustedDeviceCookie(deps: Deps): TrustedDeviceCookie {
  const { isSecure, basePath, devices, seconds, deviceName } = deps;
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
      if (token === undefined || !(await devices.check(account, token))) return false;
      set(ctx, token);
      return true;
    },
    async trust(ctx, account) {
      const userAgent = ctx.get('user-agent');
      const { token } = await devices.create({
        account,
        ipAddress: ctx.ip,
        userAgent,
        label: deviceName(userAgent),
      });
      set(ctx, token);
    },
  };
}
