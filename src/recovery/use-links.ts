import { type Account, type Accounts, checkNewPassword } from '../accounts/index.ts';
import type { Events } from '../events/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { Link, Links } from './links.ts';

export interface UseLinks {
  /**
   * Ends every session; trusted devices, codes and other links become invalid with the earlier security state.
   * @returns the link, or undefined when it is not valid any more
   * @throws AppError request.invalid for an unacceptable password; the link stays valid
   */
  resetPassword(token: string, password: string): Promise<Link | undefined>;
  /** @returns whether the link was valid */
  verifyEmail(token: string): Promise<boolean>;
  /** @returns undefined also when the account cannot be used any more */
  useMagicLink(token: string): Promise<Account | undefined>;
}

interface Deps {
  readonly accounts: Pick<Accounts, 'find' | 'findUsable' | 'changeOwnAccount'>;
  readonly links: Pick<Links, 'find' | 'consume'>;
  readonly events: Pick<Events, 'record'>;
  readonly settings: () => SettingValues;
  readonly baseUrl: string;
}

export function createUseLinks({ accounts, links, events, settings, baseUrl }: Deps): UseLinks {
  return {
    async resetPassword(token, password) {
      const known = await links.find(token, 'password_reset');
      if (known === undefined) return undefined;
      const account = (await accounts.findUsable(known.accountId)) ?? { username: '' };
      checkNewPassword(password, account, { settings: settings(), baseUrl });
      const link = await links.consume(token, 'password_reset');
      if (link === undefined) return undefined;
      await accounts.changeOwnAccount(link.accountId, { password });
      await events.record({ event: 'password.reset', target: { kind: 'user', id: link.accountId } });
      return link;
    },

    async verifyEmail(token) {
      const link = await links.consume(token, 'email_verification');
      if (link === undefined) return false;
      const account = await accounts.find(link.accountId);
      if (account?.email !== link.email) return true;
      await accounts.changeOwnAccount(account.id, { isEmailVerified: true }, { version: account.version });
      await events.record({ event: 'email.verified', target: { kind: 'user', id: account.id } });
      return true;
    },

    async useMagicLink(token) {
      const link = await links.consume(token, 'magic_link');
      return link && accounts.findUsable(link.accountId);
    },
  };
}
