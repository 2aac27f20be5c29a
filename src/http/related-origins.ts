// /.well-known/webauthn (WebAuthn §5.11, Related Origin Requests): the other origins at which browsers may use the passkeys of
// this one. At the root of the host, even if BASE_URL has a path: browsers request it nowhere else.
import type Koa from 'koa';
import { AppError } from '../errors.ts';

/** @param origins ours first */
export function relatedOrigins(origins: () => readonly string[]): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.path !== '/.well-known/webauthn') return next();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new AppError('request.method_not_allowed');
    }
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = { origins: origins() };
    return undefined;
  };
}
