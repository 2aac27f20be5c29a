// Which responses other origins may read (decision 0022), declared by path; no other file sets these headers. No
// response allows credentials. Paths that CROSS_ORIGIN does not list are for our own origin only.
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
   * Endpoints for an application's own origins. oidc-provider sets these headers, because only it knows the client at
   * that point; `clientBasedCORS` (src/oidc/policies.ts) decides which origins are allowed.
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

/** For public documents served from prepared bytes, without Koa (src/oidc/documents.ts). */
export const publicCorsHeaders = { 'Access-Control-Allow-Origin': '*' } as const;

const PREFLIGHT_SECONDS = 3600;

const publicCors = cors({
  origin: (ctx) => ctx.get('Origin') || '*',
  allowMethods: 'GET',
  maxAge: PREFLIGHT_SECONDS,
});
const publicPaths: ReadonlySet<string> = new Set(CROSS_ORIGIN.any);

/** To be mounted where ctx.path is relative to BASE_URL's path and aliases are resolved. */
export const crossOrigin: Koa.Middleware = (ctx, next) =>
  publicPaths.has(ctx.path) ? publicCors(ctx, next) : next();
