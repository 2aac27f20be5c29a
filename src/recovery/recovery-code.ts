import { setTimeout as delay } from 'node:timers/promises';
import { type Account, parseLoginName } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import { keyFor } from '../rate-limits/index.ts';
import { arePasswordsOff } from '../settings/index.ts';
import type { RecoveryDoors } from './doors.ts';

export interface UseRecoveryCode {
  /**
   * Recovery after every passkey is lost. Uses up the code.
   * @returns the same for unknown names, wrong codes and too many attempts, after the same time
   * @throws AppError request.rate_limited
   */
  useRecoveryCode(
    attempt: { readonly username: string; readonly code: string; readonly boundTo: string },
    ipAddress: string,
    /** Whether the account knows the browser: it isn't kept out by what strangers of its network have tried. */
    isKnown: (account: Account) => boolean,
  ): Promise<Account | undefined>;
}

/** A wrong recovery code and an unknown name are answered after the same time. */
const RECOVERY_MS = 250;

export function createUseRecoveryCode({
  accounts,
  secondFactors,
  limits,
  settings,
}: RecoveryDoors): UseRecoveryCode {
  async function chargeGuess(key: ReturnType<typeof keyFor>) {
    try {
      const { giveBack } = await limits.consume('login_account_ip', key);
      return { giveBack, refusal: undefined };
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'request.rate_limited') throw error;
      return { giveBack: () => undefined, refusal: error };
    }
  }

  const use: UseRecoveryCode['useRecoveryCode'] = async ({ username, code, boundTo }, ipAddress, isKnown) => {
    const key = keyFor(parseLoginName(username)?.key ?? '', ipAddress);
    const guess = await chargeGuess(key);
    const found = await accounts.findByLogin(username);
    const account = found && (await accounts.findUsable(found.id));
    // Users with a usable password sign in with it: a recovery code replaces a lost passkey, never a password.
    const isFor = account && (arePasswordsOff(settings()) || account.passwordHash === undefined);
    if (guess.refusal !== undefined && !(account && isKnown(account))) throw guess.refusal;
    if (account === undefined || !isFor) return undefined;
    const verdict = await secondFactors.verifyAtSignIn(account, { method: 'recovery', boundTo, code });
    if (verdict !== 'ok') return undefined;
    guess.giveBack();
    return accounts.findUsable(account.id);
  };
  return {
    async useRecoveryCode(attempt, ipAddress, isKnown) {
      const [account] = await Promise.all([use(attempt, ipAddress, isKnown), delay(RECOVERY_MS)]);
      return account;
    },
  };
}
