// One digest of everything about an account on which trust rests. Trusted browsers, links, mailed codes and pending
// enrolments carry it. When the password, the address or a factor changes, the digest changes and invalidates them
// all at once, without a separate write that could be forgotten, fail or come too late.
import { secretDigest } from '../ids.ts';
import type { AccountRecord } from '../store/collections.ts';

type Trusted = Readonly<AccountRecord>;

/** @returns the same digest as long as none of these changed */
export const securityState = (accountId: string, account: Trusted): string =>
  secretDigest(
    JSON.stringify([
      accountId,
      account.securityChangedAt,
      // Redundant with the time above: still detects a change whose write forgets that time.
      account.passwordChangedAt,
      account.authenticatedNotBefore,
      account.emailKey,
      account.totp?.enrolledAt,
      account.hasEmailCodes === true,
      // Adds nothing without passkeys, so that digests from before there were passkeys stay valid.
      ...(account.passkeys ?? []).map(({ id }) => id),
    ]),
  );

/**
 * The time to store for such a change. Strictly later than the previous one, so that two changes within a
 * millisecond, or on machines whose clocks differ, never restore an earlier state.
 * @param now epoch milliseconds
 */
export const nextSecurityChange = (account: Trusted, now: number): number =>
  Math.max(now, (account.securityChangedAt ?? 0) + 1);

/** Whether a second factor is set up, even if it is unusable at the moment: no other path may turn this into "no". */
export const hasSecondFactor = (account: Trusted): boolean => hasCodeFactor(account) || hasPasskey(account);

export const hasPasskey = (account: Trusted): boolean => (account.passkeys ?? []).length > 0;

/** Whether a code can be required, which also completes a passkey without user verification. */
export const hasCodeFactor = (account: Trusted): boolean =>
  account.totp !== undefined || account.hasEmailCodes === true;

/**
 * Whether a password alone is not enough for this account, whatever the settings. A passkey with user verification is
 * another way to sign in, not a second step of this one: its owner may still use the password on another device. A
 * security key without user verification can only have been added as a second step.
 */
export const wantsSecondStep = (account: Trusted): boolean =>
  hasCodeFactor(account) || (account.passkeys ?? []).some(({ kind }) => kind === 'security_key');

/**
 * The last step of every change of factors. Recovery codes stay only if there was a factor before and is one after;
 * otherwise they would remain valid for a factor that another person may enrol later.
 */
export function settleFactors(before: AccountRecord, after: AccountRecord, now: number): AccountRecord {
  const { recoveryCodes, ...rest } = after;
  const hasCodes = recoveryCodes !== undefined && hasSecondFactor(before) && hasSecondFactor(after);
  return {
    ...rest,
    ...(hasCodes && { recoveryCodes }),
    securityChangedAt: nextSecurityChange(before, now),
  };
}

/** An administrator's reset: removes all factors and their failure counters; the next sign-in enrols again. */
export function eraseSecondFactors(account: AccountRecord, now: number): AccountRecord {
  const {
    totp: _totp,
    hasEmailCodes: _email,
    passkeys: _passkeys,
    codeFailures: _failures,
    secondFactorFailures: _olderFailures,
    ...rest
  } = account;
  return settleFactors(account, { ...rest, totpVerified: false, mustEnrolSecondFactor: true }, now);
}
