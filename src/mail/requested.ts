// Owns mails that strangers ask for (a forgotten password, a sign-in link). The request only writes the wish down, the
// same for every address; here it is found out whether there is an account, and the mail is queued or nothing happens.
import type { Clock } from '../clock.ts';
import type { Collection, Query } from '../store/port.ts';
import type { MailRequestRecord } from '../store/records.ts';

export type MailRequest = Omit<MailRequestRecord, 'createdAt'>;

export interface RequestedMails {
  /** Durable when it resolves; takes the same for every address. */
  request(request: MailRequest): Promise<void>;
  /**
   * Works off what is waiting, oldest first. Safe in several processes. @returns how many
   * @throws what the first that could not be answered threw, after all the others
   */
  process(signal?: AbortSignal): Promise<number>;
}

interface Deps {
  readonly collection: Collection<MailRequestRecord>;
  readonly clock: Clock;
  /** Ids that sort by time. */
  readonly newId: () => string;
  /** Queues the mail if there is an account for it; called once per request, twice if the process dies in between. */
  readonly answer: (request: MailRequestRecord) => Promise<void>;
}

const BATCH = 50;
// Whoever asked has asked again by then.
const GIVE_UP_MS = 600_000;

export function createRequestedMails({ collection, clock, newId, answer }: Deps): RequestedMails {
  return {
    async request(request) {
      await collection.insert(newId(), { ...request, createdAt: clock() });
    },

    async process(signal) {
      let total = 0;
      let after: Query['after'];
      const failures: unknown[] = [];
      while (signal?.aborted !== true) {
        const { items } = await collection.query({
          sort: 'created_at',
          order: 'asc',
          limit: BATCH,
          after,
          isCounted: false,
        });
        for (const { id, value } of items) {
          try {
            // Answered first, removed after: a crash in between sends a second mail rather than none.
            if (clock() - value.createdAt < GIVE_UP_MS) await answer(value);
            await collection.remove(id);
            total += 1;
          } catch (error) {
            // It waits for the next round; those behind it need not.
            failures.push(error);
          }
        }
        const last = items.at(-1);
        if (last === undefined || items.length < BATCH) break;
        after = { sortValue: last.value.createdAt, id: last.id };
      }
      if (failures.length > 0) throw failures[0];
      return total;
    },
  };
}
