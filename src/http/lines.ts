// Reads newline-delimited JSON line by line, without koa-body, which would hold the whole body of a large import in
// memory.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { checkBodyHeaders } from './body-headers.ts';

export interface Line {
  /** 1 is the first; empty lines count. */
  readonly number: number;
  /** Undefined: the line is too long, or not UTF-8. */
  readonly text: string | undefined;
}

export interface LineOptions {
  /** The accepted media types. */
  readonly types: readonly string[];
  readonly maxLineBytes: number;
  readonly maxBytes: number;
}

const NEWLINE = 0x0a;

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The same for a text in memory, such as a form field. */
export async function* linesOfText(text: string, { maxLineBytes }: LineOptions): AsyncGenerator<Line> {
  let number = 0;
  for (const line of text.split(/\r?\n/)) {
    number += 1;
    yield { number, text: Buffer.byteLength(line) > maxLineBytes ? undefined : line };
  }
}

/** @throws as checkBodyHeaders, and request.too_large if the body is longer than declared */
export async function* readLines(ctx: Koa.ParameterizedContext, options: LineOptions): AsyncGenerator<Line> {
  checkBodyHeaders(ctx, { types: options.types, limitBytes: options.maxBytes });
  try {
    yield* split(ctx.req, options);
  } finally {
    // Discards the rest of the body as it arrives; the server's request timeout bounds it.
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
    // Drops the rest of a line that is too long.
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
