// The request's id and its one log line, with method, path, status and client address; never the query, a header's value or a
// body, since those carry codes, tokens and passwords.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { Logger } from '../log.ts';
import { beginningOfRequest } from './connection-times.ts';
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

/** @returns the id of this request; empty outside the request log */
export function requestIdOf(ctx: Koa.Context): string {
  const id: unknown = ctx.state.requestId;
  return isText(id) ? id : '';
}

/** What the line says about a request, and where it came from. */
interface Asked {
  /** The whole path, as it was sent. */
  readonly path: string;
  readonly ip: string;
}

interface Logged {
  readonly id: string;
  /** By `performance.now()`. */
  readonly beganAt: number;
  /** Read when the line is written; set by whoever knows it. */
  errorCode?: () => unknown;
}

// A request that a handler before Koa began and passed on (src/oidc/plain/) keeps its id and has one line.
const begun = new WeakMap<IncomingMessage, Logged>();

/** @returns when a request began, by `performance.now()`; undefined outside the request log */
export const beginningOf = (request: IncomingMessage): number | undefined => begun.get(request)?.beganAt;

export interface RequestLog {
  /** Gives a request its id and writes its line when it is over; once per request, whoever answers it. */
  begin(request: IncomingMessage, response: ServerResponse, asked: Asked): { readonly id: string };
  /** The first middleware: it measures all others and gives them the id. */
  readonly middleware: Koa.Middleware;
}

export function createRequestLog({ log, newId, onAnswered }: RequestLogOptions): RequestLog {
  function begin(request: IncomingMessage, response: ServerResponse, { path: asked, ip }: Asked): Logged {
    const known = begun.get(request);
    if (known !== undefined) return known;
    const arrivedAt = performance.now();
    const logged: Logged = { id: newId(), beganAt: beginningOfRequest(request, arrivedAt) };
    begun.set(request, logged);
    const { id } = logged;
    if (isProbe(asked) || asked === METRICS_PATH) return logged;
    const { method } = request;
    const path = pathForLog(asked);
    const userAgent = (request.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT);
    // `close` is emitted exactly once, after the response or after the client closed the connection.
    response.once('close', () => {
      const errorCode = logged.errorCode?.();
      const ms = performance.now() - arrivedAt;
      onAnswered?.(asked, response.writableFinished ? response.statusCode : undefined, ms);
      log.info(
        {
          request_id: id,
          method,
          path,
          status: response.statusCode,
          ms: Math.round(ms * 10) / 10,
          ip,
          user_agent: userAgent,
          ...(isText(errorCode) ? { reason: errorCode } : {}),
          ...(response.writableFinished ? {} : { is_aborted: true }),
        },
        'request',
      );
    });
    return logged;
  }

  return {
    begin,
    middleware(ctx, next) {
      const logged = begin(ctx.req, ctx.res, ctx);
      ctx.state.requestId = logged.id;
      ctx.set('X-Request-Id', logged.id);
      logged.errorCode = () => ctx.state.errorCode;
      return next();
    },
  };
}
