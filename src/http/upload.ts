// Reads files that are sent: a form with one (RFC 7578), or a body that is the file. Whole in memory, within the limit; the
// name that a file comes with is never read.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { checkBodyHeaders } from './body-headers.ts';
import { createForm, type Form } from './form.ts';

export interface UploadedForm {
  readonly form: Form;
  /** Absent: none was chosen. */
  readonly file: Buffer | undefined;
}

const MULTIPART = 'multipart/form-data';
/** For the fields beside the file, and what is between the parts. */
const FORM_BYTES = 56 * 1024;

async function readAll(ctx: Koa.Context, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The connection stays: the answer is still to be sent.
    for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > limitBytes) break;
      chunks.push(chunk);
    }
  } catch {
    throw new AppError('request.malformed');
  }
  if (length <= limitBytes) return Buffer.concat(chunks);
  // Discards the rest as it arrives; the server's request timeout bounds it.
  ctx.req.resume();
  throw new AppError('request.too_large');
}

/** @throws AppError request.unsupported_media_type, request.too_large, request.malformed */
export async function readFile(
  ctx: Koa.Context,
  options: { readonly types: readonly string[]; readonly limitBytes: number },
): Promise<Buffer> {
  checkBodyHeaders(ctx, options);
  return readAll(ctx, options.limitBytes);
}

/**
 * A form with at most one file, in the field of that name.
 * @throws AppError as readFile; request.malformed also for a second file or a file in another field
 */
export async function readUpload(
  ctx: Koa.Context,
  { name, limitBytes }: { readonly name: string; readonly limitBytes: number },
): Promise<UploadedForm> {
  const most = limitBytes + FORM_BYTES;
  checkBodyHeaders(ctx, { types: [MULTIPART], limitBytes: most });
  const body = await readAll(ctx, most);
  let parts: FormData;
  try {
    parts = await new Response(body, { headers: { 'content-type': ctx.get('Content-Type') } }).formData();
  } catch (cause) {
    throw new AppError('request.malformed', { cause });
  }
  const fields: [string, string][] = [];
  const files: Blob[] = [];
  for (const [field, value] of parts) {
    if (typeof value === 'string') fields.push([field, value]);
    else if (field === name) files.push(value);
    else throw new AppError('request.malformed');
  }
  // By the rules of every form: each name once, nothing but plain text.
  const text = new URLSearchParams(fields).toString();
  const [first, second] = files;
  if (text.length > FORM_BYTES || (first?.size ?? 0) > limitBytes) throw new AppError('request.too_large');
  if (second !== undefined) throw new AppError('request.malformed');
  const file = first && first.size > 0 ? Buffer.from(await first.arrayBuffer()) : undefined;
  return { form: createForm(text), file };
}
