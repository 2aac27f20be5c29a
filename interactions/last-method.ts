// How someone signed in last in this browser, so that it comes first the next time. The cookie names a method, no account.
import type Koa from 'koa';
import { isBy } from '../src/model/ways-to-sign-in.ts';
import type { CookieScope } from './own-cookie.ts';
import { createPreferenceCookie } from './preference-cookie.ts';

const METHODS = ['password', 'passkey', 'link'] as const;
export type LastMethod = (typeof METHODS)[number];

/** By the first factor. @param amr RFC 8176 values of a sign-in */
function methodOf(amr: readonly string[]): LastMethod | undefined {
  if (isBy.password(amr)) return 'password';
  if (isBy.mailedLink(amr)) return 'link';
  return isBy.passkey(amr) ? 'passkey' : undefined;
}

export interface LastMethodCookie {
  read(ctx: Koa.Context): LastMethod | undefined;
  /** @param isPasskeyNew whether a passkey was created in this sign-in: the person will want to use it */
  keep(ctx: Koa.Context, amr: readonly string[], isPasskeyNew: boolean): void;
}

export function createLastMethodCookie(scope: CookieScope): LastMethodCookie {
  const cookie = createPreferenceCookie(`${scope.isSecure ? '__Host-' : ''}latchkey_method`, scope);
  const read = (ctx: Koa.Context): LastMethod | undefined => {
    const value = cookie.read(ctx);
    return METHODS.find((method) => method === value);
  };
  return {
    read,
    keep(ctx, amr, isPasskeyNew) {
      const method = isPasskeyNew ? 'passkey' : methodOf(amr);
      if (method !== undefined && method !== read(ctx)) cookie.write(ctx, method);
    },
  };
}
