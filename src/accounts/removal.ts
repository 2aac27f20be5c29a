// Deletes an account so that after a crash at any point it is unusable and the deletion can be resumed: mark it (from
// then on it is not found), end its sessions, remove its data, remove the record.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { Collection, Stored } from '../store/port.ts';
import { update } from '../store/update.ts';

export interface Removal {
  /**
   * Also resumes an interrupted deletion.
   * @param isDue for what its owner asked for: asked of the account as it is when it is marked; absent: an administrator's act
   * @returns whether the account existed. @throws AppError account.last_admin
   */
  remove(id: string, isDue?: (value: AccountRecord) => boolean): Promise<boolean>;
  /**
   * Completes deletions that a crash interrupted. Safe to run in several processes. @returns the number of completed
   * ones
   */
  finishDeletions(): Promise<number>;
}

const mailboxesOf = ({ email, isEmailVerified, otherEmails = [] }: AccountRecord): string[] => [
  ...(email !== undefined && isEmailVerified ? [email] : []),
  ...otherEmails.map(({ address }) => address),
];

export function createRemoval(deps: {
  /** Guarded: refuses to mark the last active administrator. */
  collection: Collection<AccountRecord>;
  clock: Clock;
  endSessions: (accountId: string) => Promise<unknown>;
  /** Other domains remove what belongs to the account. */
  events: Pick<Events, 'emit' | 'emitAndWait' | 'note'>;
}): Removal {
  const { collection, clock, endSessions, events } = deps;

  async function finish({ id, value }: Stored<AccountRecord>): Promise<void> {
    await endSessions(id);
    await events.emitAndWait('accountRemoving', {
      accountId: id,
      mailboxes: mailboxesOf(value),
    });
    const isGone = await collection.remove(id);
    if (value.deletion === undefined || !isGone) return;
    // Not before: what is about the account and waits to be sent was removed with it.
    const { username, email, isEmailVerified, profile } = value;
    events.note({ event: 'user.deletion_carried_out', target: { kind: 'user', id }, details: { username } });
    events.emit('ownerDeletedAccount', { username, email, isEmailVerified, language: profile.locale });
  }

  return {
    async remove(id, isDue) {
      const marked = await update(collection, id, (account) => {
        const { deletion, ...value } = account;
        if (value.deletingAt !== undefined || isDue?.(account) === false) return undefined;
        // Before its day it is an administrator's act, not what the owner asked for.
        const asAsked = isDue !== undefined && deletion !== undefined ? { deletion } : {};
        return { value: { ...value, ...asAsked, isActive: false, deletingAt: clock() } };
      });
      if (marked?.value.deletingAt === undefined) return false;
      await finish(marked);
      return true;
    },
    async finishDeletions() {
      const unfinished = await collection.findBy('deleting', 'yes');
      for (const account of unfinished) await finish(account);
      return unfinished.length;
    },
  };
}
