// The cookie by which accounts recognise a browser (decision 0012): one random value per account that signed in
// here, the latest first. It is HttpOnly, signs no one in and replaces no factor.
import type Koa from 'koa';
import { newSecret, secretDigest } from '../src/ids.ts';
import { type CookieScope, createOwnCookie } from './own-cookie.ts';

export interface KnownBrowserCookie {
  /** The values of all accounts; none from a cookie that is not ours. */
  tokens(ctx: Koa.Context): readonly string[];
  set(ctx: Koa.Context, accountId: string, token: string): void;
}

/** Ten of them are 520 bytes. */
const MAX_ACCOUNTS = 10;
const HINT_LENGTH = 8;
const ENTRY_LENGTH = HINT_LENGTH + newSecret().length;
const LIFETIME_MS = 90 * 86_400_000;

/** Identifies the entry to replace, but is too short to identify the account. */
const hintOf = (accountId: string): string =>
  secretDigest(`known browser ${accountId}`).slice(0, HINT_LENGTH);

export function createKnownBrowserCookie(scope: CookieScope): KnownBrowserCookie {
  const cookie = createOwnCookie('known', 'lax', scope);
  const entriesOf = (ctx: Koa.Context): string[] =>
    (cookie.read(ctx) ?? '')
      .split('.')
      .filter((entry) => entry.length === ENTRY_LENGTH)
      .slice(0, MAX_ACCOUNTS);

  return {
    tokens: (ctx) => entriesOf(ctx).map((entry) => entry.slice(HINT_LENGTH)),
    set(ctx, accountId, token) {
      const hint = hintOf(accountId);
      const others = entriesOf(ctx).filter((entry) => !entry.startsWith(hint));
      const entries = [`${hint}${token}`, ...others].slice(0, MAX_ACCOUNTS);
      cookie.write(ctx, entries.join('.'), LIFETIME_MS);
    },
  };
}
