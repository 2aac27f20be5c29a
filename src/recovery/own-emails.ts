// What people do with the addresses of their accounts; how is in email-changes.ts.
import type { Account } from '../accounts/index.ts';
import type { MethodTimes } from '../sessions/index.ts';

export interface EmailChange {
  readonly accountId: string;
  readonly from?: string | undefined;
  readonly to: string;
  /** Epoch milliseconds. */
  readonly changedAt: number;
  /** Besides a primary address, which stays. */
  readonly isAddition: boolean;
}

/** One that waits for its owner. */
export interface StoppedEmailChange extends EmailChange {
  /** Epoch milliseconds from which the owner may keep the new address. */
  readonly keepFrom: number;
}

export interface OwnEmails {
  /** Verified, besides the primary one. */
  readonly others: readonly string[];
  /** What waits for a link to be used, whether it can be or not. */
  readonly pending: readonly string[];
  /** What was stopped and waits for its owner. */
  readonly stopped?: StoppedEmailChange | undefined;
  /** Whether there is room for one more. */
  readonly canAdd: boolean;
}

export interface EmailChanges {
  /**
   * Sends a link to a new address; an earlier one for it stops working. The answer does not tell whose address it is.
   * @throws AppError request.invalid, request.rate_limited, account.email_domain, account.email_frozen,
   * account.too_many_emails, mail.off
   */
  request(account: Account, address: string): Promise<void>;
  stateOf(account: Account): Promise<OwnEmails>;
  /** Whether a change was stopped and waits for its owner: then the primary address may be a thief's. */
  isStopped(account: Account): Promise<boolean>;
  /** @returns undefined for any token that does not count now, whatever the reason */
  find(token: string, act: 'confirm' | 'stop'): Promise<EmailChange | undefined>;
  /**
   * Where it becomes the primary address, every session of the account ends.
   * @returns undefined: it was no link of this account
   * @throws AppError account.email_taken, account.changed, account.email_domain, account.email_frozen,
   * account.too_many_emails
   */
  confirm(account: Account, token: string, times: MethodTimes): Promise<'added' | 'moved' | undefined>;
  /**
   * One of the other addresses becomes the primary one; every session of the account ends.
   * @returns the account as it is then
   * @throws AppError request.not_found, account.email_frozen, account.changed, request.rate_limited
   */
  makePrimary(account: Account, address: string): Promise<Account>;
  /**
   * One of the other addresses, or one that waits for its link.
   * @returns whether it had counted
   * @throws AppError request.not_found, account.email_frozen, account.changed
   */
  remove(account: Account, address: string): Promise<boolean>;
  /** What somebody began: addresses that wait for their links, and mailed links of any kind. */
  forgetPending(account: Account): Promise<void>;
  /** By whoever has the earlier mailbox: signs nobody in. @returns what it stopped; undefined: not a valid link */
  stop(token: string): Promise<'addition' | 'change' | undefined>;
  /**
   * By the owner, after a stop.
   * @param times when each method of this sign-in was authenticated
   * @throws AppError request.not_found, account.email_taken; to keep it: account.email_keep_waits, auth.stale
   */
  settle(account: Account, choice: 'keep' | 'undo', times: MethodTimes): Promise<void>;
  /** @throws AppError account.no_stopped_change, account.email_taken */
  settleAsAdmin(account: Account, choice: 'keep' | 'undo'): Promise<void>;
}
