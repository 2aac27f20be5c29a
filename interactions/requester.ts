import type Koa from 'koa';
import type { Requester } from '../src/mail/index.ts';
import { readLanguages } from '../src/views/index.ts';

/** What a mail reports of the request that caused it; header values are cut to what is stored. */
export const requesterOf = (ctx: Koa.Context): Requester => ({
  ipAddress: ctx.ip,
  userAgent: ctx.get('user-agent').slice(0, 512),
  language: readLanguages(ctx.req.headers),
});
