// The three formats of an error response and which request gets which: the API envelope, the OAuth error (RFC 6749 §5.2,
// RFC 6750 §3), or a page.
import type Koa from 'koa';
import { errorRows } from '../model/errors/errors.ts';
import type { Failure } from './failure.ts';

export type Shape = 'envelope' | 'oauth' | 'page';

// Pages for people; everything else below /oauth2 is called by programs.
const pages = new Set([
  'authorize',
  'login',
  'mfa',
  'recover',
  'signup',
  'enrol',
  'onboard',
  'consent',
  'forgot-password',
  'reset-password',
  'verify-email',
  'magic-link',
  'device',
  'logout',
]);
const aliasOfPage = /\/protocol\/openid-connect\/(?:auth|logout)$/;

function isForPrograms(path: string): boolean {
  if (path.startsWith('/.well-known/')) return true;
  if (aliasOfPage.test(path)) return false;
  const [, first, second = ''] = path.split('/', 3);
  return first === 'realms' || (first === 'oauth2' && !pages.has(second));
}

/** @param path below BASE_URL's own path */
export function shapeFor(ctx: Koa.Context, path: string): Shape {
  if (/^\/(?:admin|account)\/api(?:\/|$)/.test(path)) return 'envelope';
  return isForPrograms(path) || ctx.accepts('html', 'json') !== 'html' ? 'oauth' : 'page';
}

export const envelopeOf = (failure: Failure, requestId: string): object => ({
  data: null,
  error: {
    code: failure.status,
    message: failure.message,
    reason: failure.code,
    ...(failure.fields === undefined ? {} : { fields: failure.fields }),
    request_id: requestId,
  },
});

/** RFC 6749 §5.2: printable ASCII without quotes and backslashes. */
const description = (message: string): string =>
  message.replaceAll('"', "'").replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');

function oauthCode({ code, status }: Failure): string {
  const { oauth } = errorRows[code];
  if (oauth !== undefined) return oauth;
  if (status === 403) return 'access_denied';
  if (status === 401) return 'invalid_token';
  if (status === 503 || status === 429) return 'temporarily_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request';
}

export const oauthErrorOf = (
  failure: Failure,
): { readonly error: string; readonly error_description: string; readonly reason?: string } => ({
  error: oauthCode(failure),
  error_description: description(failure.message),
  // It looks like other refusals, and its remedy is the caller's.
  ...(failure.code === 'request.cross_site' && { reason: failure.code }),
});

/**
 * RFC 6750 §3.1: a request without a token learns only the scheme.
 * @param authorization the request's header: a token that came with a proof is refused in that scheme (RFC 9449 §7.1)
 */
export function challengeFor(failure: Failure, authorization: string): string | undefined {
  const scheme = /^dpop\b/i.test(authorization) ? 'DPoP' : 'Bearer';
  if (failure.code === 'auth.required') return scheme;
  // RFC 9470 §3, except that these APIs have always answered 403.
  if (failure.code === 'auth.stale')
    return `${scheme} error="insufficient_user_authentication", error_description="${description(failure.message)}", max_age="300"`;
  if (errorRows[failure.code].isChallenge !== true) return undefined;
  const needed = failure.scope === undefined ? '' : `, scope="${failure.scope}"`;
  return `${scheme} error="${oauthCode(failure)}", error_description="${description(failure.message)}"${needed}`;
}
