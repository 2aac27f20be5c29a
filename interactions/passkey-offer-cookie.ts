// Remembers "Not now" on the passkey offer per user and browser, in a cookie that does not identify the user.
import type Koa from 'koa';
import { secretDigest } from '../src/ids.ts';
import { type CookieScope, createOwnCookie } from './own-cookie.ts';

export interface PasskeyOfferCookie {
  isDeclined(ctx: Koa.Context, account: { readonly id: string }): boolean;
  decline(ctx: Koa.Context, account: { readonly id: string }): void;
}

const MAX_PEOPLE = 8;
const REMEMBERED_MS = 90 * 86_400_000;

const markOf = (id: string): string => secretDigest(`passkey offer ${id}`).slice(0, 16);

export function createPasskeyOfferCookie(scope: CookieScope): PasskeyOfferCookie {
  const cookie = createOwnCookie('offer', 'lax', scope);
  const read = (ctx: Koa.Context): string[] => (cookie.read(ctx) ?? '').split('.').filter(Boolean);
  return {
    isDeclined: (ctx, { id }) => read(ctx).includes(markOf(id)),
    decline(ctx, { id }) {
      const marks = [markOf(id), ...read(ctx).filter((mark) => mark !== markOf(id))].slice(0, MAX_PEOPLE);
      cookie.write(ctx, marks.join('.'), REMEMBERED_MS);
    },
  };
}
