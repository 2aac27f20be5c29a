// Dispatches a request to its route: authorization, lookup, input parsing, and the response envelope.
import type Koa from 'koa';
import { AppError, invalid } from '../../errors.ts';
import { createRouter, type RouteHandler, readJson, readLines } from '../../http/index.ts';
import { isMembers } from '../../json.ts';
import { actIn, FRESH_ANSWERS } from '../../model/acts.ts';
import type { AuditTrail } from './audit-trail.ts';
import { createTakeEchoes } from './echoed-members.ts';
import type { Idempotency, Reply } from './idempotency.ts';
import { createPerform, isFreshOrProgram, type Perform, requireAccess, requireFresh } from './perform.ts';
import type { Actor, AdminPorts } from './ports.ts';
import { readQueryString } from './query-string.ts';
import { type Answer, isCreating, nameOf, type RawInput, type Route } from './route.ts';

interface Deps {
  readonly routes: readonly Route[];
  /** Path of the API, without a trailing slash. */
  readonly prefix: string;
  /** Absolute URL of the API, as clients see it. */
  readonly publicUrl: string;
  readonly authorizeAdmin: AdminPorts['authorizeAdmin'];
  readonly auditTrail: AuditTrail;
  readonly idempotency: Idempotency;
}

/** RFC 9110 §8.8.3, weak ones too: valid, although none of ours. */
const anyEntityTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const entityTag = /^"(\d{1,15})"$/;
/** A version that no item has. */
const NO_VERSION = -1;

/** RFC 9110 §13.1.1: strong comparison, so a weak tag never matches; `*` matches any existing item. */
function expectedVersion(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  // An empty header is a client whose tag got lost, not one that changes whatever is there.
  if (!anyEntityTag.test(ifMatch.trim())) {
    throw invalid({ 'If-Match': 'Must be one entity tag.' });
  }
  return Number(entityTag.exec(ifMatch.trim())?.[1] ?? NO_VERSION);
}

/** koa-router writes `:id` where OpenAPI writes `{id}`. */
const toPattern = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

const hasBody = (ctx: Koa.Context): boolean =>
  (ctx.request.length ?? 0) > 0 || ctx.get('Transfer-Encoding') !== '';

/**
 * @returns middleware for all paths under the prefix. Authorization comes first (401 before 404, 405, 415 and 400), so that
 *   only administrators learn which addresses and methods exist.
 */
export function createAdminRouter(deps: Deps): Koa.Middleware {
  const { routes, prefix, authorizeAdmin } = deps;
  const router = createRouter({ prefix });
  const perform = createPerform(deps.auditTrail);
  for (const route of routes) {
    router.on(route.method, toPattern(route.path), respond(route, deps, perform));
  }

  return async (ctx, next) => {
    if (!router.isBelow(ctx)) return next();
    ctx.set('Cache-Control', 'no-store');
    ctx.state.actor = await authorizeAdmin(ctx, reading.has(ctx.method) ? 'read' : 'all');
    router.refuseOtherMethods(ctx);
    return router.middleware(ctx, async () => {
      throw new AppError('request.not_found');
    });
  };
}

/** @returns a header's value, empty if it was sent empty */
function sent({ req }: Koa.ParameterizedContext, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join() : value;
}

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD']);

function respond(route: Route, { routes, publicUrl, idempotency }: Deps, perform: Perform): RouteHandler {
  const reading = routes.find(({ method, path }) => method === 'GET' && path === route.path);
  const takeEchoes = createTakeEchoes(route, reading);
  return async (ctx) => {
    const actor: Actor = ctx.state.actor;
    // Before the request is parsed; `perform` checks again.
    requireAccess(route, actor);
    if (route.lines !== undefined) {
      await requireFresh(route, { actor, query: {}, body: {} });
      return answerLines(ctx, route.lines, actor);
    }
    const query = readQueryString(ctx.querystring, route.query);
    const isBodyRead = route.body !== undefined && (route.isBodyOptional !== true || hasBody(ctx));
    const input: RawInput = {
      actor,
      params: ctx.params,
      query,
      body: isBodyRead ? await readJson(ctx, { limitBytes: route.bodyBytes }) : {},
      ifVersion: expectedVersion(sent(ctx, 'if-match')),
    };
    if (route.isUnversioned === true && input.ifVersion !== undefined) throw new AppError('request.changed');
    const act = async (): Promise<Reply> => {
      const body = takeEchoes === undefined ? input.body : await takeEchoes(input);
      return replyOf(route, await perform(route, { ...input, body }), publicUrl);
    };
    const key = sent(ctx, 'idempotency-key');
    if (key === undefined || !isCreating(route)) return send(ctx, await act());
    const address = `${route.method} ${route.path}`;
    // An answer is kept for a day, and gives what is in it to a fresh sign-in alone, as at first.
    await requireFresh(route, input);
    const { isRepeated, ...reply } = await idempotency.once({ key, actor, address, body: input.body }, act);
    if (!isRepeated) return send(ctx, reply);
    ctx.set('Idempotency-Replayed', 'true');
    const isWhole = await isFreshOrProgram(actor);
    return send(ctx, isWhole ? reply : { ...reply, body: withoutFreshMembers(route, reply.body) });
  };
}

/** Of an answer that was kept from a fresh sign-in. */
function withoutFreshMembers(route: Route, body: unknown): unknown {
  const hidden: readonly string[] = actIn<readonly string[]>(FRESH_ANSWERS, nameOf(route)) ?? [];
  if (!isMembers(body) || !isMembers(body.data)) return body;
  const kept = Object.entries(body.data).filter(([name]) => !hidden.includes(name));
  return { ...body, data: Object.fromEntries(kept) };
}

async function answerLines(
  ctx: Koa.ParameterizedContext,
  { run, ...options }: NonNullable<Route['lines']>,
  actor: Actor,
): Promise<void> {
  readQueryString(ctx.querystring, undefined);
  if (ctx.querystring !== '') {
    const names = [...new URLSearchParams(ctx.querystring).keys()];
    throw new AppError('request.invalid', {
      fields: Object.fromEntries(names.map((name) => [name, 'Unknown parameter.'])),
    });
  }
  const { data } = await run({ lines: readLines(ctx, options), actor });
  ctx.body = data.map((result) => `${JSON.stringify(result)}\n`).join('');
  ctx.type = options.types[0] ?? '';
}

function replyOf(route: Route, answer: Answer<unknown> | undefined, publicUrl: string): Reply {
  const { status, hasMail } = route.success;
  if (answer?.data === undefined) return { status };
  const { data, version, id, mail } = answer;
  const envelope = { data, ...(hasMail === true && { mail: mail ?? null }) };
  return {
    status,
    ...(version !== undefined && { etag: `"${version}"` }),
    ...(id !== undefined && { location: `${publicUrl}${route.path}/${encodeURIComponent(id)}` }),
    body: route.isBare === true ? data : envelope,
  };
}

function send(ctx: Koa.ParameterizedContext, { status, etag, location, body }: Reply): void {
  ctx.status = status;
  if (etag !== undefined) ctx.set('ETag', etag);
  if (location !== undefined) ctx.set('Location', location);
  if (body !== undefined) ctx.body = body;
}
