// Finding, creating, changing and removing accounts, by use cases that are named for who acts: each checks its rule, writes, and
// reports. What a change may be is changes.ts, which administrator must stay is last-admin.ts and passkey-admins.ts, how the
// first one comes is onboarding.ts, how an account goes is removal.ts. Signing in is authenticate.ts.
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Events } from '../events/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { AccountRecord, FactRecord } from '../store/collections.ts';
import { AlreadyExists, type Collection, type Query, type Stored } from '../store/port.ts';
import { update } from '../store/update.ts';
import { type Account, toAccount } from './account.ts';
import { type AccountChanges, applyChanges, blankAccount } from './changes.ts';
import { createCompleteSignIn } from './complete-sign-in.ts';
import { clearBrowserFailures } from './known-browsers.ts';
import { guardLastAdmin } from './last-admin.ts';
import { clearFailures } from './lockout.ts';
import { findByLoginName, parseLoginName } from './login-name.ts';
import { createOnboarding } from './onboarding.ts';
import { createPasskeyAdmins } from './passkey-admins.ts';
import type { Passwords } from './passwords/password.ts';
import { createRemoval } from './removal.ts';
import { hasSecondFactor } from './security-state.ts';

export type NewAccount = AccountChanges & { readonly username: string };

interface ChangeOptions {
  readonly version?: number | undefined;
}

export interface AccountPage {
  readonly items: Account[];
  /** Over all pages. */
  readonly total: number;
}

export interface Accounts {
  /** An account that is being deleted is not found, here and below. */
  find(id: string): Promise<Account | undefined>;
  /** By username, or by e-mail address if it is verified; spelling variants are one name. */
  findByLogin(identifier: string): Promise<Account | undefined>;
  query(query: Query): Promise<AccountPage>;
  /** @throws AppError request.invalid, account.username_taken, account.email_taken, server.busy */
  create(input: NewAccount): Promise<Account>;
  /**
   * Checks the input and makes its hash, so that it can be stored later; nothing is looked up or written.
   * @throws AppError request.invalid, server.busy
   */
  prepare(input: NewAccount): Promise<AccountRecord>;
  /** Stores what was prepared. @throws AppError account.username_taken, account.email_taken */
  createPrepared(record: AccountRecord): Promise<Account>;
  /**
   * By its owner, authenticated in whatever way the caller asks for. Only what is given changes. A new password, another role
   * or e-mail address, a deactivation and a reset of the second factor end the account's sessions.
   * @param options.version refuse with account.changed unless this is the version in the store
   * @throws AppError account.not_found, account.last_admin, account.changed, and those of create
   */
  changeOwnAccount(id: string, changes: AccountChanges, options?: ChangeOptions): Promise<Account>;
  /**
   * The same by an administrator: the owner is notified, and trusted browsers and passkeys that no longer count are removed.
   * @throws AppError as changeOwnAccount, and passkey.last_admin
   */
  changeAccountAsAdmin(id: string, changes: AccountChanges, options?: ChangeOptions): Promise<Account>;
  /** Sign-ins under way come to nothing; who is signed in stays so (R063). */
  voidProofs(id: string): Promise<Account>;
  /** Lifts a lock and clears every counter of wrong passwords, those of known browsers too. @throws AppError account.not_found */
  unlock(id: string): Promise<Account>;
  /** By an administrator: ends every session, and no browser is known any more. @returns how many sessions */
  endSessionsAsAdmin(id: string): Promise<number>;
  /**
   * Everything of the account is gone when it resolves.
   * @throws AppError account.not_found, account.last_admin, passkey.last_admin
   */
  removeAccountAsAdmin(id: string): Promise<void>;
  /** For the job that completes deletions which a crash cut short. @returns how many it completed */
  finishDeletions(): Promise<number>;
  /** Cheap: true is remembered, because an administrator always stays. */
  hasAdmin(): Promise<boolean>;
  /** The only way to an administrator without one. @throws AppError onboarding.closed, and those of create */
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
  /** @returns how many were ended */
  endSessions: (accountId: string) => Promise<number>;
  events: Pick<Events, 'record' | 'emitAndWait'>;
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

  /** Tries the changes before it spends a hash on them. */
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
    // A new account has nothing to be reset, so `false` is only what it is anyway.
    const input = { ...rest, totpVerified: totpVerified || undefined };
    return applyChanges(blank, input, await contextOf(blank, input));
  }

  async function findLive(id: string): Promise<Stored<AccountRecord> | undefined> {
    const stored = await collection.find(id);
    return stored?.value.deletingAt === undefined ? stored : undefined;
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
        // As late as can be: the hash took its time, and who signed in meanwhile did so before this change.
        return applyChanges(value, changes, { ...context, now: clock() });
      });
    } catch (error) {
      throw taken(error);
    }
    // After the write, so that nobody can sign in again with what is no longer valid.
    if (endsSessions(before, after, changes)) await endSessions(id);
    return { before, after };
  }

  const accounts: Accounts = {
    async find(id) {
      const stored = await findLive(id);
      return stored && toAccount(stored);
    },
    async findByLogin(identifier) {
      const name = parseLoginName(identifier);
      const stored = name && (await findByLoginName(collection, name));
      return stored && toAccount(stored);
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
    voidProofs: (id) => changeLive(id, (value) => ({ ...value, proofsNotBefore: clock() })),
    unlock: (id) =>
      changeLive(id, (value) => ({ ...clearBrowserFailures(clearFailures(value)), updatedAt: clock() })),
    async endSessionsAsAdmin(id) {
      // First: a browser that was made known in a session that ends must not get past a lock by that.
      await knownBrowsers.forget(id);
      return endSessions(id);
    },
    async removeAccountAsAdmin(id) {
      await passkeyAdmins.keepOne(id);
      if (!(await removal.remove(id))) throw new AppError('account.not_found');
    },
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

function endsSessions(before: Account, after: Account, changes: AccountChanges): boolean {
  const isDeactivated = before.isActive && !after.isActive;
  const isFactorLost = changes.totpVerified === false && hasSecondFactor(before);
  const isMoved = before.role !== after.role || before.emailKey !== after.emailKey;
  return changes.password !== undefined || isMoved || isDeactivated || isFactorLost;
}

/** A clash of unique keys, as the caller is told; anything else stays as it is. */
function taken(error: unknown): unknown {
  if (!(error instanceof AlreadyExists)) return error;
  const field = error.index === 'email' ? 'email' : 'username';
  const code = error.index === 'email' ? 'account.email_taken' : 'account.username_taken';
  return new AppError(code, { cause: error, fields: { [field]: 'Is taken by another user.' } });
}
