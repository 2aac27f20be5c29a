// What the domain of accounts offers (accounts.ts) and what it needs.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { MethodTimes } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import type { AccountRecord, FactRecord } from '../store/collections.ts';
import type { Collection, Query } from '../store/port.ts';
import type { Account } from './account.ts';
import type { Stop } from './address-change.ts';
import type { AccountChanges } from './changes.ts';
import type { DueDeletions } from './own-deletion.ts';
import type { PasskeyAdmins } from './passkey-admins.ts';
import type { Passwords } from './passwords/password.ts';

export type NewAccount = AccountChanges & { readonly username: string };

export interface ChangeOptions {
  readonly version?: number | undefined;
  /** It was authenticated by the ways into the account of before its change of address (address-change.ts). Default: not. */
  readonly isByOldWays?: boolean | undefined;
  /** It changes or adds an address, which the former mailbox can stop for a week. */
  readonly isStoppable?: boolean | undefined;
  readonly isByAdministrator?: boolean | undefined;
  /** An administrator changes the own account: that decides on no change of address that was stopped. */
  readonly isByOwner?: boolean | undefined;
  /** It decides on a change of address that can be stopped, or was. */
  readonly isSettled?: boolean | undefined;
}

export interface ChangedAccount {
  /** The version that the change was made of. */
  readonly before: Account;
  readonly after: Account;
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
  changeAccountAsAdmin(id: string, changes: AccountChanges, options?: ChangeOptions): Promise<ChangedAccount>;
  /**
   * Whether these authentications reach, within five minutes, the highest class that the account had before a change of
   * address that can be stopped, by the ways of then. True where there is none.
   */
  isByOldWays(account: Account, times: MethodTimes): boolean;
  /**
   * Removes what rests on a change of address, and ends every session. @throws AppError account.changed, account.not_found
   */
  stopAddressChange(
    account: Account,
    stop: Pick<Stop, 'isMoved' | 'added' | 'since' | 'isPasskeyNew' | 'from'>,
  ): Promise<Account>;
  /** The account whose primary address that was until a change that can be stopped. */
  findByFormerAddress(address: string): Promise<Account | undefined>;
  /** Invalidates sign-ins in progress; existing sessions stay. */
  voidSignInsInProgress(id: string): Promise<Account>;
  /**
   * Removes a lock and resets every counter of wrong passwords, including those of known browsers. @throws AppError
   * account.not_found, account.changed
   */
  unlock(id: string, options?: Pick<ChangeOptions, 'version'>): Promise<ChangedAccount>;
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
  requestDeletion(id: string, dueAt: number, options?: Pick<ChangeOptions, 'isByOldWays'>): Promise<Account>;
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
  settings: () => Pick<SettingValues, 'auth_mode' | 'mfa_mode'>;
  /** @returns the number of ended sessions */
  endSessions: (accountId: string) => Promise<number>;
  events: Pick<Events, 'record' | 'emit' | 'emitAndWait' | 'note'>;
}
