// The use cases that find, create, change and remove accounts, each named for its actor: it checks its rule, writes,
// and emits its events. changes.ts validates changes, last-admin.ts and passkey-admins.ts keep an administrator,
// onboarding.ts creates the first one, removal.ts deletes accounts, authenticate.ts checks passwords.
import type { Clock } from '../clock.ts';
import { AppError, catalogue } from '../errors.ts';
import type { Events } from '../events/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { AccountRecord, FactRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Query, type Stored } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, isUsable, toAccount } from './account.ts';
import { type AccountChanges, applyChanges, blankAccount, endsSessions } from './changes.ts';
import { createCompleteSignIn } from './complete-sign-in.ts';
import { addressKey } from './email.ts';
import { clearBrowserFailures } from './known-browsers.ts';
import { guardLastAdmin } from './last-admin.ts';
import { clearFailures } from './lockout.ts';
import { findByLoginName, parseLoginName } from './login-name.ts';
import { createOnboarding } from './onboarding.ts';
import { createDueDeletions, type DueDeletions, markLeaving, unmarkLeaving } from './own-deletion.ts';
import { createPasskeyAdmins, type PasskeyAdmins } from './passkey-admins.ts';
import type { Passwords } from './passwords/password.ts';
import { createRemoval } from './removal.ts';
import { parseUsername } from './username.ts';

export type NewAccount = AccountChanges & { readonly username: string };

interface ChangeOptions {
  readonly version?: number | undefined;
}

export interface AccountPage {
  readonly items: Account[];
  /** Of all pages. */
  readonly total: number;
}

export interface Accounts {
  /** Here and below, an account that is being deleted is not found. */
  find(id: string): Promise<Account | undefined>;
  /** The same for who only reads it: what is in it is frozen. */
  findShared(id: string): Promise<Account | undefined>;
  /** Undefined also when the account is deactivated. */
  findUsable(id: string): Promise<Account | undefined>;
  /** By username, or by any of its e-mail addresses if they are verified; spelling variants are the same name. */
  findByLogin(identifier: string): Promise<Account | undefined>;
  /** Which account has that address, verified or not, primary or another. */
  findByAddress(address: string): Promise<Account | undefined>;
  /** However it is written. */
  findByUsername(username: string): Promise<Account | undefined>;
  query(query: Query): Promise<AccountPage>;
  /** @throws AppError request.invalid, account.username_taken, account.email_taken, server.busy */
  create(input: NewAccount): Promise<Account>;
  /**
   * Validates the input and hashes the password, so that the record can be stored later; reads and writes nothing.
   * @throws AppError request.invalid, server.busy
   */
  prepare(input: NewAccount): Promise<AccountRecord>;
  /** Stores a prepared record. @throws AppError account.username_taken, account.email_taken */
  createPrepared(record: AccountRecord): Promise<Account>;
  /**
   * By its owner, authenticated in whatever way the caller asks for. Only what is given changes. A new password, another role
   * or e-mail address, a deactivation and a reset of the second factor end the account's sessions.
   * @param options.version refuse with account.changed unless this is the version in the store
   * @throws AppError account.not_found, account.last_admin, account.changed, and those of create
   */
  changeOwnAccount(id: string, changes: AccountChanges, options?: ChangeOptions): Promise<Account>;
  /**
   * The same by an administrator: the owner is notified, and trusted browsers and passkeys that no longer count are
   * removed.
   * @throws AppError as changeOwnAccount, and passkey.last_admin
   */
  changeAccountAsAdmin(id: string, changes: AccountChanges, options?: ChangeOptions): Promise<Account>;
  /** Invalidates sign-ins in progress; existing sessions stay (checklist R063). */
  voidSignInsInProgress(id: string): Promise<Account>;
  /**
   * Removes a lock and resets every counter of wrong passwords, including those of known browsers. @throws AppError
   * account.not_found
   */
  unlock(id: string): Promise<Account>;
  /** By an administrator: ends every session and forgets all known browsers. @returns the number of sessions */
  endSessionsAsAdmin(id: string): Promise<number>;
  /**
   * When it resolves, nothing of the account is left.
   * @throws AppError account.not_found, account.last_admin, passkey.last_admin
   */
  removeAccountAsAdmin(id: string): Promise<void>;
  /**
   * By its owner: ends its sessions, and from `dueAt` on (epoch milliseconds) the account is removed.
   * @throws AppError account.not_found, account.last_admin, passkey.last_admin
   */
  requestDeletion(id: string, dueAt: number): Promise<Account>;
  /** By its owner, who signed in for it. @throws AppError account.not_found when it is too late */
  undoDeletion(id: string): Promise<Account>;
  readonly ownDeletions: DueDeletions;
  /** In passkey-only mode, at least one administrator keeps a passkey. */
  readonly passkeyAdmins: PasskeyAdmins;
  /** Completes deletions that a crash interrupted. @returns how many */
  finishDeletions(): Promise<number>;
  /** Cheap: a positive answer is cached, because one administrator always remains. */
  hasAdmin(): Promise<boolean>;
  /** The only way to create an administrator without one. @throws AppError onboarding.closed, and those of create */
  createFirstAdmin(input: NewAccount): Promise<Account>;
}

