// Stored mails: queued ones, their outcome, and what administrators see. Texts contain codes and links, so they are sealed,
// and erased after delivery or failure. Our own, since a queue library would bring its own database.
import type { Clock } from '../clock.ts';
import { isMail, type MailTemplate, mailRows } from '../model/mails.ts';
import type { MailRecord } from '../store/collections.ts';
import {
  type Collection,
  type FieldFilter,
  type Query,
  type Stored,
  VersionConflict,
} from '../store/port.ts';
import { pagesOf } from '../store/walk.ts';
import type { RenderedMail } from './templates.ts';

export interface MailSealer {
  seal(purpose: string, text: string): string;
  /** Throws when it cannot be opened. */
  open(purpose: string, sealed: string): string;
}

/** A mail as administrators see it. */
export interface OutboxMail {
  readonly id: string;
  readonly state: MailRecord['state'];
  readonly to: string;
  readonly template: string;
  readonly subject: string;
  /** Only of `kept` mails: administrators must not read what was sent to a user's mailbox, nor what shows that one is theirs. */
  readonly text?: string;
  readonly html?: string;
  readonly attempts: number;
  readonly dueAt: number;
  readonly lastError?: string;
  readonly createdAt: number;
  readonly sentAt?: number;
}

export type QueuedMail = Stored<MailRecord>;

/** What a mail waits for: to be sent, or to be read by administrators, where there is no mail server. */
export interface Queued {
  readonly id: string;
  readonly state: 'queued' | 'kept';
}

const PAGE = 100;

/** The sealing purposes of a mail's texts. */
export const purposes = (id: string) => ({ text: `mail ${id} text`, html: `mail ${id} html` });

export function createOutbox(deps: {
  collection: Collection<MailRecord>;
  sealer: MailSealer;
  clock: Clock;
  newId: () => string;
  /** How long sent, failed and kept mails stay. */
  retentionSeconds: () => number;
}) {
  const { collection, sealer, clock, newId, retentionSeconds } = deps;

  const expiry = (): number => clock() + retentionSeconds() * 1000;

  /** @returns undefined when the texts are erased, or sealed with a SECRET_KEY that is not available */
  function open(
    id: string,
    { sealedText, sealedHtml }: MailRecord,
  ): { text: string; html: string } | undefined {
    const { text, html } = purposes(id);
    try {
      return { text: sealer.open(text, sealedText), html: sealer.open(html, sealedHtml) };
    } catch {
      return undefined;
    }
  }

  function view({ id, value }: QueuedMail): OutboxMail {
    const { sealedText, sealedHtml, accountId: _account, outages: _outages, ...shown } = value;
    return { id, ...shown, ...(value.state === 'kept' && open(id, value)) };
  }

  /** @returns undefined when another process has changed it meanwhile */
  async function write(
    mail: QueuedMail,
    value: MailRecord,
    expiresAt?: number,
  ): Promise<QueuedMail | undefined> {
    try {
      return await collection.replace(
        mail.id,
        mail.version,
        value,
        expiresAt === undefined ? {} : { expiresAt },
      );
    } catch (error) {
      if (error instanceof VersionConflict) return undefined;
      throw error;
    }
  }

  const erased = { sealedText: '', sealedHtml: '' };
  /** What is erased where nobody gets the mail: whoever read it here would pass for the owner of the mailbox. */
  const provesOf = (template: string) => (isMail(template) ? mailRows[template].proves : undefined);

  return {
    open,

    /** Durable when it resolves. @param state `kept` when there is no server to send it to. @returns its id */
    async add(
      state: 'queued' | 'kept',
      { to, accountId }: { readonly to: string; readonly accountId?: string | undefined },
      template: MailTemplate,
      { subject, text, html }: RenderedMail,
    ): Promise<Queued> {
      const id = newId();
      const purpose = purposes(id);
      const now = clock();
      const isErased = state === 'kept' && provesOf(template) === 'mailbox';
      const mail: MailRecord = {
        state,
        to,
        ...(accountId !== undefined && { accountId }),
        template,
        subject,
        sealedText: sealer.seal(purpose.text, text),
        sealedHtml: sealer.seal(purpose.html, html),
        ...(isErased && erased),
        attempts: 0,
        dueAt: now,
        createdAt: now,
      };
      await collection.insert(id, mail, state === 'kept' ? { expiresAt: expiry() } : {});
      return { id, state };
    },

    async list(query: Query): Promise<{ items: OutboxMail[]; total: number }> {
      const { items, total } = await collection.query(query);
      return { items: items.map(view), total };
    },

    async find(id: string): Promise<OutboxMail | undefined> {
      const mail = await collection.find(id);
      return mail && view(mail);
    },

    /** Of an account, and those to its own mailboxes that are of none, in any state. @returns how many */
    async removeAllOf(accountId: string, mailboxes: readonly string[]): Promise<number> {
      let removed = await collection.removeBy('account', accountId);
      for (const to of mailboxes) {
        const filters = [{ field: 'to', op: 'eq', value: to }] as const;
        for await (const items of pagesOf(collection, { filters, limit: PAGE }))
          for (const { id, value } of items)
            if (value.accountId === undefined && (await collection.remove(id))) removed += 1;
      }
      return removed;
    },

    /** All queued mails, due or not, oldest first. @param createdBefore epoch ms */
    async *queued({ createdBefore }: { createdBefore?: number } = {}): AsyncGenerator<QueuedMail> {
      const filters: readonly FieldFilter[] = [
        { field: 'state', op: 'eq', value: 'queued' },
        ...(createdBefore === undefined
          ? []
          : [{ field: 'created_at', op: 'lte', value: createdBefore } as const]),
      ];
      for await (const items of pagesOf(collection, { filters, limit: PAGE })) yield* items;
    },

    /**
     * Call before every attempt: other processes leave the mail alone until `retryAt`, also if this one crashes.
     * @returns undefined when another process was faster
     */
    claim: (mail: QueuedMail, retryAt: number) =>
      write(mail, { ...mail.value, attempts: mail.value.attempts + 1, dueAt: retryAt }),

    /** The attempt was the server's: the mail is as due as it was. */
    release(claimed: QueuedMail, { value }: QueuedMail, problem: string) {
      const { attempts } = claimed.value;
      return write(claimed, { ...value, attempts, outages: (value.outages ?? 0) + 1, lastError: problem });
    },

    /** Schedules another attempt. */
    postpone: (claimed: QueuedMail, problem: string) =>
      write(claimed, { ...claimed.value, lastError: problem }),

    sent(claimed: QueuedMail) {
      const { lastError: _, ...value } = claimed.value;
      return write(claimed, { ...value, ...erased, state: 'sent', sentAt: clock() }, expiry());
    },

    failed: (mail: QueuedMail, problem: string) =>
      write(mail, { ...mail.value, ...erased, state: 'failed', lastError: problem }, expiry()),

    keep(mail: QueuedMail) {
      const isErased = provesOf(mail.value.template) !== undefined;
      return write(mail, { ...mail.value, ...(isErased && erased), state: 'kept' }, expiry());
    },
  };
}

export type Outbox = ReturnType<typeof createOutbox>;
