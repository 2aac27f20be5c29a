// Settings and looks that another process changed are read before the request is answered.
import type Koa from 'koa';

interface Refreshed {
  refresh(): Promise<void>;
}

/** @param looks read again where the settings say that they changed */
export const refreshSettings =
  (settings: Refreshed, looks: Refreshed): Koa.Middleware =>
  async (_ctx, next) => {
    await settings.refresh();
    await looks.refresh();
    return next();
  };
