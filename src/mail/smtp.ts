// The SMTP client (with compose.ts the only files that import nodemailer): one session for several mails. Every wait is
// bounded, and every operation as a whole too, so that a server that sends single bytes cannot stall it.
import type { default as SMTPConnection, SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { SmtpServer } from '../model/smtp-url.ts';
import { isLoopbackHost } from '../model/uris.ts';
import { undelivered, unreachable } from './undelivered.ts';

export interface Envelope {
  readonly from: string;
  readonly to: string;
}

export interface SmtpSession {
  /** Resolves when the server has accepted the mail. @throws Undelivered; the session is then unusable */
  send(envelope: Envelope, message: Buffer): Promise<void>;
  /** Sends QUIT and closes the connection without waiting. */
  close(): void;
}

/** @param signal cancels waiting. @throws Undelivered with `server` */
export type OpenSmtp = (server: SmtpServer, signal?: AbortSignal) => Promise<SmtpSession>;

export interface SmtpOptions {
  /** Our name in EHLO (RFC 5321 §4.1.1.1): a host name, or an address in brackets. */
  readonly name: string;
  /** Timeout of a response, and of connecting, TLS and authentication as a whole. */
  readonly waitMs?: number;
  /** Timeout of sending one mail as a whole. */
  readonly sendMs?: number;
}

const isLoopback = (host: string): boolean => host === '::1' || isLoopbackHost(host.toLowerCase());

/**
 * Credentials are sent over verified TLS only, except to this machine. Without credentials the certificate is not verified
 * where plain text would be accepted too (RFC 7435 opportunistic security): refusing would stop no attacker.
 */
export function tlsOptions({ host, encryption, credentials }: SmtpServer): SMTPConnectionOptions {
  const isPrivate = encryption === 'offered' && credentials !== undefined && !isLoopback(host);
  return {
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls' || isPrivate,
    tls: { rejectUnauthorized: encryption !== 'offered' || isPrivate },
  };
}

const QUIT_MS = 1000;

type Done = (error?: Error | null) => void;

/**
 * One operation on the connection, bounded as a whole. After a failure the connection is closed, since its state is unknown.
 * @param waiting cancels the wait
 */
function act(connection: SMTPConnection, waiting: AbortSignal, run: (done: Done) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = (): void => reject(Object.assign(new Error('Too late'), { code: 'ETIMEDOUT' }));
  // The client may close without an error, or report it afterwards: the first rejection counts.
  const closed = (): void => {
    setImmediate(() => reject(Object.assign(new Error('Closed'), { code: 'ECONNECTION' })));
  };
  waiting.addEventListener('abort', late, { once: true });
  connection.once('error', reject);
  connection.once('end', closed);
  if (waiting.aborted) late();
  else run((error) => (error ? reject(error) : resolve()));
  return promise
    .catch((error: unknown) => {
      connection.close();
      throw error;
    })
    .finally(() => {
      waiting.removeEventListener('abort', late);
      connection.removeListener('error', reject);
      connection.removeListener('end', closed);
    });
}

/** @param ms timeout of `run` as a whole; `signal` may cancel it earlier */
async function within(
  ms: number,
  signal: AbortSignal | undefined,
  run: (waiting: AbortSignal) => Promise<void>,
): Promise<void> {
  const deadline = new AbortController();
  const end = (): void => deadline.abort();
  const timer = setTimeout(end, ms);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    await run(deadline.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

export function createSmtp({ name, waitMs = 10_000, sendMs = 15_000 }: SmtpOptions): OpenSmtp {
  return async (server, signal) => {
    // At the first mail: many processes send none.
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const connection = new Connection({
      host: server.host,
      port: server.port,
      name,
      ...tlsOptions(server),
      connectionTimeout: waitMs,
      greetingTimeout: waitMs,
      socketTimeout: waitMs,
      dnsTimeout: waitMs,
      socketCloseTimeout: 0,
      maxResponseSize: 64 * 1024,
      allowInternalNetworkInterfaces: true,
      logger: false,
    });
    // Errors between operations are ignored; the next operation finds a closed connection.
    connection.on('error', () => undefined);
    try {
      await within(waitMs, signal, async (waiting) => {
        await act(connection, waiting, (done) => connection.connect(done));
        if (server.credentials === undefined) return;
        const { user, password: pass } = server.credentials;
        await act(connection, waiting, (done) => connection.login({ user, pass }, done));
      });
    } catch (error) {
      throw error instanceof Error ? unreachable(error) : error;
    }
    return {
      async send({ from, to }, message) {
        const envelope = { from, to: [to], size: message.length };
        try {
          await within(sendMs, signal, (waiting) =>
            act(connection, waiting, (done) => connection.send(envelope, message, (error) => done(error))),
          );
        } catch (error) {
          throw error instanceof Error ? undelivered(error) : error;
        }
      },
      close() {
        connection.quit();
        setTimeout(() => connection.close(), QUIT_MS).unref();
      },
    };
  };
}
