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
  /**
   * Removes those whose day has come, and ends the sessions of those that wait once more: a crash may have come before their
   * applications were told. A deactivated account waits until it is active again, since its owner cannot sign in to keep it.
   * Safe in several processes, and after a crash at any point. @returns how many were removed
   * @throws AggregateError of those that failed, after all others
   */
  run(signal?: AbortSignal): Promise<number>;
}

export function createDueDeletions(deps: {
  readonly collection: Pick<Collection<AccountRecord>, 'findBy'>;
  readonly removal: Pick<Removal, 'remove'>;
  readonly endSessions: (accountId: string) => Promise<unknown>;
  readonly clock: Clock;
}): DueDeletions {
  const { collection, removal, endSessions, clock } = deps;
  const isDue = ({ deletion, isActive }: AccountRecord): boolean =>
    isActive && deletion !== undefined && deletion.dueAt <= clock();

  return {
    removeIfDue: (id) => removal.remove(id, isDue),
    async run(signal) {
      let removed = 0;
      const failures: unknown[] = [];
      for (const { id, value } of await collection.findBy('leaving', 'yes')) {
        if (signal?.aborted === true) break;
        try {
          if (!isDue(value)) await endSessions(id);
          else if (await removal.remove(id, isDue)) removed += 1;
        } catch (error) {
          // One that cannot go must not keep the others.
          failures.push(error);
        }
      }
      if (failures.length > 0)
        throw new AggregateError(failures, `${failures.length} accounts were not removed`);
      return removed;
    },
  };
}
