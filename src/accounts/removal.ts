// The end of an account, in an order in which a crash at any point leaves it unusable and the rest to be finished:
// mark (from here on it counts as gone), end what it has open, remove what it owns, remove it (checklist R062).
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { Collection, Stored } from '../store/port.ts';
import { update } from '../store/update.ts';

export interface Removal {
  /**
   * Also resumes a deletion that was begun.
   * @returns whether there was such an account. @throws AppError account.last_admin
   */
  remove(id: string): Promise<boolean>;
  /** Finishes what a crash left. Safe to run in several processes. @returns how many accounts were finished */
  finishDeletions(): Promise<number>;
}

export function createRemoval(deps: {
  /** Guarded: marking the last active administrator is refused. */
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
