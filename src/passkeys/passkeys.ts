import { type Account, settleFactors } from '../accounts/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, invalid } from '../errors.ts';
import type { AuthMode } from '../settings/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { PasskeyChallengeRecord, PasskeyRecord } from '../store/passkeys.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { update } from '../store/update.ts';
import { createPasskeyAssertion, type PasskeyAssertion } from './assertion.ts';
import { createPasskeyChallenges } from './challenges.ts';
import { labelOf } from './label.ts';
import { authenticatorName } from './names.ts';
import { credentialIdOf, findPasskey } from './records.ts';
import { createPasskeyRegistration, type PasskeyRegistration } from './registration.ts';
import { createRelyingParty } from './relying-party.ts';

export interface Passkey {
  readonly id: string;
  readonly label: string;
  /** The name of its model, if well known. */
  readonly authenticator: string | undefined;
  readonly aaguid: string;
  readonly kind: 'passkey' | 'security_key';
  readonly transports: readonly string[];
  readonly isSynced: boolean;
  readonly isBackedUp: boolean;
  readonly isUserVerified: boolean;
  /** Epoch milliseconds, like the ones below. */
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  readonly counterWentBackAt: number | undefined;
}

/** For the browser's signal methods (WebAuthn §5.1.10), by which password managers delete removed passkeys. */
export interface PasskeySignals {
  readonly rpId: string;
  readonly userId: string;
  readonly acceptedIds: readonly string[];
  readonly name: string;
  readonly displayName: string;
}

export interface AccountPasskeys {
  readonly registration: PasskeyRegistration;
  readonly assertion: PasskeyAssertion;
  readonly rpId: string;
  /** All origins at which passkeys can be used, our own first. */
  origins(): string[];
  /** Newest first. */
  list(account: Account): Promise<Passkey[]>;
  signals(account: Account): PasskeySignals;
  /** @throws AppError passkey.not_found, request.invalid for an empty name */
  rename(account: Account, id: string, label: string): Promise<string>;
  /**
   * Removing the last factor also removes the recovery codes.
   * @param options.mayLeaveNoWayIn whether the last way to sign in may be removed, too: for administrators
   * @param options.check throws to refuse; gets the account as it would be
   * @throws AppError passkey.not_found, passkey.last
   */
  remove(
    accountId: string,
    id: string,
    options: {
      mode: AuthMode;
      mayLeaveNoWayIn?: boolean;
      check?: (after: Readonly<AccountRecord>) => void;
    },
  ): Promise<void>;
  /** Removes passkeys from the store that the account no longer lists; they are already invalid. */
  sweep(accountId: string): Promise<void>;
  /** When the account is deleted. */
  removeAllOf(accountId: string): Promise<void>;
}

interface AccountPasskeysDeps {
  /** Not guarded: no write here changes role or activation. */
  accounts: EphemeralCollection<AccountRecord>;
  collection: EphemeralCollection<PasskeyRecord>;
  challenges: EphemeralCollection<PasskeyChallengeRecord>;
  clock: Clock;
  baseUrl: string;
  extraOrigins: () => string;
  rpName: () => string;
}

/** Whether the account can sign in without that passkey. */
export function hasOtherWayIn(record: Readonly<AccountRecord>, id: string, mode: AuthMode): boolean {
  if (record.passwordHash !== undefined && mode !== 'passkey_only') return true;
  return (record.passkeys ?? []).some((passkey) => passkey.id !== id && passkey.kind === 'passkey');
}

export function createAccountPasskeys(deps: AccountPasskeysDeps): AccountPasskeys {
  const { accounts, collection, clock } = deps;
  const relyingParty = createRelyingParty(deps.baseUrl, deps.extraOrigins);
  const challenges = createPasskeyChallenges({ collection: deps.challenges, clock });
  const shared = { accounts, collection, challenges, relyingParty, clock };
  const namesOf = (account: Pick<AccountRecord, 'passkeys'>) =>
    new Map((account.passkeys ?? []).map(({ id, kind }) => [id, kind]));

  return {
    registration: createPasskeyRegistration({ ...shared, rpName: deps.rpName }),
    assertion: createPasskeyAssertion(shared),
    rpId: relyingParty.rpId,
    origins: relyingParty.origins,

    async list(account) {
      const named = namesOf(account);
      const all = await collection.findBy('account', account.id);
      return all
        .flatMap((stored) => {
          const id = credentialIdOf(stored);
          const kind = named.get(id);
          return kind === undefined ? [] : [toPasskey(id, kind, stored.value)];
        })
        .sort((a, b) => b.createdAt - a.createdAt);
    },

    signals: (account) => ({
      rpId: relyingParty.rpId,
      userId: relyingParty.userHandleOf(account.id),
      acceptedIds: [...namesOf(account).keys()],
      name: account.username,
      displayName: account.profile.name ?? account.username,
    }),

    async rename(account, id, text) {
      const label = labelOf(text);
      if (label === undefined) throw invalid({ label: 'Enter a name.' });
      if (!namesOf(account).has(id)) throw new AppError('passkey.not_found');
      const found = await findPasskey(collection, account.id, id);
      const stored = await update(collection, found?.id ?? id, (record) =>
        record.accountId === account.id ? { value: { ...record, label } } : undefined,
      );
      if (stored?.value.accountId !== account.id) throw new AppError('passkey.not_found');
      return label;
    },

    async remove(accountId, id, { mode, mayLeaveNoWayIn = false, check }) {
      const stored = await update(accounts, accountId, (record) => {
        if (record.deletingAt !== undefined || !namesOf(record).has(id))
          throw new AppError('passkey.not_found');
        if (!mayLeaveNoWayIn && !hasOtherWayIn(record, id, mode)) throw new AppError('passkey.last');
        const { passkeys = [], ...rest } = record;
        const left = passkeys.filter((passkey) => passkey.id !== id);
        const after = left.length > 0 ? { ...rest, passkeys: left } : rest;
        check?.(after);
        return { value: settleFactors(record, after, clock()) };
      });
      if (stored === undefined) throw new AppError('passkey.not_found');
      const found = await findPasskey(collection, accountId, id);
      if (found?.value.accountId === accountId) await collection.remove(found.id);
    },

    async sweep(accountId) {
      const named = namesOf((await accounts.find(accountId))?.value ?? {});
      const all = await collection.findBy('account', accountId);
      await Promise.all(
        all.filter((stored) => !named.has(credentialIdOf(stored))).map(({ id }) => collection.remove(id)),
      );
    },

    async removeAllOf(accountId) {
      await Promise.all([collection.removeBy('account', accountId), challenges.removeAllOf(accountId)]);
    },
  };
}

const toPasskey = (id: string, kind: Passkey['kind'], record: PasskeyRecord): Passkey => ({
  id,
  kind,
  label: record.label,
  authenticator: authenticatorName(record.aaguid),
  aaguid: record.aaguid,
  transports: record.transports,
  isSynced: record.deviceType === 'multiDevice',
  isBackedUp: record.isBackedUp,
  isUserVerified: record.isUserVerified,
  createdAt: record.createdAt,
  lastUsedAt: record.lastUsedAt,
  counterWentBackAt: record.counterWentBackAt,
});
