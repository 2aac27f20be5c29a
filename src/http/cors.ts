// Who may read answers from another origin (decision 0022): declared here by path, and written here alone. No answer allows
// credentials. What CROSS_ORIGIN does not name is for our own origin.
import cors from '@koa/cors';
import type Koa from 'koa';

export const CROSS_ORIGIN = {
  /** Public documents: every origin. */
  any: [
    '/oauth2/.well-known/openid-configuration',
    '/oauth2/.well-known/oauth-authorization-server',
    '/oauth2/.well-known/jwks.json',
  ],
  /**
   * Endpoints for an application's own origins. oidc-provider writes these headers itself, for it alone knows the client by
   * then; which origins it allows is `clientBasedCORS` (src/oidc/policies.ts).
   */
  client: [
    '/oauth2/token',
    '/oauth2/userinfo',
    '/oauth2/introspect',
    '/oauth2/revoke',
    '/oauth2/par',
    '/oauth2/device_authorization',
  ],
} as const;

/** Of public documents that are answered as bytes made beforehand, without Koa (src/oidc/documents.ts). */
export const publicCorsHeaders = { 'Access-Control-Allow-Origin': '*' } as const;

const PREFLIGHT_SECONDS = 3600;

const publicCors = cors({
  origin: (ctx) => ctx.get('Origin') || '*',
  allowMethods: 'GET',
  maxAge: PREFLIGHT_SECONDS,
});
const publicPaths: ReadonlySet<string> = new Set(CROSS_ORIGIN.any);

/** To be mounted where ctx.path is below BASE_URL's own path and aliases are resolved. */
export const crossOrigin: Koa.Middleware = (ctx, next) =>
  publicPaths.has(ctx.path) ? publicCors(ctx, next) : next();
