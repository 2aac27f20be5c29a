// Owns reading a body line by line, so that what is held of it is one line at a time: newline-delimited JSON.
import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type Koa from 'koa';
import { AppError } from '../errors.ts';

export interface Line {
  /** 1 is the first; empty lines count. */
  readonly number: number;
  /** Undefined: it is too long, or not UTF-8. */
  readonly text: string | undefined;
}

export interface LineOptions {
  /** The media types that are taken. */
  readonly types: readonly string[];
  readonly maxLineBytes: number;
  readonly maxBytes: number;
}

const NEWLINE = 0x0a;

/** @throws AppError request.unsupported_media_type, request.too_large where the length is declared */
function checkHeaders(ctx: Koa.ParameterizedContext, { types, maxBytes }: LineOptions): void {
  let essence = '';
  let charset = 'utf-8';
  try {
    const type = new MIMEType(ctx.get('Content-Type'));
    essence = type.essence;
    charset = type.params.get('charset')?.toLowerCase() ?? 'utf-8';
  } catch {
    // Missing or unreadable: refused below like any other wrong type.
  }
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (!types.includes(essence) || charset !== 'utf-8' || (encoding !== '' && encoding !== 'identity')) {
    throw new AppError('request.unsupported_media_type', {
      message: `The body must be ${types[0]} in UTF-8, not compressed.`,
    });
  }
  if (Number(ctx.get('Content-Length')) > maxBytes) throw new AppError('request.too_large');
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The same of a text that is here already, such as a field of a form. */
export async function* linesOfText(text: string, { maxLineBytes }: LineOptions): AsyncGenerator<Line> {
  let number = 0;
  for (const line of text.split(/\r?\n/)) {
    number += 1;
    yield { number, text: Buffer.byteLength(line) > maxLineBytes ? undefined : line };
  }
}

/** @throws as checkHeaders, and request.too_large when more comes than was declared */
export async function* readLines(ctx: Koa.ParameterizedContext, options: LineOptions): AsyncGenerator<Line> {
  checkHeaders(ctx, options);
  try {
    yield* split(ctx.req, options);
  } finally {
    // What is still to come is thrown away as it arrives; the server's request timeout bounds it.
    ctx.req.resume();
  }
}

async function* split(request: IncomingMessage, options: LineOptions): AsyncGenerator<Line> {
  const { maxLineBytes, maxBytes } = options;
  let pieces: Buffer[] = [];
  let length = 0;
  let total = 0;
  let number = 0;
  const finish = (): Line => {
    number += 1;
    const text = length > maxLineBytes ? undefined : decode(Buffer.concat(pieces));
    pieces = [];
    length = 0;
    return { number, text };
  };
  const keep = (piece: Buffer): void => {
    length += piece.length;
    // Of a line that is too long nothing more is held.
    if (length <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  };
  // Not destroyed when the reader stops early: the answer still has to go out.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = Buffer.from(chunk);
    total += bytes.length;
    if (total > maxBytes) throw new AppError('request.too_large');
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      keep(bytes.subarray(start, end));
      start = end + 1;
      yield finish();
    }
    keep(bytes.subarray(start));
  }
  if (length > 0) yield finish();
}
