// A cookie of the sign-in pages: signed, HttpOnly, and over https for this host alone.
import type Koa from 'koa';

export interface CookieScope {
  readonly isSecure: boolean;
  /** The path of BASE_URL; empty if it has none. */
  readonly basePath: string;
}

export function createOwnCookie(
  suffix: string,
  sameSite: 'lax' | 'strict',
  { isSecure, basePath }: CookieScope,
) {
  const name = `${isSecure ? '__Host-' : ''}latchkey_${suffix}`;
  return {
    /** Undefined also for one that is not ours. */
    read: (ctx: Koa.Context): string | undefined => ctx.cookies.get(name, { signed: true }),
    write(ctx: Koa.Context, value: string, maxAge: number): void {
      ctx.cookies.set(name, value, {
        httpOnly: true,
        sameSite,
        secure: isSecure,
        // The __Host- prefix requires the path `/`.
        path: isSecure || basePath === '' ? '/' : basePath,
        maxAge,
        signed: true,
        overwrite: true,
      });
    },
  };
}
