// The deletion of the own account: the pages and the API share it. It ends the sessions at once; the account goes on its day.

import { fold } from '../accounts/index.ts';
import { AppError, invalid } from '../errors.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';

const DAY_MS = 86_400_000;

export function createDeletion({ accounts, settings, clock, events }: SelfServiceDoors) {
  const isAllowed = (): boolean => settings().allow_account_deletion;
  const days = (): number => settings().account_deletion_days;

  return {
    isAllowed,
    /** Of grace; 0: at once. */
    days,
    /**
     * @param typed the username, as typed to confirm it
     * @returns the day, in epoch milliseconds; undefined: the account is gone
     * @throws AppError account.deletion_off, request.invalid, account.last_admin, passkey.last_admin
     */
    async request({ account, methodTimes }: SelfServiceUser, typed: string): Promise<number | undefined> {
      const { id, username } = account;
      if (!isAllowed()) throw new AppError('account.deletion_off');
      if (fold(typed) !== fold(username)) throw invalid({ username: 'Must be your username.' });
      const isAtOnce = days() === 0;
      const { deletion } = await accounts.requestDeletion(id, clock() + days() * DAY_MS, {
        isByOldWays: accounts.isByOldWays(account, methodTimes),
      });
      const dueAt = deletion?.dueAt ?? clock();
      const details = { due_at: new Date(dueAt).toISOString() };
      // The owner is told by mail (src/notifications).
      await events.record({ event: 'user.deletion_requested', owner: id, details });
      if (!isAtOnce) return dueAt;
      await accounts.ownDeletions.removeIfDue(id);
      return undefined;
    },
  };
}
