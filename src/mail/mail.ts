// Queues outbound mail. No request waits for a mail server, except an administrator's test mail.
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import { isMailAddress } from '../config/mail-address.ts';
import { parseSmtpUrl } from '../config/smtp-url.ts';
import type { Logger } from '../log.ts';
import type { MailRecord } from '../store/collections.ts';
import type { Collection, Query } from '../store/port.ts';
import { checkRecipient, compose } from './compose.ts';
import { createDelivery, type Delivery, type FindLogo, type Route } from './delivery.ts';
import { createOutbox, type MailSealer, type OutboxMail } from './outbox.ts';
import { sampleValues } from './previews.ts';
import { createSmtp, type OpenSmtp } from './smtp.ts';
import type { MailTemplate, MailValues, RenderMail } from './templates.ts';
import { Undelivered } from './undelivered.ts';
import { safeValues } from './values.ts';

/** The settings that mail needs. */
export interface MailSettings {
  readonly smtp_url: string;
  readonly mail_from: string;
  readonly mail_reply_to: string;
  readonly product_name: string;
  readonly retention_mails_seconds: number;
}

export interface OutgoingMail {
  /** One address, in stored form. */
  readonly to: string;
  /** Whose account it is about: the mail goes with it. Not of a mail to whoever has an address. */
  readonly accountId?: string | undefined;
  readonly template: MailTemplate;
  /** What the template needs (mailTemplates), and optional facts about the request. */
  readonly values: MailValues;
  /** BCP 47, or a list of tags as `ui_locales`; default: English. */
  readonly language?: string | undefined;
}

export type TestOutcome =
  | { readonly state: 'sent' }
  /** No server is configured; the mail is kept in the outbox. */
  | { readonly state: 'kept' }
  | { readonly state: 'failed'; readonly problem: string };

export interface OutboundMail extends Delivery {
  /**
   * Durable when it resolves; sent later by the job.
   * @throws AppError request.invalid for an invalid address; TypeError for values that the template cannot use
   */
  queue(mail: OutgoingMail): Promise<void>;
  list(query: Query): Promise<{ items: OutboxMail[]; total: number }>;
  find(id: string): Promise<OutboxMail | undefined>;
  /**
   * All mails of a user who is being deleted, queued or listed.
   * @param mailboxes the verified addresses: of mails that are about no account, or older than this rule, those to them go
   * @returns how many
   */
  removeAllOf(accountId: string, mailboxes: readonly string[]): Promise<number>;
  /** @param template with made-up values; default: the test mail. Contacts the server at once, for 10 s at most. @throws AppError request.invalid for an invalid address */
  sendTest(to: string, language?: string, template?: MailTemplate): Promise<TestOutcome>;
}

const TEST_MS = 10_000;

/** Our name towards mail servers (RFC 5321 §4.1.3). */
const greetingName = (hostname: string): string => {
  const bare = hostname.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 6) return `[IPv6:${bare}]`;
  return isIP(bare) === 4 ? `[${bare}]` : bare;
};

/**
 * @param deps.newId creates ids that sort by time, which is the order of sending
 * @param deps.baseUrl the public address; links in mails must lead there
 */
export function createOutboundMail(deps: {
  collection: Collection<MailRecord>;
  sealer: MailSealer;
  clock: Clock;
  newId: () => string;
  settings: () => MailSettings;
  render: RenderMail;
  logo?: FindLogo | undefined;
  baseUrl: string;
  log: Pick<Logger, 'info' | 'warn'>;
  transport?: OpenSmtp;
}): OutboundMail {
  const { collection, sealer, clock, newId, settings, render, logo, baseUrl, log } = deps;
  const { hostname } = new URL(baseUrl);
  const openSmtp = deps.transport ?? createSmtp({ name: greetingName(hostname) });
  const ownAddress = `no-reply@${hostname}`;
  const fallback = isMailAddress(ownAddress) ? ownAddress : 'no-reply@localhost';
  const retentionSeconds = () => settings().retention_mails_seconds;
  const outbox = createOutbox({ collection, sealer, clock, newId, retentionSeconds });
  let hasSaidKept = false;

  function route(): Route | undefined {
    const { smtp_url: url, mail_from: from, mail_reply_to: replyTo, product_name: name } = settings();
    const server = parseSmtpUrl(url);
    return server && { server, sender: { name, address: from || fallback, replyTo } };
  }

  async function queue({ to, accountId, template, values, language }: OutgoingMail): Promise<void> {
    checkRecipient(to);
    const safe = safeValues(template, values, { baseUrl, at: clock() });
    const state = route() === undefined ? 'kept' : 'queued';
    await outbox.add(state, { to, accountId }, template, render(template, safe, language, await logo?.()));
    if (state === 'queued' || hasSaidKept) return;
    hasSaidKept = true;
    log.info(
      { event: 'mail_kept' },
      'no mail server is configured: mails are kept for administrators to read',
    );
  }

  async function sendTest(
    to: string,
    language?: string,
    template: MailTemplate = 'test',
  ): Promise<TestOutcome> {
    checkRecipient(to);
    const way = route();
    if (way === undefined) {
      await queue({
        to,
        template,
        values: template === 'test' ? {} : sampleValues(template, baseUrl),
        language,
      });
      return { state: 'kept' };
    }
    const createdAt = clock();
    const picture = await logo?.();
    const values = template === 'test' ? { at: createdAt } : sampleValues(template, baseUrl);
    const mail = render(template, values, language, picture);
    const message = await compose({ id: newId(), to, createdAt, ...mail }, way.sender, picture);
    try {
      const session = await openSmtp(way.server, AbortSignal.timeout(TEST_MS));
      await session.send({ from: way.sender.address, to }, message);
      session.close();
      return { state: 'sent' };
    } catch (error) {
      if (error instanceof Undelivered) return { state: 'failed', problem: error.message };
      throw error;
    }
  }

  return {
    queue,
    list: outbox.list,
    find: outbox.find,
    removeAllOf: outbox.removeAllOf,
    sendTest,
    sendDue: createDelivery({ outbox, openSmtp, route, logo, clock, log }).sendDue,
  };
}
