// How strong the authentications of an account can be, and whether one still counts, under the settings of now.
import type { Clock } from '../clock.ts';
import type { MethodTimes } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import { type Account, isAuthenticationCurrent, isSignInCurrent } from './account.ts';
import { classOfAccount, isFresh } from './freshness.ts';

/** 3: two factors; 2: a password and a mailed code; 1: one factor. */
type ReachableClass = ReturnType<typeof classOfAccount>;

export interface Assurance {
  /** The classes that a sign-in of this account can reach with the factors it has, strongest first. */
  reachable(account: Account): readonly ReachableClass[];
  /** Whether this authentication is fresh enough for a sensitive act. */
  isFresh(account: Account, times: MethodTimes): boolean;
  /** Whether an authentication at that time (epoch seconds) still counts. */
  isAuthenticationCurrent(account: Account, at: number): boolean;
  /** The same for a sign-in in progress, by the time of its first authentication (epoch milliseconds). */
  isSignInCurrent(account: Account, provenAt: number): boolean;
}

interface Deps {
  readonly settings: () => Pick<SettingValues, 'mfa_mode' | 'auth_mode'>;
  readonly clock: Clock;
}

export function createAssurance({ settings, clock }: Deps): Assurance {
  const policy = () => ({ mfaMode: settings().mfa_mode, authMode: settings().auth_mode });
  return {
    reachable(account) {
      const { passkeys: _passkeys, totp: _totp, ...byMail } = account;
      return [
        ...(classOfAccount(account, policy()) === 3 ? [3 as const] : []),
        ...(classOfAccount(byMail, policy()) === 2 ? [2 as const] : []),
        1,
      ];
    },
    isFresh: (account, times) => isFresh(account, policy(), times, clock()),
    isAuthenticationCurrent,
    isSignInCurrent,
  };
}
