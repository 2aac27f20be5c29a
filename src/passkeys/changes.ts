import { type Account, mayBeLeftWith } from '../accounts/index.ts';
import { AppError } from '../errors.ts';
import { arePasswordsOff } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { PasskeyDoors } from './doors.ts';
import { type AccountPasskeys, hasOtherWayIn, type Passkey } from './passkeys.ts';

/** A passkey as shown to its owner. */
export interface OwnPasskey extends Passkey {
  readonly canRemove: boolean;
}

export interface PasskeyChanges {
  own(account: Account): Promise<OwnPasskey[]>;
  /** By its owner. @throws AppError passkey.not_found, request.invalid for an empty name */
  rename(account: Account, id: string, text: string): Promise<void>;
  /**
   * By its owner, except the last way to sign in. @throws AppError passkey.not_found, passkey.last,
   * passkey.last_admin
   */
  removeOwn(account: Account, id: string): Promise<void>;
  /** @throws AppError passkey.not_found, passkey.last_admin */
  removeAsAdmin(account: Account, id: string): Promise<void>;
  /**
   * Before a change of settings: passwords cannot be turned off until an administrator can sign in without one.
   * @throws AppError request.invalid
   */
  checkAuthMode(values: Readonly<Record<string, unknown>>): Promise<void>;
}

export function createPasskeyChanges(
  { accounts, events, settings }: PasskeyDoors,
  passkeys: AccountPasskeys,
): PasskeyChanges {
  const mode = () => settings().auth_mode;
  const policy = () => ({ mfaMode: settings().mfa_mode, authMode: mode() });

  /** @throws AppError passkey.last_admin */
  async function keepAdmin(account: Account, id: string): Promise<void> {
    const isOnly = account.passkeys?.every((passkey) => passkey.id === id) === true;
    if (isOnly) await accounts.passkeyAdmins.keepOne(account.id);
  }

  const keepEnough = (after: Readonly<AccountRecord>): void => {
    if (!mayBeLeftWith(after, policy())) throw new AppError('passkey.last');
  };

  async function record(
    event: 'passkey.renamed' | 'passkey.removed',
    { id }: Account,
    details: { readonly passkey_id: string; readonly label?: string },
  ): Promise<void> {
    await events.record({ event, owner: id, details });
  }

  return {
    async own(account) {
      const all = await passkeys.list(account);
      const without = (id: string): AccountRecord => ({
        ...account,
        passkeys: (account.passkeys ?? []).filter((one) => one.id !== id),
      });
      return all.map((one) => ({
        ...one,
        canRemove: hasOtherWayIn(account, one.id, mode()) && mayBeLeftWith(without(one.id), policy()),
      }));
    },

    async rename(account, id, text) {
      const label = await passkeys.rename(account, id, text);
      await record('passkey.renamed', account, { passkey_id: id, label });
    },

    async removeOwn(account, id) {
      await keepAdmin(account, id);
      await passkeys.remove(account.id, id, { mode: mode(), check: keepEnough });
      await record('passkey.removed', account, { passkey_id: id });
    },

    async removeAsAdmin(account, id) {
      await keepAdmin(account, id);
      await passkeys.remove(account.id, id, { mode: mode(), mayLeaveNoWayIn: true });
      await events.emitAndWait('passkeyRemovedByAdmin', { accountId: account.id });
    },

    async checkAuthMode({ auth_mode: next }) {
      if (next !== 'passkey_only' || arePasswordsOff(settings())) return;
      if (await accounts.passkeyAdmins.hasOther()) return;
      const problem = 'An active administrator must have a passkey first.';
      throw new AppError('request.invalid', { message: problem, fields: { auth_mode: problem } });
    },
  };
}
