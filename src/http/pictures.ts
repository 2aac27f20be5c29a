// Serves the pictures of looks (src/branding): an address has the digest of its bytes, so it may be kept for ever.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { createRouter } from './router.ts';

interface Deps {
  readonly read: (id: string) => Promise<Buffer | undefined>;
  /** The path of BASE_URL; empty if it has none. */
  readonly basePath: string;
}

export function pictureRoutes({ read, basePath }: Deps): Koa.Middleware {
  const router = createRouter({ prefix: `${basePath}/pictures`, refusesOtherMethods: true });
  router.get('/:name', async (ctx) => {
    const { name = '' } = ctx.params;
    const bytes = name.endsWith('.png') ? await read(name.slice(0, -'.png'.length)) : undefined;
    if (bytes === undefined) throw new AppError('request.not_found');
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.type = 'image/png';
    ctx.body = bytes;
  });
  return router.middleware;
}
