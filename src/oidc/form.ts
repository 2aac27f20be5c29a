// Owns what this folder needs of a form body; the reading itself is src/http/body.ts and is handed in.
import { Readable } from 'node:stream';
import type Koa from 'koa';

export interface Form {
  get(name: string): string | undefined;
  keys(): string[];
}

/** @throws AppError for a body that is no form, is too large, or names a field twice */
export type ReadForm = (ctx: Koa.Context) => Promise<Form>;

/**
 * Gives a body that was read back to the request, for the library to read again: it has no other way in for the few
 * requests whose first reader must look at the form to know whose they are.
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
  // Koa reads method, url, headers and the stream from here and nothing else once a request is under way.
  Object.assign(ctx, { req: request });
  Object.assign(ctx.request, { req: request });
}
