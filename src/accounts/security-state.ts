// What is trusted about an account at a moment, as one digest. Trusted browsers, links, mailed codes and pending
// enrolments carry it; when the password, the address or a factor changes, the digest does, and all of them are void
// at once, without a write that could be forgotten, fail or come too late (checklist R063, R100).
import { secretDigest } from '../ids.ts';
import type { AccountRecord } from '../store/collections.ts';

type Trusted = Readonly<AccountRecord>;

/** @returns the same text as long as nothing changed that trust rests on */
export const securityState = (accountId: string, account: Trusted): string =>
  secretDigest(
    JSON.stringify([
      accountId,
      account.securityChangedAt,
      // Redundant with the time above, so that a write that forgets it still shows.
      account.passwordChangedAt,
      account.authenticatedNotBefore,
      account.emailKey,
      account.totp?.enrolledAt,
      account.hasEmailCodes === true,
      // Nothing where there are none, so that what accounts had before there were passkeys still holds.
      ...(account.passkeys ?? []).map(({ id }) => id),
    ]),
  );

/**
 * The time to note for such a change. Strictly after the one before, so that two changes within a millisecond, or on
 * machines whose clocks differ, never lead back to a state that was left.
 * @param now epoch milliseconds
 */
export const nextSecurityChange = (account: Trusted, now: number): number =>
  Math.max(now, (account.securityChangedAt ?? 0) + 1);

/** Whether a second factor is set up, usable at the moment or not: the question that no detour may turn to "no". */
export const hasSecondFactor = (account: Trusted): boolean => hasCodeFactor(account) || hasPasskey(account);

export const hasPasskey = (account: Trusted): boolean => (account.passkeys ?? []).length > 0;

/** Whether a code can be asked for: what else a passkey that did not check its holder can be completed with. */
export const hasCodeFactor = (account: Trusted): boolean =>
  account.totp !== undefined || account.hasEmailCodes === true;

/**
 * Whether a password alone is not enough for this account, whatever the settings. A passkey that checks its holder is
 * another way in, not a second step of this one: who has it on one device still comes in by password on another. A
 * security key that does not can only have been added as a second step.
 */
export const wantsSecondStep = (account: Trusted): boolean =>
  hasCodeFactor(account) || (account.passkeys ?? []).some(({ kind }) => kind === 'security_key');

/**
 * The end of every change of factors. Recovery codes stay only where a factor was before and is after: with none they
 * would lie in wait for the next one, whoever enrols it.
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

/** An administrator's reset: nothing is left of the factors and their failures, and the next sign-in enrols again. */
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
