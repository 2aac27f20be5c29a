// When an authentication is fresh enough for a sensitive action (decision 0011): the classes of authentication, the
// highest class that an account can reach, and whether a session reached it within the last five minutes. Each method
// has its own time, so that a code entered now does not make this morning's password fresh.
import { isBy, WAYS, type WayToSignIn } from '../model/ways-to-sign-in.ts';
import type { MethodTimes } from '../sessions/index.ts';
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
export function classOfMethods(has: (way: WayToSignIn) => boolean): AuthenticationClass {
  const used = WAYS.filter(({ id }) => has(id));
  const seconds = used.filter(({ step }) => step === 'second' || step === 'either');
  const classes = used.flatMap((first): AuthenticationClass[] => {
    if (first.step === 'second') return [];
    // A mailed link and a mailed code both show the same mailbox.
    const behind = seconds.filter(
      ({ id, shows }) => id !== first.id && (shows === undefined || shows !== first.shows),
    );
    return [first.step === 'either' ? 0 : first.class, ...behind.map((second) => second.class)];
  });
  return classes.reduce<AuthenticationClass>((best, one) => (one > best ? one : best), 0);
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
  if (isBy.secondStep(amr)) return false;
  return classOfMethods((method) => methodTimes[method] !== undefined) < 2;
}
