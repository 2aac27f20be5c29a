import type Koa from 'koa';
import type { Requester } from '../src/mail/index.ts';

/** What a mail reports of the request that caused it; header values are cut to what is stored. */
export const requesterOf = (ctx: Koa.Context): Requester => ({
  ipAddress: ctx.ip,
  userAgent: ctx.get('user-agent').slice(0, 512),
  language: ctx.get('accept-language').slice(0, 200),
});
