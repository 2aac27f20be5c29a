// Deletes an account so that after a crash at any point it is unusable and the deletion can be resumed: mark it (from
// then on it is not found), end its sessions, remove its data, remove the record (checklist R062).
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { Collection, Stored } from '../store/port.ts';
import { update } from '../store/update.ts';

export interface Removal {
  /**
   * Also resumes an interrupted deletion.
   * @returns whether the account existed. @throws AppError account.last_admin
   */
  remove(id: string): Promise<boolean>;
  /**
   * Completes deletions that a crash interrupted. Safe to run in several processes. @returns the number of completed
   * ones
   */
  finishDeletions(): Promise<number>;
}

export function createRemoval(deps: {
  /** Guarded: refuses to mark the last active administrator. */
  collection: Collection<AccountRecord>;
  clock: Clock;
  endSessions: (accountId: string) => Promise<unknown>;
  /** Other domains remove what belongs to the account. */
  events: Pick<Events, 'emitAndWait'>;
}): Removal {
  const { collection, clock, endSessions, events } = deps;

  async function finish({ id, value }: Stored<AccountRecord>): Promise<void> {
    await endSessions(id);
    await events.emitAndWait('accountRemoving', { accountId: id, email: value.email });
    await collection.remove(id);
  }

  return {
    async remove(id) {
      const marked = await update(collection, id, (value) =>
        value.deletingAt === undefined
          ? { value: { ...value, isActive: false, deletingAt: clock() } }
          : undefined,
      );
      if (marked === undefined) return false;
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
