import { Readable } from 'node:stream';
import type Koa from 'koa';

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
    headers: { ...headers, 'content-length': String(body.length) },
  });
  // During a request, Koa reads only method, url, headers and the stream from here.
  Object.assign(ctx, { req: request });
  Object.assign(ctx.request, { req: request });
}
