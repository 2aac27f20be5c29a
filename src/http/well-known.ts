// Documents that browsers request at the root of the host, even if BASE_URL has a path: the other origins at which passkeys of
// this one may be used (WebAuthn §5.11, Related Origin Requests), and where users change their password (W3C "A Well-Known URL
// for Changing Passwords"), which password managers open.
import type Koa from 'koa';
import { createRouter } from './router.ts';

interface Deps {
  /** Ours first. */
  readonly passkeyOrigins: () => readonly string[];
  /** The path of BASE_URL; empty if it has none. */
  readonly basePath: string;
}

export function wellKnown({ passkeyOrigins, basePath }: Deps): Koa.Middleware {
  const router = createRouter({ refusesOtherMethods: true });
  router.get('/.well-known/webauthn', (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = { origins: passkeyOrigins() };
  });
  router.get('/.well-known/change-password', (ctx) => {
    // §3.1: a temporary redirect, so that nothing remembers the page behind it.
    ctx.status = 303;
    ctx.set('Cache-Control', 'no-store');
    ctx.redirect(`${basePath}/account/password`);
  });
  return router.middleware;
}
