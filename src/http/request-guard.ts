// Refuses what pages of other sites make their readers' browsers send, before anything is counted or looked up: hidden requests and
// frames would otherwise use up the limits of the reader's whole network, in silence. Decision 0022 has the rules.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { hasCors } from './cors.ts';
import { isInForeignFrame, isOfOwnForm, isPartOfAnotherSite, isSentByNobody } from './request-source.ts';

/** Reads no cookie: bearers, pictures in pages of applications, and the frames of session management (decision 0026). */
const WITHOUT_COOKIES = /^\/(?:admin\/api(?:\/|$)|avatars\/|realms\/|oauth2\/check_session$)/;

/** A client's own registration, by its token (RFC 7592). */
const REGISTERED = '/oauth2/register/';

/** The token is its own proof, and pages send it as they close (`sendBeacon`: `no-cors`). */
const REVOCATION = '/oauth2/revoke';

const AUTHORIZE = '/oauth2/authorize';

/** How a subresource is no sign-out, the endpoint says itself (src/oidc/logout/logout.ts). */
const LOGOUT = '/oauth2/logout';

/** To which other sites send forms by design (OIDC Core §3.1.2.1, RP-Initiated Logout 1.0 §2). */
const TAKES_FOREIGN_FORMS = new Set([AUTHORIZE, LOGOUT]);

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A silent sign-in in a frame. What it asks may be in what was pushed, signed or sent in a body: then the protocol core's policy
 * looks at it (src/oidc/sign-in/interaction-policy.ts).
 */
function maySignInSilently(ctx: Koa.Context): boolean {
  if (ctx.path !== AUTHORIZE || !isInForeignFrame(ctx)) return false;
  const query = new URLSearchParams(ctx.querystring);
  return (
    ctx.method === 'POST' ||
    query.get('prompt') === 'none' ||
    query.has('request_uri') ||
    query.has('request')
  );
}

function isRefused(ctx: Koa.Context): boolean {
  const { path, method } = ctx;
  if (path === REVOCATION) return false;
  if (hasCors(path) || path.startsWith(REGISTERED)) return ctx.get('Sec-Fetch-Mode') === 'no-cors';
  if (WITHOUT_COOKIES.test(path)) return false;
  if (isSentByNobody(ctx)) return true;
  if (path !== LOGOUT && isPartOfAnotherSite(ctx) && !maySignInSilently(ctx)) return true;
  return !READS.has(method) && !TAKES_FOREIGN_FORMS.has(path) && !isOfOwnForm(ctx);
}

/**
 * To be mounted where ctx.path is below BASE_URL's own path and aliases are resolved, before whatever counts or reads.
 * @throws AppError request.cross_site
 */
export const guardRequests: Koa.Middleware = (ctx, next) => {
  const { authorization = '', 'content-encoding': encoding = 'identity' } = ctx.req.headers;
  // RFC 9110 §11.4: one space or more.
  if (authorization.includes('  ')) ctx.req.headers.authorization = authorization.replace(/ {2,}/, ' ');
  // It would be small on the wire and huge in memory.
  if (!READS.has(ctx.method) && encoding.trim().toLowerCase() !== 'identity')
    throw new AppError('request.unsupported_media_type', { message: 'The body must not be compressed.' });
  if (isRefused(ctx)) throw new AppError('request.cross_site');
  return next();
};
