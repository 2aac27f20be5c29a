// Owns how the scripts of pages talk with us during a passkey ceremony: a JSON body that carries what a form's hidden
// fields do, and answers that say where to go or, in a word the script knows, why not.
import type Koa from 'koa';
import { AppError } from '../errors.ts';

export interface JsonBody {
  /** As of a form: texts alone. */
  get(name: string): string | undefined;
  /** What the browser's authenticator answered; not looked at here. */
  readonly response: unknown;
}

/** @throws AppError request.malformed */
export function jsonBody(value: unknown): JsonBody {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('request.malformed');
  const members = new Map<string, unknown>(Object.entries(value));
  return {
    get(name) {
      const member = members.get(name);
      return typeof member === 'string' ? member : undefined;
    },
    response: members.get('response'),
  };
}

/** A script cannot follow a redirect to where a person goes, so it is told. */
export function leadOn(ctx: Koa.Context): void {
  const redirect = ctx.response.get('Location');
  ctx.remove('Location');
  ctx.status = 200;
  ctx.body = { redirect };
}

/** @param about what else the script is told with a refusal */
export async function answerJson(
  ctx: Koa.Context,
  act: () => Promise<void>,
  about: Readonly<Record<string, string>> = {},
): Promise<void> {
  ctx.set('Cache-Control', 'no-store');
  try {
    await act();
  } catch (error) {
    // What is wrong with us is for the boundary to note and answer.
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    ctx.status = error.status;
    if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds));
    ctx.body = {
      error: error.status === 400 ? 'invalid_request' : 'access_denied',
      error_description: error.message,
      reason: error.code,
      ...about,
    };
  }
}
