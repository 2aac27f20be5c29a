// /.well-known/webauthn (WebAuthn §5.11, Related Origin Requests): the other origins at which browsers may use
// passkeys of this one. Served at the root of the host even if BASE_URL has a path, because browsers request it only
// there.
import type Koa from 'koa';
import { createRouter } from './router.ts';

/** @param origins ours first */
export function relatedOrigins(origins: () => readonly string[]): Koa.Middleware {
  const router = createRouter({ refusesOtherMethods: true });
  router.get('/.well-known/webauthn', (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = { origins: origins() };
  });
  return router.middleware;
}
