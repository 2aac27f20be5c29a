// What a complete sign-in (all factors) changes in the account, in one write: its time, the failure counters reset,
// and this browser known from now on.
import type { Clock } from '../clock.ts';
import { newSecret } from '../ids.ts';
import type { AccountRecord } from '../store/collections.ts';
import { type Collection, VersionConflict } from '../store/port.ts';
import { update } from '../store/update.ts';
import type { Account } from './account.ts';
import { withoutPastChange } from './address-change.ts';
import { type BrowserTokens, findKnownBrowser, forgetBrowsers, rememberBrowser } from './known-browsers.ts';
import { clearFailures } from './lockout.ts';

/**
 * A password without earlier failures is accepted without a write, so the caller must check here that the account is
 * still as it was read: `complete` after the last step, `isUnchanged` before a further one.
 */
export interface CompleteSignIn {
  isUnchanged(account: Account): Promise<boolean>;
  /** @returns the digest by which the account knows the browser; undefined where it doesn't */
  knownBrowser(account: Account, tokens: BrowserTokens): string | undefined;
  /** Whether the account knows the browser. */
  isKnown(account: Account, tokens: BrowserTokens): boolean;
  /**
   * @param tokens of the browser; absent without one (the password grant)
   * @returns the value by which the browser is now known; undefined when the account changed since it was read
   */
  complete(account: Account, tokens?: BrowserTokens): Promise<string | undefined>;
  /** The same after a mailed link, which signs no user in. */
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
      // On the version at hand first, which saves the read that update() starts with.
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

  /** False when a new password or role invalidated this sign-in meanwhile. */
  const isSame = (value: AccountRecord, account: Account): boolean =>
    isOpen(value) &&
    value.authenticatedNotBefore === account.authenticatedNotBefore &&
    value.passwordHash === account.passwordHash;

  return {
    async isUnchanged(account) {
      const stored = await collection.find(account.id);
      return stored !== undefined && isSame(stored.value, account);
    },
    knownBrowser: (account, tokens) => findKnownBrowser(account.id, account, tokens, clock())?.digest,
    isKnown: (account, tokens) => findKnownBrowser(account.id, account, tokens, clock()) !== undefined,
    async complete(account, tokens) {
      const now = clock();
      const token = newSecret();
      const isWritten = await change(
        account.id,
        (value) => {
          if (!isSame(value, account)) return undefined;
          const next = { ...clearFailures(withoutPastChange(value, now)), lastLoginAt: now };
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
