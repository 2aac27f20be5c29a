// Owns putting together which browsers an account knows: the cookie, and what the account keeps (create-app.ts builds
// the rest).
import type Koa from 'koa';
import { createKnownBrowserCookie } from '../../interactions/known-browser-cookie.ts';
import type { Account } from '../accounts/account.ts';
import { createCompleteSignIn } from '../accounts/complete-sign-in.ts';
import { findKnownBrowser } from '../accounts/known-browsers.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly baseUrl: string;
}

export function createKnownBrowsers({ store, clock, baseUrl }: Parts) {
  const isSecure = baseUrl.startsWith('https:');
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');
  const cookie = createKnownBrowserCookie({ isSecure, basePath });
  const signIns = createCompleteSignIn({ collection: store.collection(model.accounts), clock });

  return {
    /** For a password that is typed in this browser. */
    fromBrowser: (ctx: Koa.Context) => ({ tokens: cookie.tokens(ctx) }),
    isKnown: (ctx: Koa.Context, account: Account): boolean =>
      findKnownBrowser(account.id, account, cookie.tokens(ctx), clock()) !== undefined,
    /**
     * All factors were given in this browser.
     * @throws AppError signin.expired when the account changed since it was read
     */
    async complete(ctx: Koa.Context, account: Account): Promise<void> {
      const token = await signIns.complete(account, cookie.tokens(ctx));
      if (token === undefined) throw new AppError('signin.expired');
      cookie.set(ctx, account.id, token);
    },
    /** All factors were given where there is no browser. @returns false when the account changed since it was read */
    async completeWithout(account: Account): Promise<boolean> {
      return (await signIns.complete(account)) !== undefined;
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
