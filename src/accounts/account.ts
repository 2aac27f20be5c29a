// The account as other domains see it, and the predicates that need nothing but one record.
import type { AccountRecord } from '../store/collections.ts';
import type { FieldFilter, Stored } from '../store/port.ts';

/** The stored document with its id and version; a copy, never the store's own object (C2). */
export type Account = { readonly id: string; readonly version: number } & Readonly<AccountRecord>;

export const toAccount = ({ id, version, value }: Stored<AccountRecord>): Account => ({
  ...value,
  id,
  version,
});

/** Counts an administrator even while locked: a lock expires, and one active administrator must always remain. */
export const isActiveAdmin = (account: AccountRecord): boolean =>
  account.role === 'admin' && isUsable(account) && !isLeaving(account);

/** The same condition as a store query, but for those who are leaving: they are found by their index. */
export const activeAdminFilters: readonly FieldFilter[] = [
  { field: 'role', op: 'eq', value: 'admin' },
  { field: 'is_active', op: 'eq', value: true },
  { field: 'is_deleting', op: 'eq', value: false },
];

/**
 * Whether an authentication at that time still counts.
 * @param at epoch seconds, as the protocol stores it; the second of the change itself counts as after the change
 */
export const isAuthenticationCurrent = (
  account: Pick<AccountRecord, 'authenticatedNotBefore'>,
  at: number,
): boolean =>
  account.authenticatedNotBefore === undefined || at >= Math.floor(account.authenticatedNotBefore / 1000);

/**
 * Whether a password verified at that time still counts. Milliseconds, because a sign-in in progress is not yet a
 * session that the change could have ended.
 * @param provenAt epoch milliseconds
 */
export const isSignInCurrent = (
  { authenticatedNotBefore = 0, proofsNotBefore = 0 }: AuthenticationBounds,
  provenAt: number,
): boolean => provenAt > Math.max(authenticatedNotBefore, proofsNotBefore);

type AuthenticationBounds = Pick<AccountRecord, 'authenticatedNotBefore' | 'proofsNotBefore'>;

/**
 * Whether it may sign in (decision 0003): a deactivated or deleted account may not. A lock caused by wrong passwords does not
 * count, or anyone could sign others out.
 */
export const isUsable = (account: AccountRecord): boolean =>
  account.isActive && account.deletingAt === undefined;

/**
 * Whether its owner asked for its deletion: it may sign in to undo that, but none of its sessions and tokens counts
 * (src/oidc/entitlements/account-directory.ts).
 */
export const isLeaving = (account: Readonly<AccountRecord>): boolean => account.deletion !== undefined;
