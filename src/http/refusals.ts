// Requests that are refused for what they are: malformed, of a wrong type, not allowed. They have a counter of their own by address,
// which refuses nothing but them, so that who sends them uses up no limit that somebody else needs.

import type Koa from 'koa';
import { memberOf } from '../json.ts';
import type { RateLimits } from '../rate-limits/index.ts';
import { refusalCountedAs } from './counted-as.ts';
import { describeFailure } from './failure.ts';

interface Ending {
  readonly status: number;
  readonly body?: unknown;
  /** The code of an AppError. */
  readonly code?: string;
}

/** RFC 6749 §5.2, and our own; a form without the cookie that came with it is as good as one without its token. */
const MALFORMED = new Set<unknown>(['invalid_request', 'request.malformed', 'request.cookies_off']);

export function isRefusal({ status, body, code }: Ending): boolean {
  if (status === 403 || status === 415) return true;
  if (status !== 400) return false;
  if (code !== undefined) return MALFORMED.has(code);
  return MALFORMED.has(memberOf(body, 'error'));
}

/** To be mounted around everything that refuses. */
export function countRefusals(limits: Pick<RateLimits, 'consume'>): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (isRefusal(describeFailure(error))) await limits.consume('refusals_ip', refusalCountedAs(ctx));
      throw error;
    }
    if (isRefusal({ status: ctx.status, body: ctx.body }))
      await limits.consume('refusals_ip', refusalCountedAs(ctx));
  };
}
