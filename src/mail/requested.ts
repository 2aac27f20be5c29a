// Mails that anyone may request (a forgotten password, a sign-in link, a sign-up code). The HTTP request only stores the
// request, the same for every address; the subscriber for its kind later checks whether there is an account.
import type { Clock } from '../clock.ts';
import type { Collection, Query } from '../store/port.ts';
import type { MailRequestRecord } from '../store/records.ts';
import type { MailSealer } from './outbox.ts';

interface FromBrowser {
  /** The values by which accounts may know the browser. */
  readonly browser?: readonly string[];
}

export type MailRequest = Omit<MailRequestRecord, 'createdAt' | 'sealedBrowser'> & FromBrowser;

type Answer = (request: MailRequestRecord & Required<FromBrowser>) => Promise<void>;

/** Where the request came from: the mail reports the address, and the account may know the browser. */
export type Requester = Pick<MailRequest, 'ipAddress' | 'userAgent' | 'language' | 'browser'>;

export interface RequestedMails {
  /**
   * Subscribes to requests of that kind.
   * @param answer queues the mail if there is an account; called once per request, twice after a crash in between
   */
  on(kind: MailRequestRecord['kind'], answer: Answer): void;
  /** Durable when it resolves; takes the same time for every address. */
  request(request: MailRequest): Promise<void>;
  /**
   * Processes waiting requests, oldest first. Safe in several processes. @returns how many
   * @throws the first error, after all other requests were processed
   */
  process(signal?: AbortSignal): Promise<number>;
}

interface Deps {
  readonly collection: Collection<MailRequestRecord>;
  readonly clock: Clock;
  /** Ids that sort by time. */
  readonly newId: () => string;
  readonly sealer: MailSealer;
}

const purposeOf = (id: string): string => `mail request ${id} browser`;

const BATCH = 50;
// By then the user has requested another mail.
const GIVE_UP_MS = 600_000;

export function createRequestedMails({ collection, clock, newId, sealer }: Deps): RequestedMails {
  const answers = new Map<MailRequestRecord['kind'], Answer>();

  function answerTo({ kind }: MailRequestRecord): Answer {
    const answer = answers.get(kind);
    if (answer === undefined) throw new TypeError(`no subscriber for requested mails of kind ${kind}`);
    return answer;
  }

  /** None where it was sealed with a SECRET_KEY that is gone. */
  function browserOf(id: string, { sealedBrowser }: MailRequestRecord): readonly string[] {
    if (sealedBrowser === undefined) return [];
    try {
      return sealer.open(purposeOf(id), sealedBrowser).split(' ');
    } catch {
      return [];
    }
  }

  return {
    on: (kind, answer) => void answers.set(kind, answer),

    async request({ browser = [], ...request }) {
      const id = newId();
      // Sealed: in a stolen database they would open these browsers' part of a lock.
      const sealedBrowser = browser.length === 0 ? undefined : sealer.seal(purposeOf(id), browser.join(' '));
      const record = {
        ...request,
        createdAt: clock(),
        ...(sealedBrowser !== undefined && { sealedBrowser }),
      };
      await collection.insert(id, record);
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
            // Removed after processing: a crash in between sends a second mail rather than none.
            if (clock() - value.createdAt < GIVE_UP_MS)
              await answerTo(value)({ ...value, browser: browserOf(id, value) });
            await collection.remove(id);
            total += 1;
          } catch (error) {
            // Retried in the next run; later requests are processed now.
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
