// Owns the counting of wrong passwords, as pure changes of a record (decisions §8): so many failures in a row lock the
// account for a while that doubles each time. Everything is in the account's own document, so that the count is one
// for every spelling of the name, every process and every restart (checklist R075, R087, R090).
import type { AccountRecord } from '../store/collections.ts';

/** The runtime settings that counting needs. */
export interface LockoutSettings {
  readonly lockout_threshold: number;
  readonly lockout_seconds: number;
  readonly lockout_max_seconds: number;
}

/**
 * One more failure. Every lock grants a full threshold of new tries, hence the product; it also takes a changed
 * threshold at once, in both directions.
 * @param now epoch milliseconds; the record must not be locked then
 */
export function countFailure(record: AccountRecord, settings: LockoutSettings, now: number): AccountRecord {
  const { lockedUntil: _over, ...rest } = record;
  const failedLoginAttempts = record.failedLoginAttempts + 1;
  if (failedLoginAttempts < settings.lockout_threshold * (record.lockCount + 1)) {
    return { ...rest, failedLoginAttempts };
  }
  const seconds = Math.min(settings.lockout_seconds * 2 ** record.lockCount, settings.lockout_max_seconds);
  return {
    ...rest,
    failedLoginAttempts,
    lockCount: record.lockCount + 1,
    lockedUntil: now + seconds * 1000,
  };
}

/** Nothing is held against the account any more: after a success, or because an administrator said so. */
export function clearFailures(record: AccountRecord): AccountRecord {
  const { lockedUntil: _over, ...rest } = record;
  return { ...rest, failedLoginAttempts: 0, lockCount: 0 };
}
