// What a complete sign-in (all factors) leaves in the account, in one write: when it was, that guesses before it no
// longer count, and that this browser is known from now on.
import type { Clock } from '../clock.ts';
import { newSecret } from '../ids.ts';
import type { AccountRecord } from '../store/collections.ts';
import { type Collection, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Account } from './account.ts';
import { type BrowserTokens, forgetBrowsers, rememberBrowser } from './known-browsers.ts';
import { clearFailures } from './lockout.ts';

/**
 * A password is accepted without a write where nothing was held against it. So whoever goes on with it asks here whether
 * the account is still as it was read: `complete` where it was the last step, `isUnchanged` where another one follows.
 */
export interface CompleteSignIn {
  isUnchanged(account: Account): Promise<boolean>;
  /**
   * @param tokens of the browser; absent where there is none (the password grant)
   * @returns the value that the browser is known by now; undefined when the account changed since it was read
   */
  complete(account: Account, tokens?: BrowserTokens): Promise<string | undefined>;
  /** The same for a mailed link: nobody is signed in by it. */
  remember(accountId: string, tokens: BrowserTokens): Promise<string | undefined>;
  /** All browsers, or all but this one. */
  forget(accountId: string, except?: BrowserTokens): Promise<void>;
}

export function createCompleteSignIn(deps: {
  collection: Collection<AccountRecord>;
  clock: Clock;
}): CompleteSignIn {
  const { collection, clock } = deps;
  const isOpen = (value: AccountRecord): boolean => value.isActive && value.deletingAt === undefined;

  async function change(
    id: string,
    next: (value: AccountRecord) => AccountRecord | undefined,
    read?: Account & { readonly provenAt?: number },
  ): Promise<boolean> {
    if (read !== undefined) {
      // On the version at hand first, which saves the read that update() begins with.
      const { id: _id, version, provenAt: _provenAt, ...value } = read;
      const first = next(value);
      if (first === undefined) return false;
      try {
        await collection.replace(id, version, first);
        return true;
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
    const last = { isWritten: false };
    const stored = await update(collection, id, (value) => {
      const again = next(value);
      last.isWritten = again !== undefined;
      return again && { value: again };
    });
    return stored !== undefined && last.isWritten;
  }

  /** A new password or role ended this sign-in meanwhile. */
  const isSame = (value: AccountRecord, account: Account): boolean =>
    isOpen(value) &&
    value.authenticatedNotBefore === account.authenticatedNotBefore &&
    value.passwordHash === account.passwordHash;

  return {
    async isUnchanged(account) {
      const stored = await collection.find(account.id);
      return stored !== undefined && isSame(stored.value, account);
    },
    async complete(account, tokens) {
      const now = clock();
      const token = newSecret();
      const isWritten = await change(
        account.id,
        (value) => {
          if (!isSame(value, account)) return undefined;
          const next = { ...clearFailures(value), lastLoginAt: now };
          return tokens ? rememberBrowser(account.id, next, { before: tokens, token }, now) : next;
        },
        account,
      );
      return isWritten ? token : undefined;
    },
    async remember(accountId, tokens) {
      const token = newSecret();
      const isWritten = await change(accountId, (value) =>
        isOpen(value) ? rememberBrowser(accountId, value, { before: tokens, token }, clock()) : undefined,
      );
      return isWritten ? token : undefined;
    },
    async forget(accountId, except) {
      await change(accountId, (value) =>
        value.knownBrowsers === undefined ? undefined : forgetBrowsers(accountId, value, except),
      );
    },
  };
}
