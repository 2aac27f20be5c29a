// Serves the pictures of looks (src/branding): an address has the digest of its bytes, so it may be kept for ever.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { createRouter } from './router.ts';

interface Deps {
  readonly read: (
    id: string,
  ) => Promise<{ readonly type: 'png' | 'webp'; readonly bytes: Buffer } | undefined>;
  /** The path of BASE_URL; empty if it has none. */
  readonly basePath: string;
}

export function pictureRoutes({ read, basePath }: Deps): Koa.Middleware {
  const router = createRouter({ prefix: `${basePath}/pictures`, refusesOtherMethods: true });
  router.get('/:name', async (ctx) => {
    const [, id = '', type] = /^([^.]+)\.(png|webp)$/.exec(ctx.params.name ?? '') ?? [];
    const picture = id === '' ? undefined : await read(id);
    if (picture === undefined || picture.type !== type) throw new AppError('request.not_found');
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.type = `image/${type}`;
    ctx.body = picture.bytes;
  });
  return router.middleware;
}
