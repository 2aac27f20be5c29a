// Reads form and JSON bodies. koa-body only reads the bytes, within the limit. They are parsed
// here, because its own parsers repair what must be refused: invalid UTF-8 becomes U+FFFD, a repeated field becomes a
// list, and one with brackets in its name an object.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { parseJson } from '../json.ts';
import { checkBodyHeaders } from './body-headers.ts';
import { createForm, type Form } from './form.ts';

export type { Form } from './form.ts';

export interface BodyOptions {
  /** Bytes on the wire; more is refused before it is read where the length is declared. */
  readonly limitBytes?: number | undefined;
}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const FORM_LIMIT_BYTES = 56 * 1024;
const JSON_LIMIT_BYTES = 100_000;

const readers = new Map<number, Promise<Koa.Middleware>>();

/** Loaded with the first body: the module takes longer to load than the rest of the server together. */
async function createBodyReader(limitBytes: number): Promise<Koa.Middleware> {
  const { koaBody, HttpMethodEnum } = await import('koa-body');
  return koaBody({
    text: true,
    textTypes: [FORM, JSON_TYPE],
    textLimit: limitBytes,
    // One byte per character: the text only carries bytes, which are decoded strictly below.
    encoding: 'latin1',
    json: false,
    urlencoded: false,
    multipart: false,
    parsedMethods: Object.values(HttpMethodEnum),
  });
}

function bodyReader(limitBytes: number): Promise<Koa.Middleware> {
  const existing = readers.get(limitBytes);
  if (existing !== undefined) return existing;
  const created = createBodyReader(limitBytes);
  readers.set(limitBytes, created);
  return created;
}

function refusalOf(error: unknown): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new AppError('request.too_large');
  if (type === 'request.size.invalid' || type === 'request.aborted') return new AppError('request.malformed');
  return error;
}

async function readText(ctx: Koa.Context, limitBytes: number): Promise<string> {
  const read = await bodyReader(limitBytes);
  try {
    await read(ctx, () => Promise.resolve());
  } catch (error) {
    // Discards the rest of the body as it arrives; the server's request timeout bounds it.
    ctx.req.resume();
    throw refusalOf(error);
  }
  const carrier: unknown = ctx.request.body;
  delete ctx.request.body;
  if (typeof carrier !== 'string') return '';
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(carrier, 'latin1'));
  } catch {
    throw new AppError('request.malformed', { message: 'The body is not valid UTF-8.' });
  }
}

/**
 * @throws AppError request.unsupported_media_type, request.too_large (over `limitBytes`, default 56 kB), or
 * request.malformed (not UTF-8, a name given twice, a NUL character)
 */
export async function readForm(ctx: Koa.Context, options: BodyOptions = {}): Promise<Form> {
  const limitBytes = options.limitBytes ?? FORM_LIMIT_BYTES;
  checkBodyHeaders(ctx, { types: [FORM], limitBytes });
  return createForm(await readText(ctx, limitBytes));
}

/**
 * @throws AppError request.unsupported_media_type, request.too_large (over `limitBytes`, default 100 kB), or
 * request.malformed (not UTF-8, not JSON, deeper than 32 levels, a key that reaches for prototypes)
 */
export async function readJson(ctx: Koa.Context, options: BodyOptions = {}): Promise<unknown> {
  const limitBytes = options.limitBytes ?? JSON_LIMIT_BYTES;
  checkBodyHeaders(ctx, { types: [JSON_TYPE], limitBytes });
  return parseJson(await readText(ctx, limitBytes));
}
