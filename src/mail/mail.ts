// Queues outbound mail. No request waits for a mail server, except an administrator's test mail.
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { isMailAddress } from '../model/mail-address.ts';
import type { MailTemplate } from '../model/mails.ts';
import { parseSmtpUrl } from '../model/smtp-url.ts';
import type { FactRecord, MailRecord } from '../store/collections.ts';
import type { Collection, Query } from '../store/port.ts';
import { checkRecipient, compose } from './compose.ts';
import { createDelivery, type Delivery, type FindLogo, type Route } from './delivery.ts';
import { createOutbox, type MailSealer, type OutboxMail, type Queued } from './outbox.ts';
import { sampleValues } from './previews.ts';
import { createServerProof, type ServerFailure } from './server-proof.ts';
import { createSmtp, type OpenSmtp } from './smtp.ts';
import type { MailValues, RenderMail } from './templates.ts';
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
  /** What the template needs (its row), and optional facts about the request. */
  readonly values: MailValues;
  /** BCP 47, or a list of tags as `ui_locales`; default: English. */
  readonly language?: string | undefined;
}

export type TestOutcome =
  /** The server accepted it. */
  | { readonly state: 'sent' }
  /** No server is configured; the mail is kept in the outbox. */
  | { readonly state: 'kept'; readonly id: string }
  | { readonly state: 'failed'; readonly problem: string };

export interface OutboundMail extends Delivery {
  /**
   * Durable when it resolves; sent later by the job.
   * @returns what became of it so far: nobody may be told more than that
   * @throws AppError request.invalid for an invalid address; TypeError for values that the template cannot use
   */
  queue(mail: OutgoingMail): Promise<Queued>;
  /** Whether there is a mail server: without one, nothing leaves. */
  canSend(): boolean;
  /** @returns when the mail server, as it is set now, was first found to accept a mail (epoch ms); undefined: it has not yet */
  provenAt(): Promise<number | undefined>;
  /** @returns why the mail server, as it is set now, did not accept a mail, unless it has accepted one since */
  lastFailure(): Promise<ServerFailure | undefined>;
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
  facts: Collection<FactRecord>;
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
  const { collection, facts, sealer, clock, newId, settings, render, logo, baseUrl, log } = deps;
  const { hostname } = new URL(baseUrl);
  const openSmtp = deps.transport ?? createSmtp({ name: greetingName(hostname) });
  const ownAddress = `no-reply@${hostname}`;
  const fallback = isMailAddress(ownAddress) ? ownAddress : 'no-reply@localhost';
  const retentionSeconds = () => settings().retention_mails_seconds;
  const outbox = createOutbox({ collection, sealer, clock, newId, retentionSeconds });
  const proof = createServerProof({ facts, mails: collection, clock });
  let hasSaidKept = false;

  function route(): Route | undefined {
    const { smtp_url: url, mail_from: from, mail_reply_to: replyTo, product_name: name } = settings();
    const server = parseSmtpUrl(url);
    return server && { server, sender: { name, address: from || fallback, replyTo } };
  }

  async function queue({ to, accountId, template, values, language }: OutgoingMail): Promise<Queued> {
    checkRecipient(to);
    const safe = safeValues(template, values, { baseUrl, at: clock() });
    const state = route() === undefined ? 'kept' : 'queued';
    const mail = render(template, safe, language, await logo?.());
    const queued = await outbox.add(state, { to, accountId }, template, mail);
    if (state === 'queued' || hasSaidKept) return queued;
    hasSaidKept = true;
    log.info(
      { event: 'mail_kept' },
      'no mail server is configured: mails are kept for administrators to read',
    );
    return queued;
  }

  async function sendTest(
    to: string,
    language?: string,
    template: MailTemplate = 'test',
  ): Promise<TestOutcome> {
    checkRecipient(to);
    const way = route();
    if (way === undefined) {
      const values = template === 'test' ? {} : sampleValues(template, baseUrl);
      const { id } = await queue({ to, template, values, language });
      return { state: 'kept', id };
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
    } catch (error) {
      if (!(error instanceof Undelivered)) throw error;
      await proof.noteFailure(way, error.message);
      return { state: 'failed', problem: error.message };
    }
    await proof.note(way);
    await proof.forgetFailure();
    return { state: 'sent' };
  }

  return {
    queue,
    canSend: () => route() !== undefined,
    async provenAt() {
      const way = route();
      return way && proof.find(way);
    },
    async lastFailure() {
      const way = route();
      return way && proof.findFailure(way);
    },
    list: outbox.list,
    find: outbox.find,
    removeAllOf: outbox.removeAllOf,
    sendTest,
    sendDue: createDelivery({ outbox, openSmtp, route, logo, proof, clock, log }).sendDue,
  };
}
