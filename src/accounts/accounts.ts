// The use cases that find, create, change and remove accounts, each named for its actor: it checks its rule, writes,
// and emits its events. changes.ts validates changes, last-admin.ts and passkey-admins.ts keep an administrator,
// onboarding.ts creates the first one, removal.ts deletes accounts, authenticate.ts checks passwords.
import { AppError, invalid } from '../errors.ts';
import { errorRows } from '../model/errors/errors.ts';
import { parseUsername } from '../model/users/username.ts';
import type { AccountRecord } from '../store/collections.ts';
import { AlreadyExists, type Stored, VersionConflict } from '../store/port.ts';
import { isUsable, toAccount } from './account.ts';
import {
  isByOldWays,
  isDecided,
  isFormerAddress,
  stopAddressChange,
  withAddressChange,
  withKept,
  withoutPastChange,
} from './address-change.ts';
import { type AccountChanges, applyChanges, blankAccount, endsSessions } from './changes.ts';
import { createCompleteSignIn } from './complete-sign-in.ts';
import type { Accounts, AccountsDeps, ChangedAccount, ChangeOptions, NewAccount } from './contract.ts';
import { addressKey } from './email.ts';
import { clearBrowserFailures } from './known-browsers.ts';
import { guardLastAdmin } from './last-admin.ts';
import { clearFailures } from './lockout.ts';
import { findByEmailKey, findByLoginName, parseLoginName } from './login-name.ts';
import { createOnboarding } from './onboarding.ts';
import { createDueDeletions, markLeaving, unmarkLeaving } from './own-deletion.ts';
import { createPasskeyAdmins } from './passkey-admins.ts';
import { createRemoval } from './removal.ts';

