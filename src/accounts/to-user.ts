// The user in the REST API (decision 0010), by its rows: hashes and secrets are not among them.
import type { View } from '../model/row.ts';
import type { userRows } from '../model/users/rows.ts';
import type { Account } from './account.ts';
import { usersAt } from './user-rows.ts';

export type User = View<typeof userRows>;

/** @param now epoch milliseconds: an expired lock is not shown */
export const toUser = (account: Account, now: number): User => usersAt({ now }).show(account);
