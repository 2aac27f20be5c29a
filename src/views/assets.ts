// Serves the style sheets, scripts and pictures of pages under content-hashed addresses. A request's path is only looked up
// in a list, so no path can leave the folder.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { AppError } from '../errors.ts';

type Encoding = 'br' | 'gzip' | 'identity';

interface Asset {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly digest: string;
  readonly plain: Buffer;
  readonly body: (encoding: Encoding) => Promise<Buffer>;
}

export interface Assets {
  /** @returns the address of a file by its plain name, e.g. `page.js`; throws for an unknown name */
  url(name: string): string;
  /** @returns the text of a file by its address; undefined where there is none */
  text(path: string): string | undefined;
  routes(): Middleware;
}

/** A script from a package, with its licence (MIT), which must accompany every copy. */
export interface Vendored {
  readonly file: URL;
  readonly licence: URL;
}

interface Options {
  readonly directory: URL;
  readonly vendored: Readonly<Record<string, Vendored>>;
  readonly basePath: string;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

// Safe to compress, unlike pages: they contain no secret next to text that the requester chose (BREACH). At the first
// request, asynchronously and once, to keep the start short.
const compressedLazily = (plain: Buffer): Asset['body'] => {
  const bodies = new Map<Encoding, Promise<Buffer>>([['identity', Promise.resolve(plain)]]);
  return (encoding) => {
    const body = bodies.get(encoding) ?? promisify(encoding === 'br' ? brotliCompress : gzip)(plain);
    bodies.set(encoding, body);
    return body;
  };
};

const withLicence = ({ file, licence }: Vendored): Buffer => {
  const text = readFileSync(licence, 'utf8').replaceAll('*/', '* /');
  return Buffer.concat([Buffer.from(`/*!\n${text.trim()}\n*/\n`), readFileSync(file)]);
};

const COMMENTS = /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g;

/** Comments of style sheets are for those who read the source. */
const served = (name: string, file: Buffer): Buffer =>
  name.endsWith('.css') ? Buffer.from(file.toString('utf8').replace(COMMENTS, '')) : file;

const load = (name: string, plain: Buffer, prefix: string): Asset => {
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 12);
  const [, stem, extension] = /^(.+)\.(\w+)$/.exec(name) ?? [];
  const type = extension === undefined ? undefined : types[extension];
  if (stem === undefined || type === undefined) throw new TypeError(`no content type for the asset ${name}`);
  return {
    name,
    path: `${prefix}${stem}.${digest}.${extension}`,
    type,
    digest,
    plain,
    body: compressedLazily(plain),
  };
};

// Asks for one encoding at a time: for a list, the negotiation follows the browser's order, which has gzip first.
const chooseEncoding = (ctx: Context): Encoding => {
  if (ctx.acceptsEncodings('br') === 'br') return 'br';
  return ctx.acceptsEncodings('gzip') === 'gzip' ? 'gzip' : 'identity';
};

/** @param isOwn false: asked for by another version's page, whose address must not keep this version's file */
const answer = async (ctx: Context, asset: Asset, isOwn: boolean): Promise<void> => {
  const encoding = chooseEncoding(ctx);
  ctx.status = 200;
  ctx.set('Cache-Control', isOwn ? 'public, max-age=31536000, immutable' : 'no-store');
  if (isOwn) ctx.set('ETag', `"${asset.digest}-${encoding}"`);
  ctx.set('Vary', 'Accept-Encoding');
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', asset.type);
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.body = await asset.body(encoding);
};

/** The digest of an address, of whichever version: beside this one another may run, whose pages need their look, too (decision 0041). */
const DIGEST = /\.[\w-]{12}(?=\.\w+$)/;

/**
 * @param directory the folder; read once, at the start
 * @param vendored by the name that pages ask for
 * @param basePath the path part of the public address, '' or like `/auth`
 */
export const loadAssets = ({ directory, vendored, basePath }: Options): Assets => {
  const prefix = `${basePath}/assets/`;
  const own = readdirSync(directory).map((name) =>
    load(name, served(name, readFileSync(new URL(name, directory))), prefix),
  );
  const theirs = Object.entries(vendored).map(([name, file]) => load(name, withLicence(file), prefix));
  const assets = [...own, ...theirs];
  const byName = new Map(assets.map((asset) => [asset.name, asset]));
  const byPath = new Map(assets.map((asset) => [asset.path, asset]));
  const byStem = new Map(assets.map((asset) => [asset.path.replace(DIGEST, '.'), asset]));
  return {
    url: (name) => {
      const asset = byName.get(name);
      if (asset === undefined) throw new TypeError(`there is no asset ${name}`);
      return asset.path;
    },
    text: (path) => byPath.get(path)?.plain.toString('utf8'),
    routes: () => async (ctx, next) => {
      if (!ctx.path.startsWith(prefix)) return next();
      const own = byPath.get(ctx.path);
      const asset = own ?? byStem.get(ctx.path.replace(DIGEST, '.'));
      if (asset === undefined) throw new AppError('request.not_found');
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
        ctx.set('Allow', 'GET, HEAD');
        throw new AppError('request.method_not_allowed');
      }
      await answer(ctx, asset, own !== undefined);
    },
  };
};
