// Whether the mail server works, which only a mail that it accepted shows: an address that can be parsed does not.
import type { Clock } from '../clock.ts';
import type { SmtpServer } from '../model/smtp-url.ts';
import type { FactRecord, MailRecord } from '../store/collections.ts';
import type { Collection } from '../store/port.ts';
import type { Sender } from './compose.ts';

const FACT = 'mail server accepted a mail';
const FAILURE = 'mail server failed';

/** As delivery.ts has it. */
interface Way {
  readonly server: SmtpServer;
  readonly sender: Sender;
}

/** Of the settings all that can be wrong, but for the password: the fact is stored in clear. */
const nameOf = ({ server: { host, port, encryption, credentials }, sender }: Way): string =>
  JSON.stringify([host, port, encryption, credentials?.user ?? '', sender.address]);

export interface ServerProof {
  /** Call for each mail that the server accepted. Writes once per server. @throws StoreUnavailable */
  note(way: Way): Promise<void>;
  /** @returns epoch ms; undefined: this server has accepted none yet */
  find(way: Way): Promise<number | undefined>;
  /** Call where the server is the problem, or a test was not accepted. @throws StoreUnavailable */
  noteFailure(way: Way, problem: string): Promise<void>;
  /** A test was accepted. @throws StoreUnavailable */
  forgetFailure(): Promise<void>;
  /** @returns undefined where this server has accepted a mail since */
  findFailure(way: Way): Promise<ServerFailure | undefined>;
}

export interface ServerFailure {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly problem: string;
}

export function createServerProof(deps: {
  facts: Pick<Collection<FactRecord>, 'find' | 'put' | 'remove'>;
  mails: Pick<Collection<MailRecord>, 'query'>;
  clock: Clock;
}): ServerProof {
  const { facts, mails, clock } = deps;
  let noted: string | undefined;

  /** Before this was noted, servers were used for years. */
  async function lastSentAt(): Promise<number | undefined> {
    const { items } = await mails.query({
      filters: [{ field: 'state', op: 'eq', value: 'sent' }],
      sort: 'created_at',
      order: 'desc',
      limit: 1,
      isCounted: false,
    });
    return items[0]?.value.sentAt;
  }

  return {
    async note(way) {
      const value = nameOf(way);
      if (noted === value) return;
      const known = await facts.find(FACT);
      if (known?.value.value !== value) await facts.put(FACT, { at: clock(), value });
      noted = value;
    },
    async find(way) {
      const known = (await facts.find(FACT))?.value;
      if (known === undefined) return lastSentAt();
      return known.value === nameOf(way) ? known.at : undefined;
    },
    async noteFailure(way, problem) {
      await facts.put(FAILURE, { at: clock(), value: `${nameOf(way)}\n${problem}` });
    },
    async forgetFailure() {
      await facts.remove(FAILURE);
    },
    async findFailure(way) {
      const known = (await facts.find(FAILURE))?.value;
      const start = `${nameOf(way)}\n`;
      if (known === undefined || !known.value.startsWith(start)) return undefined;
      const isOver = ((await lastSentAt()) ?? 0) > known.at;
      return isOver ? undefined : { at: known.at, problem: known.value.slice(start.length) };
    },
  };
}
