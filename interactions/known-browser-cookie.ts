// Owns the cookie by which accounts know a browser (decisions §8, checklist R091): one random value per account that
// signed in here, the latest first. HttpOnly; it signs nobody in and stands for no factor.
import type Koa from 'koa';
import { newSecret, secretDigest } from '../src/ids.ts';

export interface KnownBrowserCookie {
  /** The values of all accounts; none of a cookie that is not ours. */
  tokens(ctx: Koa.Context): readonly string[];
  set(ctx: Koa.Context, accountId: string, token: string): void;
}

/** Ten of them are 520 bytes. */
const MAX_ACCOUNTS = 10;
const HINT_LENGTH = 8;
const ENTRY_LENGTH = HINT_LENGTH + newSecret().length;
const LIFETIME_MS = 90 * 86_400_000;

/** Tells which entry to replace; too short to tell whose it is. */
const hintOf = (accountId: string): string =>
  secretDigest(`known browser ${accountId}`).slice(0, HINT_LENGTH);

export function createKnownBrowserCookie(deps: {
  readonly isSecure: boolean;
  readonly basePath: string;
}): KnownBrowserCookie {
  const { isSecure, basePath } = deps;
  const name = isSecure ? '__Host-latchkey_known' : 'latchkey_known';

  const entriesOf = (ctx: Koa.Context): string[] =>
    (ctx.cookies.get(name, { signed: true }) ?? '')
      .split('.')
      .filter((entry) => entry.length === ENTRY_LENGTH)
      .slice(0, MAX_ACCOUNTS);

  return {
    tokens: (ctx) => entriesOf(ctx).map((entry) => entry.slice(HINT_LENGTH)),
    set(ctx, accountId, token) {
      const hint = hintOf(accountId);
      const others = entriesOf(ctx).filter((entry) => !entry.startsWith(hint));
      ctx.cookies.set(name, [`${hint}${token}`, ...others].slice(0, MAX_ACCOUNTS).join('.'), {
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure,
        // The __Host- prefix demands the root.
        path: isSecure || basePath === '' ? '/' : basePath,
        maxAge: LIFETIME_MS,
        signed: true,
        overwrite: true,
      });
    },
  };
}