export function createAccounts(deps: AccountsDeps): Accounts {
  const { clock, newId, passwords, minPasswordLength, settings, endSessions, events } = deps;
  const collection = guardLastAdmin(deps);
  const onboarding = createOnboarding({ ...deps, taken });
  const removal = createRemoval({ ...deps, collection });
  const knownBrowsers = createCompleteSignIn({ collection, clock });
  const passkeyAdmins = createPasskeyAdmins({
    find: (id) => accounts.find(id),
    query: (query) => accounts.query(query),
    isPasskeyOnly: () => settings().auth_mode === 'passkey_only',
  });

  /** Validates the changes before it spends a hash on them. */
  async function contextOf(before: AccountRecord, changes: AccountChanges) {
    const context = {
      now: clock(),
      minPasswordLength: minPasswordLength(),
      contextWords: deps.contextWords?.(),
    };
    applyChanges(before, changes, context);
    if (changes.password === undefined) return context;
    return { ...context, passwordHash: await passwords.hash(changes.password) };
  }

  async function recordOf({ totp_verified: isSecure, ...rest }: NewAccount): Promise<AccountRecord> {
    const blank = blankAccount(clock());
    // A new account has nothing to reset, so `false` is already its state.
    const input = { ...rest, totp_verified: isSecure || undefined };
    return applyChanges(blank, input, await contextOf(blank, input));
  }

  const unlessDeleted = (stored: Stored<AccountRecord> | undefined): Stored<AccountRecord> | undefined =>
    stored?.value.deletingAt === undefined ? stored : undefined;

  async function findLive(id: string): Promise<Stored<AccountRecord> | undefined> {
    return unlessDeleted(await collection.find(id));
  }

  /** @param change throws to refuse; called again with the newer account when another writer was first */
  async function changeLive(
    id: string,
    change: (value: AccountRecord, stored: Stored<AccountRecord>) => AccountRecord | Promise<AccountRecord>,
  ): Promise<ChangedAccount> {
    for (;;) {
      const before = await findLive(id);
      if (before === undefined) throw new AppError('account.not_found');
      try {
        const after = await collection.replaceRead(before, await change(before.value, before));
        return { before: toAccount(before), after: toAccount(after) };
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
  }

  const policy = () => ({ mfaMode: settings().mfa_mode, authMode: settings().auth_mode });

  /** With what the change means for one of an address that can be stopped. */
  function settled(before: AccountRecord, changed: AccountRecord, options: ChangeOptions, now: number) {
    const { addressChange: open, ...rest } = changed;
    if (options.isSettled === true) return rest;
    if (options.isByAdministrator === true && isDecided(before, changed)) {
      if (options.isByOwner !== true) return rest;
      if (open?.stoppedAt !== undefined) throw new AppError('account.email_frozen');
    }
    const current = withoutPastChange(changed, now);
    const begun =
      options.isStoppable === true
        ? withAddressChange(before, current, { id: newId(), now, policy: policy() })
        : current;
    return withKept(before, begun, options.isByOldWays === true);
  }

  /** @param check throws to refuse what is changed */
  async function change(
    id: string,
    changes: AccountChanges,
    { version, ...options }: ChangeOptions = {},
    check: (before: AccountRecord) => Promise<void> | undefined = () => undefined,
  ): Promise<ChangedAccount> {
    let context: Awaited<ReturnType<typeof contextOf>> | undefined;
    const written = await changeLive(id, async (value, stored) => {
      await check(value);
      context ??= await contextOf(value, changes);
      if (version !== undefined && version !== stored.version) throw new AppError('account.changed');
      // As late as possible: hashing takes time, and a sign-in during it must count as before this change.
      const now = clock();
      return settled(value, applyChanges(value, changes, { ...context, now }), options, now);
    }).catch((error: unknown) => {
      throw taken(error);
    });
    // After the write, so that no one can sign in again with a credential that is no longer valid.
    if (endsSessions(written.before, written.after, changes)) await endSessions(id);
    return written;
  }

  /** Owners add addresses, by a link sent there; others only take them away. */
  function refuseNewAddresses({ otherEmails }: AccountRecord, { other_emails: given = [] }: AccountChanges) {
    const known = new Set(otherEmails?.map(({ key }) => key));
    if (given.every((address) => known.has(addressKey(address)))) return;
    const fields = { other_emails: 'Addresses can only be removed here: their owners add them.' };
    throw invalid(fields);
  }

  const accounts: Accounts = {
    async find(id) {
      const stored = await findLive(id);
      return stored && toAccount(stored);
    },
    async findShared(id) {
      const stored = unlessDeleted(await (collection.findShared ?? collection.find)(id));
      return stored && toAccount(stored);
    },
    async findUsable(id) {
      const account = await accounts.find(id);
      return account !== undefined && isUsable(account) ? account : undefined;
    },
    async findByLogin(identifier) {
      const name = parseLoginName(identifier);
      const stored = name && (await findByLoginName(collection, name));
      return stored && toAccount(stored);
    },
    async findByAddress(address) {
      const stored = await findByEmailKey(collection, addressKey(address));
      return stored && toAccount(stored);
    },
    async findByUsername(username) {
      const name = parseUsername(username);
      if ('problem' in name) return undefined;
      const [stored] = await collection.findBy('username', name.key);
      const live = unlessDeleted(stored);
      return live && toAccount(live);
    },
    async query(query) {
      const live = { field: 'is_deleting', op: 'eq', value: false } as const;
      const page = await collection.query({ ...query, filters: [...(query.filters ?? []), live] });
      return { items: page.items.map(toAccount), total: page.total };
    },
    create: async (input) => accounts.createPrepared(await recordOf(input)),
    prepare: (input) => recordOf(input),
    async createPrepared(record) {
      try {
        return toAccount(await collection.insert(newId(), record));
      } catch (error) {
        throw taken(error);
      }
    },
    async changeOwnAccount(id, changes, options) {
      return (await change(id, changes, options)).after;
    },
    async changeAccountAsAdmin(id, changes, options) {
      const isDemoted = changes.role !== undefined && changes.role !== 'admin';
      const isSecondFactorReset = changes.totp_verified === false;
      const isWeaker = isSecondFactorReset || changes.is_active === false || isDemoted;
      const asAdmin = { ...options, isByOldWays: options?.isByOwner !== true, isByAdministrator: true };
      const written = await change(id, changes, asAdmin, (before) => {
        refuseNewAddresses(before, changes);
        return isWeaker ? passkeyAdmins.keepOne(id) : undefined;
      });
      const isPasswordChanged = changes.password !== undefined;
      await events.emitAndWait('accountChangedByAdmin', {
        ...written,
        isPasswordChanged,
        isSecondFactorReset,
      });
      return written;
    },
    isByOldWays: (account, times) => isByOldWays(account, times, clock()),
    async stopAddressChange({ id, version }, stop) {
      const stopped = async (isNameTaken: boolean) =>
        changeLive(id, (value, stored) => {
          if (version !== stored.version) throw new AppError('account.changed');
          return stopAddressChange(value, { ...stop, isNameTaken, policy: policy(), now: clock() });
        });
      let stoppedOnce: ChangedAccount;
      try {
        stoppedOnce = await stopped(false);
      } catch (error) {
        // An accomplice's account has what was given up meanwhile: that must not keep the rest from being stopped.
        if (!(error instanceof AlreadyExists)) throw error;
        stoppedOnce = await stopped(true);
      }
      await endSessions(id);
      return stoppedOnce.after;
    },
    async findByFormerAddress(address) {
      const account = await accounts.findByAddress(address);
      const isFormer = account?.deletingAt === undefined && account !== undefined;
      return isFormer && isFormerAddress(account, address, clock()) ? account : undefined;
    },
    voidSignInsInProgress: async (id) =>
      (await changeLive(id, (value) => ({ ...value, proofsNotBefore: clock() }))).after,
    unlock: (id, { version } = {}) =>
      changeLive(id, (value, stored) => {
        if (version !== undefined && version !== stored.version) throw new AppError('account.changed');
        return { ...clearBrowserFailures(clearFailures(value)), updatedAt: clock() };
      }),
    async endSessionsAsAdmin(id) {
      // First: a browser that became known in a session that is being ended must not pass a lock because of it.
      await knownBrowsers.forget(id);
      return endSessions(id);
    },
    async removeAccountAsAdmin(id) {
      await passkeyAdmins.keepOne(id);
      if (!(await removal.remove(id))) throw new AppError('account.not_found');
    },
    async requestDeletion(id, dueAt, { isByOldWays = false } = {}) {
      await passkeyAdmins.keepOne(id);
      const { after } = await changeLive(id, (value) =>
        withKept(value, markLeaving(id, value, dueAt, clock()), isByOldWays),
      );
      await endSessions(id);
      return after;
    },
    undoDeletion: async (id) => (await changeLive(id, (value) => unmarkLeaving(value, clock()))).after,
    ownDeletions: createDueDeletions({ collection, removal, endSessions, clock }),
    passkeyAdmins,
    finishDeletions: () => removal.finishDeletions(),
    hasAdmin: () => onboarding.hasAdmin(),
    async createFirstAdmin(input) {
      const account = await onboarding.createFirstAdmin(() =>
        recordOf({ ...input, role: 'admin', is_active: true }),
      );
      const { id, username } = account;
      await events.record({
        event: 'onboarding.completed',
        target: { kind: 'user', id },
        details: { username },
      });
      return account;
    },
  };
  return accounts;
}

/** Maps a clash of unique keys to its AppError; returns any other error unchanged. */
function taken(error: unknown): unknown {
  if (!(error instanceof AlreadyExists)) return error;
  const field = error.index === 'email' ? 'email' : 'username';
  const code = error.index === 'email' ? 'account.email_taken' : 'account.username_taken';
  return new AppError(code, { cause: error, fields: { [field]: errorRows[code].message } });
}
