// The part of records.ts that is about addresses of accounts which changed.

/** What an account was before its addresses changed. */
export interface AddressChange {
  id: string;
  beganAt: number;
  /** Until then it can be stopped. */
  until: number;
  /** The primary address before, which stays taken meanwhile. */
  from: string;
  fromKey: string;
  username: string;
  usernameKey: string;
  /** The highest class of authentication that the account could reach (src/accounts/freshness.ts). */
  highestClass: 1 | 2 | 3;
  /** Absent: there was none. */
  password?: { hash: string; changedAt?: number };
  /** By name: what led into the account before, and what was made since in a sign-in by that. */
  kept: string[];
  /** It was stopped, and waits for its owner or an administrator. */
  stoppedAt?: number;
}
