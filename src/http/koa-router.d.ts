// koa-router 14 has no types, and @types/koa-router describes version 7: this declares only what router.ts uses.
declare module 'koa-router' {
  import type Koa from 'koa';

  namespace Router {
    type Context = Koa.Context & { readonly params: Readonly<Record<string, string>> };

    /** A route as in the context's `matched`: matched by its path, for any method. */
    interface Layer {
      /** With the router's prefix. */
      readonly path: string;
      readonly methods: readonly string[];
    }
  }

  class Router {
    constructor(options: { prefix?: string; sensitive?: boolean; strict?: boolean });
    register(
      path: string,
      methods: readonly string[],
      handle: (ctx: Router.Context, next: Koa.Next) => unknown,
    ): Router.Layer;
    match(path: string, method: string): { readonly path: readonly Router.Layer[] };
    routes(): Koa.Middleware;
  }

  export = Router;
}
