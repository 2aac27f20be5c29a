// The methods of each protocol endpoint (decision 0001): a wrong one is 405 with the list, not 404.
import type Koa from 'koa';
import { AppError } from '../errors.ts';

const METHODS: Readonly<Record<string, string>> = {
  '/authorize': 'GET, POST',
  '/login': 'GET, POST',
  '/consent': 'GET, POST',
  '/signup': 'GET, POST',
  '/signup/verify': 'GET, POST',
  '/signup/email': 'POST',
  '/enrol': 'GET, POST',
  '/onboard': 'GET, POST',
  '/mfa': 'GET, POST',
  '/mfa/email': 'POST',
  '/forgot-password': 'GET, POST',
  '/reset-password': 'GET, POST',
  '/verify-email': 'GET, POST',
  '/magic-link': 'GET, POST',
  '/language': 'POST',
  '/token': 'POST, OPTIONS',
  '/userinfo': 'GET, POST, OPTIONS',
  '/introspect': 'POST, OPTIONS',
  '/revoke': 'POST, OPTIONS',
  '/logout': 'GET, POST',
  '/par': 'POST, OPTIONS',
  '/register': 'POST',
  '/device': 'GET, POST',
  '/device_authorization': 'POST, OPTIONS',
  '/.well-known/openid-configuration': 'GET, OPTIONS',
  '/.well-known/oauth-authorization-server': 'GET, OPTIONS',
  '/.well-known/jwks.json': 'GET, OPTIONS',
};

const byPath = new Map(
  Object.entries(METHODS).map(([path, allow]) => [
    `/oauth2${path}`,
    { allow, set: new Set(allow.split(', ')) },
  ]),
);

export const checkMethods: Koa.Middleware = (ctx, next) => {
  const entry = byPath.get(ctx.path);
  const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
  // A preflight was answered before (src/http/cors.ts); the boundary makes 204 of a bare OPTIONS.
  if (entry !== undefined && (!entry.set.has(method) || method === 'OPTIONS')) {
    ctx.set('Allow', entry.allow);
    throw new AppError('request.method_not_allowed');
  }
  return next();
};

/** Where the library resumes a sign-in after its pages. */
const RESUMED = /^\/oauth2\/(?:authorize|device)\/[\w-]+$/;

/**
 * The library's router ignores case and accepts more spellings of a path than ours. A request under another spelling would
 * bypass the checks that run before it (sizes, cross-site forms, our own logout and introspection).
 */
export const onlyExactPaths: Koa.Middleware = (ctx, next) => {
  const isOurs = ctx.path.toLowerCase().startsWith('/oauth2');
  if (isOurs && !byPath.has(ctx.path) && !RESUMED.test(ctx.path)) throw new AppError('request.not_found');
  return next();
};
