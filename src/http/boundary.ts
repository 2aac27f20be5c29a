// The one place where errors become responses. An error thrown by any later middleware ends here: it is logged once if it is
// ours, and the client gets the requested error format with the public message only.
import type Koa from 'koa';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Logger } from '../log.ts';
import { isPreflight } from './cors.ts';
import { challengeFor, envelopeOf, oauthErrorOf, shapeFor } from './error-shape.ts';
import { describeFailure, type Failure, failureOf } from './failure.ts';
import { pathForLog, requestIdOf } from './request-log.ts';

export interface ErrorPage {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** Problems by parameter. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly requestId: string;
}

export interface ErrorBoundaryOptions {
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly sendErrorPage: (ctx: Koa.Context, page: ErrorPage) => void | Promise<void>;
  /** BASE_URL's path without a trailing slash, when requests still carry it; default none. */
  readonly basePath?: string;
}

/** Of all addresses together, for a request that reached none of them. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

// Headers of the response that failed.
const stale = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Disposition',
  'ETag',
  'Last-Modified',
  'Location',
] as const;

/** RFC 9110 §9.3.7: no preflight of a browser, but a question. */
const isBareOptions = (ctx: Koa.Context): boolean => ctx.method === 'OPTIONS' && !isPreflight(ctx);

/** Refusals of a request as such, which a question about methods is none of. */
const NOT_ASKED: ReadonlySet<number> = new Set([401, 403, 404, 405]);

function sayMethods(ctx: Koa.Context): void {
  const allow = ctx.response.get('Allow') || METHODS;
  ctx.set('Allow', allow.includes('OPTIONS') ? allow : `${allow}, OPTIONS`);
  ctx.body = null;
  ctx.status = 204;
}

function logFailure(
  log: ErrorBoundaryOptions['log'],
  ctx: Koa.Context,
  error: unknown,
  failure: Failure,
): void {
  if (failure.status < 500) return;
  const fields = {
    request_id: requestIdOf(ctx),
    method: ctx.method,
    path: pathForLog(ctx.path),
    reason: failure.code,
  };
  // Our own 5xx are expected states (busy, unavailable); anything else is a bug and needs its stack.
  if (error instanceof AppError && error.cause === undefined) log.warn(fields, failure.message);
  else log.error({ ...fields, err: error }, 'request failed');
}

/** A request without a response: no route, or none for this method. */
function unansweredFailure(ctx: Koa.Context): Failure | undefined {
  if (ctx.respond === false || ctx.headerSent || (ctx.body !== undefined && ctx.body !== null))
    return undefined;
  if (ctx.status === 404) return failureOf('request.not_found');
  return ctx.status === 405 || ctx.status === 501 ? failureOf('request.method_not_allowed') : undefined;
}

export function errorBoundary({ log, sendErrorPage, basePath = '' }: ErrorBoundaryOptions): Koa.Middleware {
  const pathOf = (ctx: Koa.Context): string =>
    basePath !== '' && ctx.path.startsWith(`${basePath}/`) ? ctx.path.slice(basePath.length) : ctx.path;

  const sendPage = async (ctx: Koa.Context, page: ErrorPage): Promise<void> => {
    try {
      await sendErrorPage(ctx, page);
    } catch (error) {
      log.error({ request_id: page.requestId, err: error }, 'the error page failed');
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = `${page.message}\nRequest ${page.requestId}\n`;
    }
    ctx.status = page.status;
  };

  const answer = async (ctx: Koa.Context, failure: Failure): Promise<void> => {
    const { status, code, message, fields, retryAfterSeconds } = failure;
    const requestId = requestIdOf(ctx);
    const challenge = challengeFor(failure, ctx.get('authorization'));
    for (const name of stale) ctx.remove(name);
    // Another site must not make a browser's session begin or last.
    if (code === 'request.cross_site') ctx.remove('Set-Cookie');
    if (isBareOptions(ctx) && NOT_ASKED.has(status)) return sayMethods(ctx);
    ctx.state.errorCode = code;
    ctx.set('Cache-Control', 'no-store');
    if (challenge !== undefined) ctx.set('WWW-Authenticate', challenge);
    if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(Math.ceil(retryAfterSeconds)));
    // RFC 9110 §15.5.6; an endpoint says its own methods.
    if (status === 405 && !ctx.res.hasHeader('Allow')) ctx.set('Allow', METHODS);
    ctx.status = status;
    const shape = shapeFor(ctx, pathOf(ctx));
    if (shape === 'page') await sendPage(ctx, { status, code, message, fields, requestId });
    else ctx.body = shape === 'envelope' ? envelopeOf(failure, requestId) : oauthErrorOf(failure);
  };

  return async (ctx, next) => {
    try {
      // TRACE would echo cookies and tokens to an attacker who makes a browser send it.
      if (ctx.method === 'TRACE') throw new AppError('request.method_not_allowed');
      await next();
      const failure = unansweredFailure(ctx);
      if (failure !== undefined) await answer(ctx, failure);
    } catch (error) {
      const failure = describeFailure(error);
      logFailure(log, ctx, error, failure);
      if (!ctx.headerSent) await answer(ctx, failure);
      // A partial response must not look complete.
      else ctx.res.destroy();
    }
  };
}

const goneAway = new Set(['ECONNRESET', 'EPIPE', 'ECANCELED', 'ERR_STREAM_PREMATURE_CLOSE']);

/** Koa reports errors here that occur after the boundary: mostly closed connections, which are not our errors. */
export function logLateErrors(app: Pick<Koa, 'on'>, log: Pick<Logger, 'error'>): void {
  app.on('error', (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && goneAway.has(code)) return;
    log.error({ err: error }, 'answer failed');
  });
}