export interface AccountsDeps {
  collection: Collection<AccountRecord>;
  facts: Collection<FactRecord>;
  clock: Clock;
  newId: () => string;
  passwords: Pick<Passwords, 'hash'>;
  /** Code points (passwords/password-rules.ts). */
  minPasswordLength: () => number;
  /** Names of this service (product, host), which passwords must not be built around. */
  contextWords?: () => readonly string[];
  settings: () => Pick<SettingValues, 'auth_mode'>;
  /** @returns the number of ended sessions */
  endSessions: (accountId: string) => Promise<number>;
  events: Pick<Events, 'record' | 'emit' | 'emitAndWait' | 'note'>;
}

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

  async function recordOf({ totpVerified, ...rest }: NewAccount): Promise<AccountRecord> {
    const blank = blankAccount(clock());
    // A new account has nothing to reset, so `false` is already its state.
    const input = { ...rest, totpVerified: totpVerified || undefined };
    return applyChanges(blank, input, await contextOf(blank, input));
  }

  const unlessDeleted = (stored: Stored<AccountRecord> | undefined): Stored<AccountRecord> | undefined =>
    stored?.value.deletingAt === undefined ? stored : undefined;

  async function findLive(id: string): Promise<Stored<AccountRecord> | undefined> {
    return unlessDeleted(await collection.find(id));
  }

  /** @param change throws to refuse */
  async function changeLive(
    id: string,
    change: (value: AccountRecord, stored: Stored<AccountRecord>) => AccountRecord,
  ): Promise<Account> {
    const stored = await update(collection, id, (value, before) => {
      if (value.deletingAt !== undefined) throw new AppError('account.not_found');
      return { value: change(value, before) };
    });
    if (stored === undefined) throw new AppError('account.not_found');
    return toAccount(stored);
  }

  async function change(id: string, changes: AccountChanges, { version }: ChangeOptions = {}) {
    const read = await findLive(id);
    if (read === undefined) throw new AppError('account.not_found');
    const context = await contextOf(read.value, changes);
    let before = toAccount(read);
    let after: Account;
    try {
      after = await changeLive(id, (value, stored) => {
        if (version !== undefined && version !== stored.version) throw new AppError('account.changed');
        before = toAccount(stored);
        // As late as possible: hashing takes time, and a sign-in during it must count as before this change.
        return applyChanges(value, changes, { ...context, now: clock() });
      });
    } catch (error) {
      throw taken(error);
    }
    // After the write, so that no one can sign in again with a credential that is no longer valid.
    if (endsSessions(before, after, changes)) await endSessions(id);
    return { before, after };
  }

  /** Owners add addresses, by a link sent there; others only take them away. */
  async function refuseNewAddresses(id: string, { otherEmails = [] }: AccountChanges): Promise<void> {
    const account = otherEmails.length > 0 ? await accounts.find(id) : undefined;
    const known = new Set(account?.otherEmails?.map(({ key }) => key));
    if (account === undefined || otherEmails.every((address) => known.has(addressKey(address)))) return;
    const fields = { other_emails: 'Addresses can only be removed here: their owners add them.' };
    throw new AppError('request.invalid', { fields });
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
      const [stored] = await collection.findBy('email', addressKey(address));
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
      const isSecondFactorReset = changes.totpVerified === false;
      await refuseNewAddresses(id, changes);
      if (isSecondFactorReset || changes.isActive === false || isDemoted) await passkeyAdmins.keepOne(id);
      const { before, after } = await change(id, changes, options);
      const isPasswordChanged = changes.password !== undefined;
      await events.emitAndWait('accountChangedByAdmin', {
        before,
        after,
        isPasswordChanged,
        isSecondFactorReset,
      });
      return after;
    },
    voidSignInsInProgress: (id) => changeLive(id, (value) => ({ ...value, proofsNotBefore: clock() })),
    unlock: (id) =>
      changeLive(id, (value) => ({ ...clearBrowserFailures(clearFailures(value)), updatedAt: clock() })),
    async endSessionsAsAdmin(id) {
      // First: a browser that became known in a session that is being ended must not pass a lock because of it.
      await knownBrowsers.forget(id);
      return endSessions(id);
    },
    async removeAccountAsAdmin(id) {
      await passkeyAdmins.keepOne(id);
      if (!(await removal.remove(id))) throw new AppError('account.not_found');
    },
    async requestDeletion(id, dueAt) {
      await passkeyAdmins.keepOne(id);
      const account = await changeLive(id, (value) => markLeaving(id, value, dueAt, clock()));
      await endSessions(id);
      return account;
    },
    undoDeletion: (id) => changeLive(id, (value) => unmarkLeaving(value, clock())),
    ownDeletions: createDueDeletions({ collection, removal, endSessions, clock }),
    passkeyAdmins,
    finishDeletions: () => removal.finishDeletions(),
    hasAdmin: () => onboarding.hasAdmin(),
    async createFirstAdmin(input) {
      const account = await onboarding.createFirstAdmin(() =>
        recordOf({ ...input, role: 'admin', isActive: true }),
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
  return new AppError(code, { cause: error, fields: { [field]: catalogue[code].message } });
}
