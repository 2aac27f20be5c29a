// Owns the rules of the mode in which passkeys alone sign in: an administrator who can come in stays
// (src/accounts/passkey-admins.ts).
import type { Account, Accounts } from '../accounts/index.ts';
import { createPasskeyAdmins } from '../accounts/passkey-admins.ts';
import { AppError } from '../errors.ts';
import type { AuthMode } from '../settings/auth-mode.ts';
import type { Settings } from '../settings/settings.ts';

interface Deps {
  readonly accounts: () => Pick<Accounts, 'find' | 'query'>;
  readonly mode: () => AuthMode;
}

export function createModeGuards({ accounts, mode }: Deps) {
  const passkeyAdmins = createPasskeyAdmins({
    find: (id) => accounts().find(id),
    query: (query) => accounts().query(query),
    isPasskeyOnly: () => mode() === 'passkey_only',
  });

  return {
    /** Before one passkey goes. @throws AppError passkey.last_admin */
    async keepOtherPasskey(account: Account, id: string): Promise<void> {
      const isOnly = account.passkeys?.every((passkey) => passkey.id === id) === true;
      if (isOnly) await passkeyAdmins.keepOne(account.id);
    },

    /** Nobody turns passwords off before an administrator can come in without one. */
    guardSettings<S extends Pick<Settings, 'patch' | 'replaceAll' | 'preview'>>(guarded: S): S {
      const check = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
        if (values.auth_mode !== 'passkey_only' || mode() === 'passkey_only') return;
        if (await passkeyAdmins.hasOther()) return;
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
