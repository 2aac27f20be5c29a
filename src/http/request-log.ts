// The request's id and its one log line, with method, path, status and client address; never the query, a header's value or a
// body, since those carry codes, tokens and passwords (checklist R147).
import type Koa from 'koa';
import type { Logger } from '../log.ts';
import { isProbe } from './health.ts';
import { METRICS_PATH } from './metrics.ts';

export interface RequestLogOptions {
  readonly log: Pick<Logger, 'info'>;
  /** Creates the request's id. An id from the client is never used: it could forge the audit trail. */
  readonly newId: () => string;
  /** Called for every logged request, with its whole path; status undefined: the client closed the connection first. */
  readonly onAnswered?: (path: string, status: number | undefined, ms: number) => void;
}

const MAX_PATH = 512;
const MAX_USER_AGENT = 256;

// The address that resumes a sign-in ends in the value of the resume cookie.
const resumeId = /(?<=\/oauth2\/(?:authorize|device)\/)[^/]+/;

/** @returns a request's path without secrets, for the log */
export const pathForLog = (path: string): string => path.slice(0, MAX_PATH).replace(resumeId, '…');

const isText = (value: unknown): value is string => typeof value === 'string';

/** @returns the id of this request; empty outside requestLog */
export function requestIdOf(ctx: Koa.Context): string {
  const id: unknown = ctx.state.requestId;
  return isText(id) ? id : '';
}

/** The first middleware: it measures all others and gives them the id. */
export function requestLog({ log, newId, onAnswered }: RequestLogOptions): Koa.Middleware {
  return (ctx, next) => {
    const id = newId();
    const startedAt = performance.now();
    ctx.state.requestId = id;
    ctx.set('X-Request-Id', id);
    const { method, path: asked } = ctx;
    if (isProbe(asked) || asked === METRICS_PATH) return next();
    const path = pathForLog(asked);
    const userAgent = ctx.get('User-Agent').slice(0, MAX_USER_AGENT);
    const ip = ctx.ip;
    // `close` is emitted exactly once, after the response or after the client closed the connection.
    ctx.res.once('close', () => {
      const errorCode: unknown = ctx.state.errorCode;
      const ms = performance.now() - startedAt;
      onAnswered?.(asked, ctx.res.writableFinished ? ctx.res.statusCode : undefined, ms);
      log.info(
        {
          request_id: id,
          method,
          path,
          status: ctx.res.statusCode,
          ms: Math.round(ms * 10) / 10,
          ip,
          user_agent: userAgent,
          ...(isText(errorCode) ? { reason: errorCode } : {}),
          ...(ctx.res.writableFinished ? {} : { is_aborted: true }),
        },
        'request',
      );
    });
    return next();
  };
}
