import { setTimeout as delay } from 'node:timers/promises';
import { type Account, type Accounts, parseLoginName } from '../accounts/index.ts';
import { keyFor, type RateLimits } from '../rate-limits/index.ts';
import type { SecondFactors } from '../second-factors/index.ts';
import { arePasswordsOff, type SettingValues } from '../settings/index.ts';

export interface UseRecoveryCode {
  /**
   * Recovery after every passkey is lost. Uses up the code.
   * @returns the same for unknown names, wrong codes and too many attempts, after the same time
   * @throws AppError request.rate_limited
   */
  useRecoveryCode(
    attempt: { readonly username: string; readonly code: string; readonly boundTo: string },
    ipAddress: string,
  ): Promise<Account | undefined>;
}

interface Deps {
  readonly accounts: Pick<Accounts, 'findUsable' | 'findByLogin'>;
  readonly secondFactors: Pick<SecondFactors, 'verifyAtSignIn'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly settings: () => SettingValues;
}

/** A wrong recovery code and an unknown name are answered after the same time. */
const RECOVERY_MS = 250;

export function createUseRecoveryCode({ accounts, secondFactors, limits, settings }: Deps): UseRecoveryCode {
  const use: UseRecoveryCode['useRecoveryCode'] = async ({ username, code, boundTo }, ipAddress) => {
    const key = keyFor(parseLoginName(username)?.key ?? '', ipAddress);
    const charge = await limits.consume('login_account_ip', key);
    const found = await accounts.findByLogin(username);
    const account = found && (await accounts.findUsable(found.id));
    // Users with a usable password sign in with it: a recovery code replaces a lost passkey, never a password.
    const isFor = account && (arePasswordsOff(settings()) || account.passwordHash === undefined);
    if (account === undefined || !isFor) return undefined;
    const verdict = await secondFactors.verifyAtSignIn(account, { method: 'recovery', boundTo, code });
    if (verdict !== 'ok') return undefined;
    charge.giveBack();
    return accounts.findUsable(account.id);
  };
  return {
    async useRecoveryCode(attempt, ipAddress) {
      const [account] = await Promise.all([use(attempt, ipAddress), delay(RECOVERY_MS)]);
      return account;
    },
  };
}
