// Settings that another process changed are read before the request is answered.
import type Koa from 'koa';

export const refreshSettings =
  (settings: { refresh(): Promise<void> }): Koa.Middleware =>
  async (_ctx, next) => {
    await settings.refresh();
    return next();
  };
