// The counting of wrong passwords from browsers that the account does not know, as pure changes of a record
// (decisions §8): so many failures close password sign-in from such browsers for a while. It ends no session and no
// token, and leaves every other way in open. Everything is in the account's own document, so that the count is one
// for every spelling of the name, every process and every restart (checklist R075, R087, R090).
import type { AccountRecord } from '../store/collections.ts';

/** The runtime settings that counting needs. */
export interface LockoutSettings {
  readonly lockout_threshold: number;
  readonly lockout_seconds: number;
}

/** So many since the last complete sign-in close it until the next one, where the account has another way in. */
const MAX_FAILURES = 100;
const NOTICE_MS = 86_400_000;

/** @param now epoch milliseconds */
export const isLocked = (account: Pick<AccountRecord, 'lockedUntil'>, now: number): boolean =>
  account.lockedUntil !== undefined && account.lockedUntil > now;

export const isExhausted = ({ failedLoginAttempts }: Pick<AccountRecord, 'failedLoginAttempts'>): boolean =>
  failedLoginAttempts >= MAX_FAILURES;

/**
 * One more failure. Every lock grants a full threshold of new tries, hence the product; it also takes a changed
 * threshold at once, in both directions. The owner is told of the first lock in a day: `guessNoticeAt` is now then.
 * @param now epoch milliseconds; the record must not be locked then
 */
export function countFailure(record: AccountRecord, settings: LockoutSettings, now: number): AccountRecord {
  const { lockedUntil: _past, ...rest } = record;
  const failedLoginAttempts = record.failedLoginAttempts + 1;
  if (failedLoginAttempts < settings.lockout_threshold * (record.lockCount + 1)) {
    return { ...rest, failedLoginAttempts };
  }
  const { guessNoticeAt } = record;
  const isNoticeDue = guessNoticeAt === undefined || guessNoticeAt <= now - NOTICE_MS;
  return {
    ...rest,
    failedLoginAttempts,
    lockCount: record.lockCount + 1,
    lockedUntil: now + settings.lockout_seconds * 1000,
    guessedAt: now,
    ...(isNoticeDue && { guessNoticeAt: now }),
  };
}

/** After a complete sign-in, a new password, or because an administrator said so. What the owner is shown stays. */
export function clearFailures(record: AccountRecord): AccountRecord {
  const { lockedUntil: _past, ...rest } = record;
  return { ...rest, failedLoginAttempts: 0, lockCount: 0 };
}
