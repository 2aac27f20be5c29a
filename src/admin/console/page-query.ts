// What of a page's address is for the API behind it.
import type Koa from 'koa';
import { FILLED } from './pending-form.ts';
import { SHOWN } from './shown-once.ts';

const OWN_PARAMETERS: ReadonlySet<string> = new Set(['done', FILLED, SHOWN]);

/** The query parameters for the API: without empty ones, which it refuses, and without those that only the page uses. */
export function queryOf(ctx: Koa.Context): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of new URLSearchParams(ctx.querystring))
    if (!OWN_PARAMETERS.has(name) && value !== '') query.append(name, value);
  return query;
}
