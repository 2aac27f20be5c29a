import { Readable } from 'node:stream';
import type Koa from 'koa';
import { AppError } from '../../errors.ts';

export interface Form {
  get(name: string): string | undefined;
  keys(): string[];
}

/** Implemented by src/http/body.ts. @throws AppError for a body that is not a form, is too large, or repeats a field */
export type ReadForm = (ctx: Koa.Context) => Promise<Form>;

/**
 * Puts a body that was read back into the request, so that the library can read it again. Needed for the few requests whose
 * form must be read to know which handler they belong to.
 */
export function restoreForm(ctx: Koa.Context, form: Form): void {
  const body = Buffer.from(
    new URLSearchParams(form.keys().map((name): [string, string] => [name, form.get(name) ?? ''])).toString(),
  );
  const { method, url, headers, socket } = ctx.req;
  const request = Object.assign(Readable.from([body]), {
    method,
    url,
    socket,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
      'content-length': String(body.length),
    },
  });
  // During a request, Koa reads only method, url, headers and the stream from here.
  Object.assign(ctx, { req: request });
  Object.assign(ctx.request, { req: request });
}

/**
 * A request without a body is an empty form.
 * @throws AppError request.malformed for a body that is not a form, which is 400 at these endpoints (decision 0003)
 */
export async function readOptionalForm(ctx: Koa.Context, readForm: ReadForm): Promise<Form> {
  if (ctx.get('content-type') === '') return { get: () => undefined, keys: () => [] };
  try {
    return await readForm(ctx);
  } catch (error) {
    if (error instanceof AppError && error.code === 'request.unsupported_media_type') {
      throw new AppError('request.malformed', { message: 'The request body must be a form.', cause: error });
    }
    throw error;
  }
}
