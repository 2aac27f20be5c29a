// Owns the files that pages refer to (style sheets, scripts, pictures): their addresses, which change with their
// content, and answering for them. A request's path is only ever looked up in a list, so no path can leave the folder.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { AppError } from '../errors.ts';

type Encoding = 'br' | 'gzip' | 'identity';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly digest: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
}

export interface Assets {
  /** @returns the address of a file by its plain name, e.g. `page.js`; throws for a name that does not exist */
  url(name: string): string;
  routes(): Middleware;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const load = (directory: URL, name: string, prefix: string): Asset => {
  const body = readFileSync(new URL(name, directory));
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  const [, stem, extension] = /^(.+)\.(\w+)$/.exec(name) ?? [];
  const type = extension === undefined ? undefined : types[extension];
  if (stem === undefined || type === undefined) throw new TypeError(`no content type for the asset ${name}`);
  return {
    path: `${prefix}${stem}.${digest}.${extension}`,
    type,
    digest,
    // Safe to compress, unlike pages: nothing secret lies beside something that the requester chose (BREACH).
    bodies: { br: brotliCompressSync(body), gzip: gzipSync(body, { level: 9 }), identity: body },
  };
};

// One encoding is asked for at a time: given a list, the negotiation follows the browser's order, which has gzip first.
const chooseEncoding = (ctx: Context): Encoding => {
  if (ctx.acceptsEncodings('br') === 'br') return 'br';
  return ctx.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : 'identity';
};

const answer = (ctx: Context, asset: Asset): void => {
  const encoding = chooseEncoding(ctx);
  ctx.status = 200;
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('ETag', `"${asset.digest}-${encoding}"`);
  ctx.set('Vary', 'Accept-Encoding');
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', asset.type);
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.body = asset.bodies[encoding];
};

/**
 * @param directory the folder; read and compressed once, now
 * @param basePath the path part of the public address, '' or like `/auth`
 */
export const loadAssets = ({ directory, basePath }: { directory: URL; basePath: string }): Assets => {
  const prefix = `${basePath}/assets/`;
  const byName = new Map(readdirSync(directory).map((name) => [name, load(directory, name, prefix)]));
  const byPath = new Map([...byName.values()].map((asset) => [asset.path, asset]));
  return {
    url: (name) => {
      const asset = byName.get(name);
      if (asset === undefined) throw new TypeError(`there is no asset ${name}`);
      return asset.path;
    },
    routes: () => async (ctx, next) => {
      if (!ctx.path.startsWith(prefix)) return next();
      const asset = byPath.get(ctx.path);
      if (asset === undefined) throw new AppError('request.not_found');
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
        ctx.set('Allow', 'GET, HEAD');
        throw new AppError('request.method_not_allowed');
      }
      answer(ctx, asset);
    },
  };
};
