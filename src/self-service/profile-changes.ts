// Changes of a user's own profile: names, language, time zone, and the username where the settings allow it. Names need
// no fresh authentication. A username does: others know and find its owner by it.

import { type Account, fold, ownMembersOf, problemOfChosenUsername } from '../accounts/index.ts';
import { AppError, invalid } from '../errors.ts';
import { ownNames } from '../model/users/rows.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';

/** By the names of rows. An absent member stays, an empty one is cleared; nobody is without a username. */
export type OwnProfile = Readonly<Record<string, string>>;

export function createProfileChanges({ settings, accounts, events, limits }: SelfServiceDoors) {
  const mayChangeUsername = (): boolean => settings().allow_username_change;

  async function charge(who: SelfServiceUser, username: string): Promise<void> {
    if (!mayChangeUsername()) throw new AppError('account.username_fixed');
    if (!who.isFresh) throw new AppError('auth.stale');
    // Another spelling of a name that an administrator gave is no other name.
    const isSame = fold(username) === who.account.usernameKey;
    const problem = isSame ? undefined : problemOfChosenUsername(username, [settings().product_name]);
    if (problem !== undefined) throw invalid({ username: problem });
    await limits.consume('username_account', who.account.id);
  }

  return {
    mayChangeUsername,

    /**
     * @throws AppError request.invalid, account.username_fixed, account.username_taken, auth.stale, request.rate_limited
     */
    async change(who: SelfServiceUser, wanted: OwnProfile): Promise<void> {
      const { account: before } = who;
      const has = ownMembersOf(before);
      const changes = Object.fromEntries(
        ownNames.flatMap((name) => {
          const to = wanted[name];
          return to === undefined || to.trim() === has[name] ? [] : [[name, to] as const];
        }),
      );
      const { username, ...others } = changes;
      const changed = Object.keys(others);
      if (changed.length === 0 && username === undefined) return;
      if (username !== undefined) await charge(who, username);
      const after: Account = await accounts.changeOwnAccount(before.id, changes, {
        isByOldWays: accounts.isByOldWays(before, who.methodTimes),
      });
      if (changed.length > 0)
        await events.record({
          event: 'profile.changed',
          owner: before.id,
          details: { fields: changed },
        });
      if (username !== undefined)
        await events.record({
          event: 'username.changed',
          owner: before.id,
          details: { from: before.username, to: after.username },
        });
    },
  };
}
