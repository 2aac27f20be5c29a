// What "fresh" means for a sensitive act (decisions §8): which classes of authentication there are, which is the
// highest that an account can show, and whether a session has shown it within the last five minutes. Each method has its
// own time, so that a code of now makes no password of this morning fresh.
import type { AuthMode } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';

/**
 * `passkey` has verified its user; `security_key` has not. `email_link` is a sign-in by mailed link. An invitation or an
 * enrolment link is none of these: it authenticates nobody by itself.
 */
export const PROOF_METHODS = [
  'password',
  'email_link',
  'totp',
  'recovery',
  'email_code',
  'passkey',
  'security_key',
] as const;

export type ProofMethod = (typeof PROOF_METHODS)[number];

/**
 * When each method was last authenticated, in epoch seconds. `trusted_device`: when one stood for the second factor; it
 * proves nothing by itself.
 */
export type MethodTimes = { readonly [Method in ProofMethod | 'trusted_device']?: number };

const TIMED = [...PROOF_METHODS, 'trusted_device'] as const;

/** 3: two factors; 2: password and mailed code; 1: password (or a mailed link in its place); 0: nothing. */
export type ProofClass = 0 | 1 | 2 | 3;

export interface ProofPolicy {
  readonly mfaMode: 'off' | 'optional' | 'required';
  readonly authMode: AuthMode;
}

const FRESH_SECONDS = 300;

/**
 * What those methods are worth together. A passkey that did not verify its user is something held, so it counts as two
 * factors together with what is known (a password) or with a code that another device or paper holds; never alone.
 */
function classOfMethods(has: (method: ProofMethod) => boolean): ProofClass {
  if (has('passkey')) return 3;
  const hasFirst = has('password') || has('email_link');
  const hasKey = has('security_key');
  if ((hasFirst || hasKey) && (has('totp') || has('recovery'))) return 3;
  if (hasFirst && hasKey) return 3;
  // A mailed link and a mailed code are the same mailbox twice.
  if ((has('password') || hasKey) && has('email_code')) return 2;
  return hasFirst ? 1 : 0;
}

/**
 * The highest class that the account can show. Recovery codes do not raise it: they stand in for a factor that is lost,
 * and an act that used one up each time would use all of them up.
 */
export function classOfAccount(
  account: Readonly<Pick<AccountRecord, 'passkeys' | 'totp' | 'hasEmailCodes' | 'role'>>,
  { mfaMode, authMode }: ProofPolicy,
): 1 | 2 | 3 {
  // Where no codes are asked for nobody can show one.
  const areCodesAsked = mfaMode !== 'off';
  if ((account.passkeys ?? []).length > 0 && (areCodesAsked || authMode !== 'password')) return 3;
  if (areCodesAsked && account.totp !== undefined) return 3;
  // A mailbox is no second factor of those who see everybody's data.
  return areCodesAsked && account.hasEmailCodes === true && account.role === 'user' ? 2 : 1;
}

/** @param now epoch milliseconds */
export function isFresh(
  account: Parameters<typeof classOfAccount>[0],
  policy: ProofPolicy,
  times: MethodTimes,
  now: number,
): boolean {
  const since = now / 1000 - FRESH_SECONDS;
  const shown = classOfMethods((method) => (times[method] ?? Number.NEGATIVE_INFINITY) >= since);
  return shown >= classOfAccount(account, policy);
}

/**
 * Whether a session lacks the second step that everybody owes where it is required, as one of before does. A trusted device
 * stood for it once, and is not asked about again. A session of an earlier version has no times, but its `amr`.
 */
export function owesSecondStep(
  mfaMode: ProofPolicy['mfaMode'],
  { methodTimes, amr }: { readonly methodTimes: MethodTimes; readonly amr: readonly string[] },
): boolean {
  if (mfaMode !== 'required' || methodTimes.trusted_device !== undefined) return false;
  if (amr.includes('mfa') || amr.includes('otp')) return false;
  return classOfMethods((method) => methodTimes[method] !== undefined) < 2;
}

/** What is stored, as far as it is what it should be. A session of the previous version has no times: it is never fresh. */
export function readMethodTimes(stored: unknown): MethodTimes {
  if (typeof stored !== 'object' || stored === null) return {};
  const times: { -readonly [Method in keyof MethodTimes]: MethodTimes[Method] } = {};
  for (const method of TIMED) {
    const at: unknown = Reflect.get(stored, method);
    if (typeof at === 'number') times[method] = at;
  }
  return times;
}

/** The later time of each. */
export function mergeMethodTimes(one: MethodTimes, other: MethodTimes): MethodTimes {
  const times: { -readonly [Method in keyof MethodTimes]: MethodTimes[Method] } = { ...one };
  for (const method of TIMED) {
    const at = other[method];
    if (at !== undefined) times[method] = Math.max(at, times[method] ?? at);
  }
  return times;
}

/** Only what was authenticated at that time or before it. */
export function methodTimesUntil(times: MethodTimes, until: number): MethodTimes {
  return Object.fromEntries(Object.entries(times).filter(([, at]) => at <= until));
}

/** When the latest of them was; undefined: never. */
export function newestOf({ trusted_device: _, ...times }: MethodTimes): number | undefined {
  const all = Object.values(times);
  return all.length === 0 ? undefined : Math.max(...all);
}

/** @param at epoch milliseconds */
export const stampMethods = (methods: readonly ProofMethod[], at: number): MethodTimes =>
  Object.fromEntries(methods.map((method) => [method, Math.floor(at / 1000)]));
