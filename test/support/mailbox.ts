// The mails of a test: a real SMTP server that the application sends to, and reading what arrived.
import { equal, notEqual } from 'node:assert/strict';
import { type Received, startMailServer } from '../mail/support.ts';
import type { TestApp } from './app.ts';

export interface Mailbox {
  readonly received: readonly Received[];
  /** The setting smtp_url. */
  readonly url: string;
  /** Runs the jobs until everything that was asked for has been sent. */
  deliver(): Promise<void>;
  /** Delivers. @returns the link of the latest mail to this address; '' when there is none */
  linkTo(address: string): Promise<string>;
  close(): Promise<void>;
}

/** Longer than the intervals of the jobs that answer requests and send mails. */
const TURN_MS = 3000;

/** @param app sends to this mailbox from now on */
export async function openMailbox(app: Pick<TestApp, 'admin' | 'advance' | 'app'>): Promise<Mailbox> {
  const server = await startMailServer();
  const { status } = await app.admin('PATCH', '/settings', { smtp_url: server.url() });
  equal(status, 200);
  const deliver = async (): Promise<void> => {
    // What the first turn queues the second one sends.
    for (let turn = 0; turn < 2; turn += 1) {
      app.advance(TURN_MS);
      await app.app.jobs.tick();
    }
  };
  return {
    received: server.received,
    url: server.url(),
    deliver,
    async linkTo(address) {
      await deliver();
      const mail = server.received.findLast(({ to }) => to.includes(address));
      return /https?:\/\/\S+\?token=[\w-]+/.exec(mail?.mail.text ?? '')?.[0] ?? '';
    },
    close: () => server.close(),
  };
}

export function tokenIn(link: string): string {
  const token = new URL(link).searchParams.get('token') ?? '';
  notEqual(token, '');
  return token;
}
