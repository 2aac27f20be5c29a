// The deletion of an account by its owner. Until its day the account waits: none of its sessions and tokens counts, its names
// stay taken, and a sign-in can undo it (interactions/leaving.ts). Then a job removes it.
import type { Clock } from '../clock.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import { forgetBrowsers } from './known-browsers.ts';
import type { Removal } from './removal.ts';
import { nextSecurityChange } from './security-state.ts';

export function markLeaving(id: string, value: AccountRecord, dueAt: number, now: number): AccountRecord {
  return {
    ...forgetBrowsers(id, value),
    // A second request, as of a form that was sent twice, does not move the day.
    deletion: value.deletion ?? { requestedAt: now, dueAt },
    // In the same write, so that a crash right after it leaves no session or token valid, even if it is undone.
    authenticatedNotBefore: now,
    securityChangedAt: nextSecurityChange(value, now),
    updatedAt: now,
  };
}

export function unmarkLeaving({ deletion: _, ...value }: AccountRecord, now: number): AccountRecord {
  return { ...value, updatedAt: now };
}

export interface DueDeletions {
  /** Unless it was undone meanwhile. */
  removeIfDue(id: string): Promise<boolean>;
  /** Removes those whose day has come. Safe in several processes, and after a crash at any point. @returns how many */
  removeDue(limit: number): Promise<number>;
  /** Once more for those that wait: a crash may have come before their sessions ended and their applications were told. */
  endSessionsOfLeaving(): Promise<void>;
}

/** More than are asked for between two runs. */
const NEWEST = 100;

export function createDueDeletions(deps: {
  readonly collection: Pick<Collection<AccountRecord>, 'query'>;
  readonly removal: Pick<Removal, 'remove'>;
  readonly endSessions: (accountId: string) => Promise<unknown>;
  readonly clock: Clock;
}): DueDeletions {
  const { collection, removal, endSessions, clock } = deps;
  const isDue = ({ deletion }: AccountRecord): boolean => deletion !== undefined && deletion.dueAt <= clock();
  const sorted = { sort: 'deletion_due_at', isCounted: false } as const;

  return {
    removeIfDue: (id) => removal.remove(id, isDue),
    async removeDue(limit) {
      const filters = [{ field: 'deletion_due_at', op: 'lte', value: clock() } as const];
      const { items } = await collection.query({ ...sorted, filters, order: 'asc', limit });
      let removed = 0;
      for (const { id } of items) if (await removal.remove(id, isDue)) removed += 1;
      return removed;
    },
    async endSessionsOfLeaving() {
      const filters = [{ field: 'deletion_due_at', op: 'gte', value: clock() + 1 } as const];
      const { items } = await collection.query({ ...sorted, filters, order: 'desc', limit: NEWEST });
      for (const { id } of items) await endSessions(id);
    },
  };
}
