// Owns the rules of the mode in which passkeys alone sign in: a password is worth nothing on any path, and an administrator
// who can come in stays. The check looks before it writes and no further: two who take the last such administrators away at
// the same moment are still let back in by ADMIN_TOKEN, with which the mode can be changed.
import { type Account, activeAdminFilters } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { hasPasskey } from '../accounts/security-state.ts';
import { AppError } from '../errors.ts';
import type { AuthMode } from '../settings/auth-mode.ts';
import type { Settings } from '../settings/settings.ts';
import type { FieldFilter } from '../store/port.ts';

interface Deps {
  readonly accounts: () => Pick<Accounts, 'find' | 'query'>;
  readonly mode: () => AuthMode;
  /** Takes the passkeys out of the store that an account no longer names. */
  readonly sweep: (accountId: string) => Promise<void>;
}

const withPasskey: FieldFilter = { field: 'passkey_count', op: 'gte', value: 1 };

export function createModeGuards({ accounts, mode, sweep }: Deps) {
  /** Whether, without this one, an administrator who can come in by passkey stays. */
  async function hasOtherPasskeyAdmin(accountId?: string): Promise<boolean> {
    const { items } = await accounts().query({
      filters: [...activeAdminFilters, withPasskey],
      sort: 'id',
      order: 'asc',
      limit: 2,
    });
    return items.some(({ id }) => id !== accountId);
  }

  /** @throws AppError passkey.last_admin */
  async function keepAdmin(accountId: string): Promise<void> {
    if (mode() !== 'passkey_only') return;
    const account = await accounts().find(accountId);
    const isOne = account?.role === 'admin' && account.isActive && hasPasskey(account);
    if (isOne && !(await hasOtherPasskeyAdmin(accountId))) throw new AppError('passkey.last_admin');
  }

  return {
    /** Before one passkey goes. @throws AppError passkey.last_admin */
    async keepOtherPasskey(account: Account, id: string): Promise<void> {
      const isOnly = account.passkeys?.every((passkey) => passkey.id === id) === true;
      if (isOnly) await keepAdmin(account.id);
    },

    /** On the page and in the password grant alike. */
    guardPasswords:
      <A, More extends unknown[]>(
        authenticate: (...given: [string, string, ...More]) => Promise<A | undefined>,
      ) =>
      async (...given: [string, string, ...More]): Promise<A | undefined> =>
        mode() === 'passkey_only' ? undefined : authenticate(...given),

    /** The accounts as administrators change them. */
    guardAccounts(guarded: Accounts): Accounts {
      return {
        ...guarded,
        async update(id, changes, options) {
          const isDemoted = changes.role !== undefined && changes.role !== 'admin';
          const isLoss = changes.totpVerified === false || changes.isActive === false || isDemoted;
          if (isLoss) await keepAdmin(id);
          const account = await guarded.update(id, changes, options);
          if (changes.totpVerified === false) await sweep(id);
          return account;
        },
        async setActive(id, isActive) {
          if (!isActive) await keepAdmin(id);
          return guarded.setActive(id, isActive);
        },
        async remove(id) {
          await keepAdmin(id);
          await guarded.remove(id);
        },
      };
    },

    /** Nobody turns passwords off before an administrator can come in without one. */
    guardSettings<S extends Pick<Settings, 'patch' | 'replaceAll' | 'preview'>>(guarded: S): S {
      const check = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
        if (values.auth_mode !== 'passkey_only' || mode() === 'passkey_only') return;
        if (await hasOtherPasskeyAdmin()) return;
        const problem = 'An active administrator must have a passkey first.';
        throw new AppError('request.invalid', { message: problem, fields: { auth_mode: problem } });
      };
      return {
        ...guarded,
        async patch(values, actor, options) {
          await check(values);
          return guarded.patch(values, actor, options);
        },
        async replaceAll(values, actor, options) {
          await check(values);
          return guarded.replaceAll(values, actor, options);
        },
        async preview(values) {
          await check(values);
          return guarded.preview(values);
        },
      };
    },
  };
}
