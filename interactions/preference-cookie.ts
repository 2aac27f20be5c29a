// A cookie in which a browser keeps what its user prefers: one of a few words, about no account and with no authority, so it is
// neither signed nor sealed. Scripts don't see it all the same.
import type Koa from 'koa';
import type { CookieScope } from './own-cookie.ts';

/** As long as browsers keep any (RFC 6265bis §5.5). */
const LIFETIME_MS = 400 * 86_400_000;

export function createPreferenceCookie(name: string, { isSecure, basePath }: CookieScope) {
  return {
    read: (ctx: Koa.Context): string | undefined => ctx.cookies.get(name, { signed: false }),
    write(ctx: Koa.Context, value: string): void {
      ctx.cookies.set(name, value, {
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure,
        // The __Host- prefix requires the path `/`.
        path: isSecure || basePath === '' ? '/' : basePath,
        maxAge: LIFETIME_MS,
        signed: false,
        overwrite: true,
      });
    },
  };
}
