// Requests and responses of page scripts during a passkey ceremony: a JSON body with the values of a form's hidden fields, and
// a JSON response with the next address or an error code that the script knows.
import type Koa from 'koa';
import { AppError } from '../errors.ts';

export interface JsonBody {
  /** As in a form: strings only. */
  get(name: string): string | undefined;
  /** The authenticator's response; not validated here. */
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

/** A script cannot follow a redirect to a page, so the response names the address. */
export function answerWithRedirect(ctx: Koa.Context): void {
  const redirect = ctx.response.get('Location');
  ctx.remove('Location');
  ctx.status = 200;
  ctx.body = { redirect };
}

/** @param about additional members of an error response */
export async function answerJson(
  ctx: Koa.Context,
  act: () => Promise<void>,
  about: Readonly<Record<string, string>> = {},
): Promise<void> {
  ctx.set('Cache-Control', 'no-store');
  try {
    await act();
  } catch (error) {
    // The boundary logs and answers server errors.
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
