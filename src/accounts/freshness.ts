// When an authentication is fresh enough for a sensitive action (decisions §8): the classes of authentication, the
// highest class that an account can reach, and whether a session reached it within the last five minutes. Each method
// has its own time, so that a code entered now does not make this morning's password fresh.
import type { AuthenticationMethod, MethodTimes } from '../sessions/index.ts';
import type { AuthMode } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';

/** 3: two factors; 2: password and mailed code; 1: password (or a mailed link instead); 0: none. */
export type AuthenticationClass = 0 | 1 | 2 | 3;

export interface AuthenticationPolicy {
  readonly mfaMode: 'off' | 'optional' | 'required';
  readonly authMode: AuthMode;
}

export const FRESH_SECONDS = 300;

/**
 * The class of these methods together. A passkey without user verification is something the user has, so it is two
 * factors only together with a password, or with a code from another device or from paper.
 */
export function classOfMethods(has: (method: AuthenticationMethod) => boolean): AuthenticationClass {
  if (has('passkey')) return 3;
  const hasFirst = has('password') || has('email_link');
  const hasKey = has('security_key');
  if ((hasFirst || hasKey) && (has('totp') || has('recovery'))) return 3;
  if (hasFirst && hasKey) return 3;
  // A mailed link and a mailed code both show the same mailbox.
  if ((has('password') || hasKey) && has('email_code')) return 2;
  return hasFirst ? 1 : 0;
}

/**
 * The highest class that the account can reach. Recovery codes do not raise it: they replace a lost factor, and
 * requiring one for each sensitive action would use them all up.
 */
export function classOfAccount(
  account: Readonly<Pick<AccountRecord, 'passkeys' | 'totp' | 'hasEmailCodes' | 'role'>>,
  { mfaMode, authMode }: AuthenticationPolicy,
): 1 | 2 | 3 {
  // With codes switched off, no user can enter one.
  const areCodesAsked = mfaMode !== 'off';
  if ((account.passkeys ?? []).length > 0 && (areCodesAsked || authMode !== 'password')) return 3;
  if (areCodesAsked && account.totp !== undefined) return 3;
  // For roles that can read everyone's data, a mailbox is no second factor.
  return areCodesAsked && account.hasEmailCodes === true && account.role === 'user' ? 2 : 1;
}

/** @param now epoch milliseconds */
export function isFresh(
  account: Parameters<typeof classOfAccount>[0],
  policy: AuthenticationPolicy,
  times: MethodTimes,
  now: number,
): boolean {
  const since = now / 1000 - FRESH_SECONDS;
  const shown = classOfMethods((method) => (times[method] ?? Number.NEGATIVE_INFINITY) >= since);
  return shown >= classOfAccount(account, policy);
}

/**
 * Whether a session lacks the second factor that is required of every user, as a session from before that requirement
 * does. A trusted device that replaced it once counts. A session of an earlier version has no times, only its `amr`.
 */
export function owesSecondStep(
  mfaMode: AuthenticationPolicy['mfaMode'],
  { methodTimes, amr }: { readonly methodTimes: MethodTimes; readonly amr: readonly string[] },
): boolean {
  if (mfaMode !== 'required' || methodTimes.trusted_device !== undefined) return false;
  if (amr.includes('mfa') || amr.includes('otp')) return false;
  return classOfMethods((method) => methodTimes[method] !== undefined) < 2;
}
