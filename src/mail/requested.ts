// Mails that anyone may ask for (a forgotten password, a sign-in link, a sign-up code). The HTTP request only stores the wish, the
// same for every address (checklist R085); whether there is an account is found out later, by who subscribed for its kind.
import type { Clock } from '../clock.ts';
import type { Collection, Query } from '../store/port.ts';
import type { MailRequestRecord } from '../store/records.ts';

export type MailRequest = Omit<MailRequestRecord, 'createdAt'>;

type Answer = (request: MailRequestRecord) => Promise<void>;

/** Where the request came from, which the mail reports. */
export type Requester = Pick<MailRequestRecord, 'ipAddress' | 'userAgent' | 'language'>;

export interface RequestedMails {
  /**
   * Subscribes to requests of that kind.
   * @param answer queues the mail if there is an account for it; called once per request, twice if the process dies in between
   */
  on(kind: MailRequestRecord['kind'], answer: Answer): void;
  /** Durable when it resolves; takes the same for every address. */
  request(request: MailRequest): Promise<void>;
  /**
   * Answers what is waiting, oldest first. Safe in several processes. @returns how many
   * @throws what the first that could not be answered threw, after all the others
   */
  process(signal?: AbortSignal): Promise<number>;
}

interface Deps {
  readonly collection: Collection<MailRequestRecord>;
  readonly clock: Clock;
  /** Ids that sort by time. */
  readonly newId: () => string;
}

const BATCH = 50;
// Whoever asked has asked again by then.
const GIVE_UP_MS = 600_000;

export function createRequestedMails({ collection, clock, newId }: Deps): RequestedMails {
  const answers = new Map<MailRequestRecord['kind'], Answer>();

  function answerTo({ kind }: MailRequestRecord): Answer {
    const answer = answers.get(kind);
    if (answer === undefined) throw new TypeError(`no subscriber for requested mails of kind ${kind}`);
    return answer;
  }

  return {
    on: (kind, answer) => void answers.set(kind, answer),

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
            if (clock() - value.createdAt < GIVE_UP_MS) await answerTo(value)(value);
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
