// Counts wrong passwords from browsers that the account does not know, as pure changes of its record (decision 0012):
// after a number of failures, password sign-in from such browsers is locked for a while. A lock ends no session and
// no token, and leaves every other way to sign in open. The counter is in the account's own document, so it is the
// same for every spelling of the name, every process and after every restart.
import { isAhead } from '../clock.ts';
import type { AccountRecord } from '../store/collections.ts';
import { MAX_LOCK_MS } from '../store/locked-accounts.ts';

/** The runtime settings of the lock. */
export interface LockoutSettings {
  readonly lockout_threshold: number;
  readonly lockout_seconds: number;
}

/**
 * This many failures since the last complete sign-in lock it until the next one, if the account has another way to
 * sign in.
 */
const MAX_FAILURES = 100;
const NOTICE_MS = 86_400_000;

/** @param now epoch milliseconds */
export const isLocked = (account: Pick<AccountRecord, 'lockedUntil'>, now: number): boolean =>
  account.lockedUntil !== undefined && isAhead(account.lockedUntil, now, MAX_LOCK_MS);

export const isExhausted = ({ failedLoginAttempts }: Pick<AccountRecord, 'failedLoginAttempts'>): boolean =>
  failedLoginAttempts >= MAX_FAILURES;

/**
 * Counts one more failure. Every lock grants a full threshold of new attempts, hence the product; a changed threshold
 * also takes effect at once, in both directions. The owner is notified of the first lock in a day: then
 * `guessNoticeAt` is now.
 * @param now epoch milliseconds; the record must not be locked then
 */
export function countFailure(record: AccountRecord, settings: LockoutSettings, now: number): AccountRecord {
  const { lockedUntil: _past, ...rest } = record;
  const failedLoginAttempts = record.failedLoginAttempts + 1;
  if (failedLoginAttempts < settings.lockout_threshold * (record.lockCount + 1)) {
    return { ...rest, failedLoginAttempts };
  }
  const { guessNoticeAt } = record;
  const isNoticeDue = guessNoticeAt === undefined || !isAhead(guessNoticeAt + NOTICE_MS, now, NOTICE_MS);
  return {
    ...rest,
    failedLoginAttempts,
    lockCount: record.lockCount + 1,
    lockedUntil: now + settings.lockout_seconds * 1000,
    guessedAt: now,
    ...(isNoticeDue && { guessNoticeAt: now }),
  };
}

/** After a complete sign-in, a new password, or an administrator's unlock. What the owner is shown stays. */
export function clearFailures(record: AccountRecord): AccountRecord {
  const { lockedUntil: _past, ...rest } = record;
  return { ...rest, failedLoginAttempts: 0, lockCount: 0 };
}
