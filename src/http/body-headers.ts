// Header checks shared by all body readers.
import { MIMEType } from 'node:util';
import type Koa from 'koa';
import { AppError } from '../errors.ts';

interface Expected {
  /** The accepted media types. */
  readonly types: readonly string[];
  readonly limitBytes: number;
}

/** @throws AppError request.unsupported_media_type, request.too_large where the length is declared */
export function checkBodyHeaders(ctx: Koa.ParameterizedContext, { types, limitBytes }: Expected): void {
  let type: MIMEType | undefined;
  try {
    type = new MIMEType(ctx.get('Content-Type'));
  } catch {
    // Missing or unreadable: refused below like any wrong type.
  }
  const charset = type?.params.get('charset')?.toLowerCase() ?? 'utf-8';
  if (type === undefined || !types.includes(type.essence) || charset !== 'utf-8') {
    throw new AppError('request.unsupported_media_type', {
      message: `The body must be ${types.length > 1 ? types.join(', ') : `${types[0]} in UTF-8`}.`,
    });
  }
  // A compressed body would be small on the wire and huge in memory.
  const encoding = ctx.get('Content-Encoding').trim().toLowerCase();
  if (encoding !== '' && encoding !== 'identity') {
    throw new AppError('request.unsupported_media_type', { message: 'The body must not be compressed.' });
  }
  if (Number(ctx.get('Content-Length')) > limitBytes) throw new AppError('request.too_large');
}
