import { type Account, checkNewPassword, isOldAddress } from '../accounts/index.ts';
import { invalid } from '../errors.ts';
import type { RecoveryDoors } from './doors.ts';
import { isFormerCode } from './former-address.ts';
import type { Link, Links } from './links.ts';

export interface UseLinks {
  /**
   * Ends every session; trusted devices, codes and other links become invalid with the earlier security state.
   * @returns the link, or undefined when it is not valid any more
   * @param code where the link asks for one (former-address.ts)
   * @throws AppError request.invalid for an unacceptable password, or a wrong code; the link stays valid
   */
  resetPassword(token: string, password: string, code?: string): Promise<Link | undefined>;
  /** @returns whether the link was valid */
  verifyEmail(token: string): Promise<boolean>;
  /** @returns undefined also when the account cannot be used any more */
  useMagicLink(token: string): Promise<Account | undefined>;
}

export function createUseLinks(doors: RecoveryDoors, links: Links): UseLinks {
  const { accounts, events, settings, baseUrl, clock } = doors;

  async function isRightCode({ accountId, factor }: Link, code: string): Promise<boolean> {
    const account = await accounts.findUsable(accountId);
    if (account === undefined || factor !== 'code') return false;
    const attempt = { code, boundTo: `reset of ${accountId}`, now: clock() };
    return isFormerCode(account, attempt, doors.secondFactors);
  }

  return {
    async resetPassword(token, password, code = '') {
      const known = await links.find(token, 'password_reset');
      if (known === undefined) return undefined;
      const account = (await accounts.findUsable(known.accountId)) ?? { username: '' };
      checkNewPassword(password, account, { settings: settings(), baseUrl });
      if (known.factor !== undefined && !(await isRightCode(known, code)))
        throw invalid({ code: 'Incorrect code.' });
      const link = await links.consume(token, 'password_reset');
      if (link === undefined) return undefined;
      const now = clock();
      const owner = await accounts.find(link.accountId);
      // Where the address is none of before, the password rests on it.
      const isByOldWays = owner !== undefined && isOldAddress(owner, link.email, now);
      await accounts.changeOwnAccount(link.accountId, { password }, { isByOldWays });
      await events.record({ event: 'password.reset', target: { kind: 'user', id: link.accountId } });
      return link;
    },

    async verifyEmail(token) {
      const link = await links.consume(token, 'email_verification');
      if (link === undefined) return false;
      const account = await accounts.find(link.accountId);
      if (account?.email !== link.email) return true;
      await accounts.changeOwnAccount(account.id, { is_email_verified: true }, { version: account.version });
      await events.record({ event: 'email.verified', target: { kind: 'user', id: account.id } });
      return true;
    },

    async useMagicLink(token) {
      const link = await links.consume(token, 'magic_link');
      return link && accounts.findUsable(link.accountId);
    },
  };
}
