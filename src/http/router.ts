// The only import of koa-router; all routes of pages and APIs are declared with it. Paths are matched strictly (case
// and slashes count), and requests without a route are passed on.
import { METHODS } from 'node:http';
import type Koa from 'koa';
import Router from 'koa-router';
import { AppError } from '../errors.ts';

/** The context of a request, with the decoded parameters of its path: `:id` in the path is `id` here. */
export type RouteContext = Router.Context;

/** May answer, or call `next` to pass the request on. */
export type RouteHandler = (ctx: RouteContext, next: Koa.Next) => unknown;

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface RouterOptions {
  /** The prefix of every path; without a trailing slash. */
  readonly prefix?: string;
  /** Whether a trailing slash makes a different address. Default true. */
  readonly isStrict?: boolean;
  /** Whether a path that has routes for other methods is answered with 405 instead of passed on. Default false. */
  readonly refusesOtherMethods?: boolean;
}

export interface Routes {
  /** A route for GET answers HEAD as well. */
  on(method: RouteMethod, path: string, handle: RouteHandler): void;
  get(path: string, handle: RouteHandler): void;
  post(path: string, handle: RouteHandler): void;
  /** For every method. */
  all(path: string, handle: RouteHandler): void;
  /** Whether the path is the prefix or below it. */
  isBelow(ctx: Koa.Context): boolean;
  /** @throws AppError request.method_not_allowed, with `Allow`, for a path that has routes for other methods */
  refuseOtherMethods(ctx: Koa.Context): void;
  readonly middleware: Koa.Middleware;
}

export function createRouter(options: RouterOptions = {}): Routes {
  const { prefix = '', isStrict = true, refusesOtherMethods = false } = options;
  const router = new Router({ prefix, sensitive: true, strict: isStrict });
  const dispatch = router.routes();
  // koa-router tries each of its routes in turn, and most requests match none of them.
  const fixed = new Set<string>();
  let isFixed = isStrict;

  const isBelow = ({ path }: Koa.Context): boolean => path === prefix || path.startsWith(`${prefix}/`);

  function register(methods: readonly string[], path: string, handle: RouteHandler): void {
    router.register(path, methods, handle);
    if (/[:*{(]/.test(path)) isFixed = false;
    fixed.add(`${prefix}${path}`);
  }

  function refuseOtherMethods(ctx: Koa.Context): void {
    const { path: matching } = router.match(ctx.path, ctx.method);
    // An address that a route spells out is not one with parameters as well (OpenAPI 3.1.1 §4.8.8.1).
    const spelledOut = matching.filter(({ path }) => path === ctx.path);
    const routes = spelledOut.length > 0 ? spelledOut : matching;
    const methods = new Set(routes.flatMap((route) => route.methods));
    if (methods.size === 0 || methods.has(ctx.method)) return;
    ctx.set('Allow', [...methods].sort().join(', '));
    throw new AppError('request.method_not_allowed');
  }

  function route(ctx: Koa.Context, next: Koa.Next): unknown {
    if (refusesOtherMethods) refuseOtherMethods(ctx);
    return dispatch(ctx, next);
  }

  return {
    on: (method, path, handle) => register([method], path, handle),
    get: (path, handle) => register(['GET'], path, handle),
    post: (path, handle) => register(['POST'], path, handle),
    all: (path, handle) => register(METHODS, path, handle),
    isBelow,
    refuseOtherMethods,
    middleware: (ctx, next) => ((isFixed ? fixed.has(ctx.path) : isBelow(ctx)) ? route(ctx, next) : next()),
  };
}
