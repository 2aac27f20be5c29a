// koa-router 14 ships no types, and those of others describe version 7: what router.ts uses of it, and no more.
declare module 'koa-router' {
  import type Koa from 'koa';

  namespace Router {
    type Context = Koa.Context & { readonly params: Readonly<Record<string, string>> };

    /** One route, as it is found in the context under `matched` by its path, whatever its methods. */
    interface Layer {
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
