// Owns what a pushed authorization request (RFC 9126 §2.1) must be before the library reads it: a form as all others here,
// and claims that are not nested without end. In an address there is no room for that; in a body there is, and the library
// copies the claims by recursion.
import type Koa from 'koa';
import { AppError } from '../errors.ts';
import { type ReadForm, restoreForm } from './form.ts';

// As for JSON bodies (src/http/json.ts). OIDC Core §5.5 needs four.
const MAX_DEPTH = 32;

/** Brackets in strings count, too: no honest claim has so many of them. */
function isDeep(json: string): boolean {
  let depth = 0;
  for (const [bracket] of json.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

export function checkPushedRequest({ readForm }: { readForm: ReadForm }): Koa.Middleware {
  return async (ctx, next) => {
    const form = await readForm(ctx);
    if (isDeep(form.get('claims') ?? '')) {
      throw new AppError('request.malformed', { message: 'The claims are nested too deep.' });
    }
    restoreForm(ctx, form);
    return next();
  };
}
