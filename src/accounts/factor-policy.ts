// Whether an account may do without a factor that its owner wants to turn off: not where a second one is demanded
// and none would be left, and not where nothing would be left to sign in with.

import type { AuthMode } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import { hasPasskey, hasSecondFactor } from './security-state.ts';

export interface FactorPolicy {
  readonly mfaMode: 'off' | 'optional' | 'required';
  readonly authMode: AuthMode;
}

/** @param after the account as it would be */
export function mayBeLeftWith(after: Readonly<AccountRecord>, { mfaMode, authMode }: FactorPolicy): boolean {
  // A mailbox is no second factor of those who see everybody's data (interactions/second-factor.ts).
  const isMailEnough = after.role === 'user';
  const isLeft = isMailEnough ? hasSecondFactor(after) : after.totp !== undefined || hasPasskey(after);
  if (mfaMode === 'required' && !isLeft) return false;
  // Codes by mail alone would be asked for, and not taken.
  if (!isMailEnough && after.hasEmailCodes === true && !isLeft) return false;
  // A security key that cannot check its holder is completed with a code there.
  return authMode !== 'passkey_only' || (after.passkeys ?? []).some(({ kind }) => kind === 'passkey');
}
