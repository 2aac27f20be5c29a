// Remembers "Not now" on the passkey offer per user and browser, in a cookie that does not identify the user.
import type Koa from 'koa';
import { secretDigest } from '../src/ids.ts';

export interface PasskeyOfferCookie {
  isDeclined(ctx: Koa.Context, account: { readonly id: string }): boolean;
  decline(ctx: Koa.Context, account: { readonly id: string }): void;
}

const MAX_PEOPLE = 8;
const REMEMBERED_MS = 90 * 86_400_000;

const markOf = (id: string): string => secretDigest(`passkey offer ${id}`).slice(0, 16);

export function createPasskeyOfferCookie({
  isSecure,
  basePath,
}: {
  isSecure: boolean;
  basePath: string;
}): PasskeyOfferCookie {
  const name = isSecure ? '__Host-latchkey_offer' : 'latchkey_offer';
  const read = (ctx: Koa.Context): string[] =>
    (ctx.cookies.get(name, { signed: true }) ?? '').split('.').filter(Boolean);
  return {
    isDeclined: (ctx, { id }) => read(ctx).includes(markOf(id)),
    decline(ctx, { id }) {
      const marks = [markOf(id), ...read(ctx).filter((mark) => mark !== markOf(id))].slice(0, MAX_PEOPLE);
      ctx.cookies.set(name, marks.join('.'), {
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure,
        path: isSecure || basePath === '' ? '/' : basePath,
        maxAge: REMEMBERED_MS,
        signed: true,
        overwrite: true,
      });
    },
  };
}
