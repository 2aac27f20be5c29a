// Owns the way of a request to its route: who asks, which route, what came in, and the envelope around the answer.
import type Koa from 'koa';
import Router from 'koa-router';
import { AppError } from '../errors.ts';
import { readJson } from '../http/body.ts';
import type { AuditTrail } from './audit-trail.ts';
import { createPerform, type Perform } from './perform.ts';
import type { Actor, AuthorizeAdmin } from './ports.ts';
import { readQueryString } from './query-string.ts';
import type { RawInput, Route } from './route.ts';

interface Deps {
  readonly routes: readonly Route[];
  /** Path of the API, without a slash at its end. */
  readonly prefix: string;
  /** The same as others see it: absolute. */
  readonly publicUrl: string;
  readonly authorizeAdmin: AuthorizeAdmin;
  readonly auditTrail: AuditTrail;
}

const entityTag = /^"(\d{1,15})"$/;
/** A version that nothing has. */
const NO_VERSION = -1;

/** RFC 9110 §13.1.1: strong comparison, so a weak tag matches nothing; `*` is met by whatever is found. */
function expectedVersion(ifMatch: string): number | undefined {
  if (ifMatch === '' || ifMatch.trim() === '*') return undefined;
  if (ifMatch.includes(',')) {
    throw new AppError('request.invalid', { fields: { 'If-Match': 'Must be one entity tag.' } });
  }
  return Number(entityTag.exec(ifMatch.trim())?.[1] ?? NO_VERSION);
}

/** koa-router writes `:id` where OpenAPI writes `{id}`. */
const toPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

const hasBody = (ctx: Koa.Context): boolean =>
  (ctx.request.length ?? 0) > 0 || ctx.get('Transfer-Encoding') !== '';

/**
 * @returns middleware for everything under the prefix. Nobody but an administrator learns there which addresses and
 *   methods exist: authorisation comes first (401 before 404, 405, 415 and 400).
 */
export function createAdminRouter(deps: Deps): Koa.Middleware {
  const { routes, prefix, publicUrl, authorizeAdmin, auditTrail } = deps;
  const router = new Router<Koa.DefaultState, Koa.DefaultContext>({ prefix, sensitive: true, strict: true });
  const perform = createPerform(auditTrail);
  for (const route of routes)
    router.register(toPattern(route.path), [route.method], respond(route, publicUrl, perform));
  // The type asks for what koa-router itself puts into the context (params, router).
  const dispatch = router.routes() as Koa.Middleware;

  return async (ctx, next) => {
    if (ctx.path !== prefix && !ctx.path.startsWith(`${prefix}/`)) return next();
    ctx.set('Cache-Control', 'no-store');
    ctx.state.actor = await authorizeAdmin(ctx);
    return dispatch(ctx, () => refuseUnmatched(ctx));
  };
}

const respond =
  (route: Route, publicUrl: string, perform: Perform): Router.IMiddleware =>
  async (ctx) => {
    const actor: Actor = ctx.state.actor;
    const query = readQueryString(ctx.querystring, route.query);
    const isBodyRead = route.body !== undefined && (route.isBodyOptional !== true || hasBody(ctx));
    const input: RawInput = {
      actor,
      params: ctx.params,
      query,
      body: isBodyRead ? await readJson(ctx) : {},
      ifVersion: expectedVersion(ctx.get('If-Match')),
    };
    const answer = await perform(route, input);
    ctx.status = route.success.status;
    if (answer === undefined) return;
    const { data, version, id } = answer;
    if (version !== undefined) ctx.set('ETag', `"${version}"`);
    if (id !== undefined) ctx.set('Location', `${publicUrl}${route.path}/${encodeURIComponent(id)}`);
    ctx.body = route.isBare === true ? data : { data };
  };

function refuseUnmatched(ctx: Koa.ParameterizedContext): never {
  const matched: readonly Router.Layer[] = ctx.matched ?? [];
  const methods = new Set(matched.flatMap(({ methods }) => methods));
  if (methods.size === 0) throw new AppError('request.not_found');
  ctx.set('Allow', [...methods].join(', '));
  throw new AppError('request.method_not_allowed');
}
