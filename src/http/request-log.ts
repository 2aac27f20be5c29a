// Owns the request's id and its one log line. The line tells method, path, outcome and caller; never the query, a
// header's value or a body, since those carry codes, tokens and passwords (checklist R147).
import type Koa from 'koa';
import type { Logger } from '../log.ts';
import { isProbe } from './health.ts';
import { METRICS_PATH } from './metrics.ts';

export interface RequestLogOptions {
  readonly log: Pick<Logger, 'info'>;
  /** Makes the request's id; one from outside is never taken, it could forge the trail. */
  readonly newId: () => string;
  /** Told of every request that has a line, with its whole path; status undefined: the caller hung up before. */
  readonly onAnswered?: (path: string, status: number | undefined, ms: number) => void;
}

const MAX_PATH = 512;
const MAX_USER_AGENT = 256;

// The address a sign-in is resumed at ends in what is the resume cookie's value as well.
const resumeId = /(?<=\/oauth2\/(?:authorize|device)\/)[^/]+/;

/** @returns a request's path as far as a log may tell it */
export const pathForLog = (path: string): string => path.slice(0, MAX_PATH).replace(resumeId, '…');

const isText = (value: unknown): value is string => typeof value === 'string';

/** @returns the id of this request; empty outside requestLog */
export function requestIdOf(ctx: Koa.Context): string {
  const id: unknown = ctx.state.requestId;
  return isText(id) ? id : '';
}

/** The first middleware of all: what it wraps is measured and has an id. */
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
    // `close` comes exactly once, after the answer or after the caller went away.
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
