// Owns talking to the mail server (one door to nodemailer, with compose.ts): a session that is opened once and hands over
// one mail after another. Every wait is bounded, each act as a whole too: a server that drips a byte now and then gets
// nowhere (checklist R165).
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import { isLoopbackHost } from '../config/parsers.ts';
import type { SmtpServer } from '../config/smtp-url.ts';
import { undelivered, unreachable } from './undelivered.ts';

export interface Envelope {
  readonly from: string;
  readonly to: string;
}

export interface SmtpSession {
  /** Resolves when the server has taken the mail. @throws Undelivered; the session is of no use then */
  send(envelope: Envelope, message: Buffer): Promise<void>;
  /** Takes leave and hangs up, without waiting for it. */
  close(): void;
}

/** @param signal ends waiting early. @throws Undelivered with `server` */
export type OpenSmtp = (server: SmtpServer, signal?: AbortSignal) => Promise<SmtpSession>;

export interface SmtpOptions {
  /** How we introduce ourselves (RFC 5321 §4.1.1.1): a host name, or an address in brackets. */
  readonly name: string;
  /** The longest wait for an answer, and for connecting, encrypting and signing in as a whole. */
  readonly waitMs?: number;
  /** The longest that handing over one mail may take as a whole. */
  readonly sendMs?: number;
}

const isLoopback = (host: string): boolean => host === '::1' || isLoopbackHost(host.toLowerCase());

/**
 * Credentials go over verified TLS only, but on this machine. A certificate is not looked at where we would go on without
 * TLS anyway (RFC 7435 opportunistic security): refusing would not stop an attacker, only a server on a private network.
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
 * One act on the connection, bounded as a whole. After a failure it is closed: nobody knows what state the server is in.
 * @param waiting ends the wait
 */
function act(connection: SMTPConnection, waiting: AbortSignal, run: (done: Done) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = (): void => reject(Object.assign(new Error('Too late'), { code: 'ETIMEDOUT' }));
  // Where the client closes without an error, or tells it after that: the first to reject counts.
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

/** @param ms the longest that `run` may wait for anything; `signal` may end it before */
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
    const connection = new SMTPConnection({
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
    // Between acts nobody waits for an error; the next act meets a closed connection.
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
