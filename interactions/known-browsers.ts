// Which browsers an account knows: the cookie, and what the account keeps of it.
import type Koa from 'koa';
import type { Account } from '../src/accounts/index.ts';
import type { Domains } from '../src/domains.ts';
import { AppError } from '../src/errors.ts';
import { createKnownBrowserCookie } from './known-browser-cookie.ts';

export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;

export function createKnownBrowsers({ signIns, baseUrl, basePath }: Domains) {
  const isSecure = baseUrl.startsWith('https:');
  const cookie = createKnownBrowserCookie({ isSecure, basePath });

  return {
    /** For a password that is typed in this browser. */
    fromBrowser: (ctx: Koa.Context) => ({ tokens: cookie.tokens(ctx) }),
    /** The digest by which the account knows this browser. */
    digestOf: (ctx: Koa.Context, account: Account): string | undefined =>
      signIns.knownBrowser(account, cookie.tokens(ctx)),
    isKnown: (ctx: Koa.Context, account: Account): boolean => signIns.isKnown(account, cookie.tokens(ctx)),
    /**
     * All factors were given in this browser.
     * @throws AppError signin.expired when the account changed since it was read
     */
    async complete(ctx: Koa.Context, account: Account): Promise<void> {
      const token = await signIns.complete(account, cookie.tokens(ctx));
      if (token === undefined) throw new AppError('signin.expired');
      cookie.set(ctx, account.id, token);
    },
    isUnchanged: signIns.isUnchanged,
    /** The button of a mailed link was pressed in this browser, or the password changed in it. */
    async remember(ctx: Koa.Context, accountId: string): Promise<void> {
      const token = await signIns.remember(accountId, cookie.tokens(ctx));
      if (token !== undefined) cookie.set(ctx, accountId, token);
    },
    forgetAll: (accountId: string): Promise<void> => signIns.forget(accountId),
    forgetOthers: (ctx: Koa.Context, accountId: string): Promise<void> =>
      signIns.forget(accountId, cookie.tokens(ctx)),
  };
}
