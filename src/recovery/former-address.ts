// A new password by the former address of an account, while its change can be stopped or was (decision 0038): its mailbox may be
// the reason for the change, so another factor of before is asked for, where there is one; without any it takes a day, of which
// both addresses are told.
import { type Account, oldWaysOf } from '../accounts/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import type { AccountRecord } from '../store/collections.ts';

/** `code`: of an authenticator app or from paper. `passkey`: it signs in by itself. */
export type FormerFactor = 'code' | 'passkey';

export const FORMER_WAIT_MS = 86_400_000;

/** Those that somebody set up since do not count: they would keep the owner out. */
export function formerFactorOf(account: Readonly<AccountRecord>, now: number): FormerFactor | undefined {
  const old = oldWaysOf(account, now);
  if (old.hasTotp || old.hasRecoveryCodes) return 'code';
  return old.hasPasskey ? 'passkey' : undefined;
}

/** Six digits are of an app, all else is of paper. Counts and locks like a second step. */
export async function isFormerCode(
  account: Account,
  { code, boundTo, now }: { readonly code: string; readonly boundTo: string; readonly now: number },
  secondFactors: Pick<SecondFactors, 'verifyAtSignIn'>,
): Promise<boolean> {
  const old = oldWaysOf(account, now);
  const method = /^\s*(?:\d\s*){6}$/.test(code) ? 'totp' : 'recovery';
  if (code === '' || !(method === 'totp' ? old.hasTotp : old.hasRecoveryCodes)) return false;
  return (await secondFactors.verifyAtSignIn(account, { method, boundTo, code })) === 'ok';
}
