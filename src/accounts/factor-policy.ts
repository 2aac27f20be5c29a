// Whether an account may lose a factor that its owner wants to turn off: not when a second factor is required and
// none would remain, and not when the owner could no longer sign in.

import type { AuthMode } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import { hasPasskey, hasSecondFactor } from './security-state.ts';

export interface FactorPolicy {
  readonly mfaMode: 'off' | 'optional' | 'required';
  readonly authMode: AuthMode;
}

/** @param after the account without the factor */
export function mayBeLeftWith(after: Readonly<AccountRecord>, { mfaMode, authMode }: FactorPolicy): boolean {
  // For roles that can read everyone's data, a mailbox is no second factor (interactions/second-factor.ts).
  const isMailEnough = after.role === 'user';
  const isLeft = isMailEnough ? hasSecondFactor(after) : after.totp !== undefined || hasPasskey(after);
  if (mfaMode === 'required' && !isLeft) return false;
  // Otherwise codes by mail would be the only factor, and not be accepted.
  if (!isMailEnough && after.hasEmailCodes === true && !isLeft) return false;
  // In passkey_only mode, a security key without user verification needs a code as well, so it is not enough.
  return authMode !== 'passkey_only' || (after.passkeys ?? []).some(({ kind }) => kind === 'passkey');
}
