// Which responses other origins may read (decision 0022), declared by path; no other file sets these headers. Paths that
// CROSS_ORIGIN does not list are for our own origin only: authorization, pages, passkeys, the admin API.
import cors from '@koa/cors';
import type Koa from 'koa';

export const CROSS_ORIGIN = {
  /** Public documents: every origin. */
  any: [
    '/oauth2/.well-known/openid-configuration',
    '/oauth2/.well-known/oauth-authorization-server',
    '/oauth2/.well-known/jwks.json',
    '/account/api/openapi.json',
  ],
  /**
   * Endpoints that ignore cookies: the origins of the client or token in the request. Credentials are allowed only because
   * some libraries ask for them; there are none that count.
   */
  client: {
    '/oauth2/token': 'POST',
    '/oauth2/userinfo': 'GET,POST',
    '/oauth2/introspect': 'POST',
    '/oauth2/revoke': 'POST',
    '/oauth2/par': 'POST',
    '/oauth2/device_authorization': 'POST',
  },
  /** Any origin, while anyone may register a client there (decision 0022); else none. */
  agents: { '/oauth2/register': 'POST' },
  /** APIs that take a bearer and no cookie, everything below: the origins of the token's client. */
  bearer: { '/account/api/': 'GET,POST,PUT,PATCH,DELETE' },
} as const;

/** For public documents served from prepared bytes, without Koa (src/oidc/documents.ts). */
export const publicCorsHeaders = { 'Access-Control-Allow-Origin': '*' } as const;

/** Whether the client or token in this request has the origin; asked when the request was handled. */
export type HasOrigin = (ctx: Koa.Context, origin: string) => Promise<boolean>;

/** What a browser asks before a request to another origin. */
export const isPreflight = (ctx: Koa.Context): boolean =>
  ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '';

const PREFLIGHT_SECONDS = 3600;

const publicCors = cors({
  origin: (ctx) => (ctx.method === 'OPTIONS' && ctx.get('Origin')) || '*',
  allowMethods: 'GET',
  maxAge: PREFLIGHT_SECONDS,
});

const EXPOSED = 'WWW-Authenticate, DPoP-Nonce, Retry-After, X-Request-Id';

/** Of an answer to the client whose origin it is, at the endpoints of `client` above, without Koa (src/oidc/plain/). */
export const clientCorsHeaders = (origin: string): Readonly<Record<string, string>> => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': EXPOSED,
});

const corsOf = (allowMethods: string, credentials: boolean): Koa.Middleware =>
  cors({
    origin: (ctx) => ctx.get('Origin'),
    allowMethods,
    credentials,
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
  });

const publicPaths: ReadonlySet<string> = new Set(CROSS_ORIGIN.any);
const clientPaths = new Map(
  Object.entries(CROSS_ORIGIN.client).map(([path, methods]) => [path, corsOf(methods, true)]),
);
const agentPaths = new Map(
  Object.entries(CROSS_ORIGIN.agents).map(([path, methods]) => [path, corsOf(methods, false)]),
);
const bearerPaths = Object.entries(CROSS_ORIGIN.bearer).map(
  ([prefix, methods]) => [prefix, corsOf(methods, false)] as const,
);

/** @returns what sets the headers of a path; undefined for a path of our own origin only */
const policyOf = (path: string): Koa.Middleware | undefined =>
  clientPaths.get(path) ?? bearerPaths.find(([prefix]) => path.startsWith(prefix))?.[1];

/** Whether scripts elsewhere may ask there and read the answer, as the table above says, which needs `Sec-Fetch-Mode: cors`. */
export const hasCors = (path: string): boolean =>
  publicPaths.has(path) || agentPaths.has(path) || policyOf(path) !== undefined;

/** The library sets its own as soon as it knows an origin, and before it knows whose (lib/shared/cors.js). */
function removeHeaders(ctx: Koa.Context): void {
  for (const name of ctx.res.getHeaderNames()) if (name.startsWith('access-control-')) ctx.remove(name);
}

const nothing = (): Promise<void> => Promise.resolve();

/**
 * To be mounted where ctx.path is relative to BASE_URL's path and aliases are resolved, around everything that may refuse a
 * request: an application must be able to read why.
 */
export function crossOrigin(hasOrigin: HasOrigin, isOpenToAgents: () => boolean): Koa.Middleware {
  return async (ctx, next) => {
    if (publicPaths.has(ctx.path)) return publicCors(ctx, next);
    const forAgents = isOpenToAgents() ? agentPaths.get(ctx.path) : undefined;
    if (forAgents !== undefined) return forAgents(ctx, next);
    const setHeaders = policyOf(ctx.path);
    if (setHeaders === undefined) return next();
    ctx.vary('Origin');
    const origin = ctx.get('Origin');
    // `null` is every sandboxed frame, and every file.
    const isSomeones = origin !== '' && origin !== 'null';
    // A preflight names neither client nor token, so any origin may ask; it learns nothing.
    if (isPreflight(ctx) && isSomeones) return setHeaders(ctx, nothing);
    try {
      await next();
    } finally {
      removeHeaders(ctx);
      if (isSomeones && (await hasOrigin(ctx, origin))) await setHeaders(ctx, nothing);
    }
  };
}
