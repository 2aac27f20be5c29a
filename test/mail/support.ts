// What the mail tests share: a real SMTP server with configurable answers, and outbound mail on a movable clock.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import type { Clock } from '../../src/clock.ts';
import { createTimeSortedIds } from '../../src/ids.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import type { DeliveryFigures } from '../../src/mail/delivery.ts';
import { createOutboundMail, type MailSettings, type OutboundMail } from '../../src/mail/mail.ts';
import { createSmtp, type OpenSmtp } from '../../src/mail/smtp.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { facts, type MailRecord, mails } from '../../src/store/collections.ts';
import type { Collection } from '../../src/store/port.ts';
import { plainTheme } from '../pages/server.ts';

export const baseUrl = 'https://id.example.com/auth';
export const start = 1_800_000_000_000;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const secretKey = 'test-secret-key-0123456789-0123456789';

export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** Who signed in. */
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  readonly raw: string;
  readonly mail: ParsedMail;
}

export interface MailServer {
  readonly port: number;
  readonly received: Received[];
  url(options?: { scheme?: string; credentials?: string }): string;
  close(): Promise<void>;
}

export interface MailServerOptions {
  readonly port?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Default: STARTTLS is offered when there is a certificate. */
  readonly encryption?: 'none' | 'starttls' | 'tls';
  readonly password?: string;
  /** An SMTP code to refuse with, or undefined to accept. */
  readonly onSender?: (address: string) => number | undefined;
  readonly onRecipient?: (address: string) => number | undefined;
  /** After the whole mail has come. A refused mail is not in `received`. */
  readonly onMail?: (mail: Received) => number | undefined | Promise<number | undefined>;
}

const refusal = (code: number | undefined): Error | null =>
  code === undefined ? null : Object.assign(new Error('refused by the test'), { responseCode: code });

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { tls, password, onSender, onRecipient, onMail } = options;
  const encryption = options.encryption ?? (tls ? 'starttls' : 'none');
  const received: Received[] = [];
  const server = new SMTPServer({
    ...tls,
    secure: encryption === 'tls',
    hideSTARTTLS: encryption !== 'starttls',
    disabledCommands: [
      ...(encryption === 'none' ? ['STARTTLS'] : []),
      ...(password === undefined ? ['AUTH'] : []),
    ],
    authOptional: password === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.password === password
        ? done(null, { user: auth.username ?? '' })
        : done(Object.assign(new Error('Invalid credentials'), { responseCode: 535 })),
    onMailFrom: ({ address }, _session, done) => done(refusal(onSender?.(address))),
    onRcptTo: ({ address }, _session, done) => done(refusal(onRecipient?.(address))),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const { mailFrom, rcptTo } = session.envelope;
        const one: Received = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: typeof session.user === 'string' ? session.user : undefined,
          isEncrypted: session.secure,
          raw,
          mail: await simpleParser(raw),
        };
        const code = await onMail?.(one);
        if (code === undefined) received.push(one);
        done(refusal(code));
      });
    },
  });
  // A client that hangs up is no failure of the server.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  // Of a TCP server that listens, the address is an object.
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    received,
    url: ({ scheme = 'smtp', credentials } = {}) =>
      `${scheme}://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** What is tested is that there are bounds, not how long they are: long enough for a busy machine to get there. */
export const impatient: OpenSmtp = createSmtp({ name: 'id.example.com', waitMs: 2000, sendMs: 3000 });

/** For tests in which waiting is not the point: a busy machine must not look like a server that hangs. */
export const steady: OpenSmtp = createSmtp({ name: 'id.example.com', waitMs: 120_000, sendMs: 120_000 });

export interface TestMail {
  readonly mail: OutboundMail;
  readonly settings: { -readonly [K in keyof MailSettings]: MailSettings[K] };
  readonly collection: Collection<MailRecord>;
  readonly time: { now: number };
  /** Events that were logged. */
  readonly events: string[];
  run(): Promise<DeliveryFigures>;
  /** All records, in order. */
  records(): Promise<{ id: string; value: MailRecord; expiresAt?: number | undefined }[]>;
  /** A second process on the same store. */
  another(transport?: OpenSmtp): OutboundMail;
  queueCode(to: string, code?: string): Promise<unknown>;
}

export function testMail(
  options: {
    smtpUrl?: string;
    collection?: (clock: Clock) => Collection<MailRecord>;
    transport?: OpenSmtp;
  } = {},
): TestMail {
  const time = { now: start };
  const clock = () => time.now;
  const stored = createMemoryStore({ clock });
  const collection = options.collection?.(clock) ?? stored.collection(mails);
  const settings = {
    smtp_url: options.smtpUrl ?? '',
    mail_from: 'robot@example.com',
    mail_reply_to: '',
    product_name: 'Latchkey',
    retention_mails_seconds: 30 * 86_400,
  };
  const events: string[] = [];
  const note = (fields: object): void => {
    assert.ok('event' in fields);
    events.push(String(fields.event));
  };
  const create = (transport: OpenSmtp): OutboundMail =>
    createOutboundMail({
      collection,
      facts: stored.collection(facts),
      sealer: createSealer([secretKey]),
      clock,
      newId: createTimeSortedIds(clock),
      settings: () => settings,
      render: createMailViews({
        theme: () => ({ ...plainTheme, productName: settings.product_name }),
        baseUrl,
      }),
      baseUrl,
      log: { info: note, warn: note },
      transport,
    });
  const mail = create(options.transport ?? steady);
  return {
    mail,
    settings,
    collection,
    time,
    events,
    run: () => mail.sendDue(new AbortController().signal),
    async records() {
      const { items } = await collection.query({ sort: 'id', order: 'asc', limit: 1000 });
      return items;
    },
    another: (transport = steady) => create(transport),
    queueCode: (to, code = '123456') =>
      mail.queue({ to, template: 'sign_in_code', values: { code, expiresSeconds: 600 } }),
  };
}
