// Sends queued mails in order, one by one. Each is claimed before its attempt, so that a crash causes at most one duplicate
// and no loss. A failing mail delays only later ones to the same address; a failing server delays all,
// with growing intervals.
import { type Clock, isAhead } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { SmtpServer } from '../model/smtp-url.ts';
import { compose, type Sender, wantsLogo } from './compose.ts';
import type { Outbox, QueuedMail } from './outbox.ts';
import type { ServerProof } from './server-proof.ts';
import type { OpenSmtp, SmtpSession } from './smtp.ts';
import type { MailLogo } from './templates.ts';
import { Undelivered } from './undelivered.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A run takes up no further mail after this time. */
const RUN_MS = 30 * SECOND;
/** Of one mail: 1 minute, doubling up to 1 hour. Longer than an attempt can take. */
const backOff = (attempts: number): number => Math.min(MINUTE * 2 ** attempts, HOUR);
/** Of the server: shorter, since it may recover at any time and one attempt serves all mails. */
const MAX_REST_MS = 5 * MINUTE;
const rest = (failures: number): number => Math.min(10 * SECOND * 2 ** (failures - 1), MAX_REST_MS);
const GIVE_UP_MS = 72 * HOUR;

export interface Route {
  readonly server: SmtpServer;
  readonly sender: Sender;
}

/** The operator's logo as it is now. */
export type FindLogo = () => Promise<MailLogo | undefined>;

export type DeliveryFigures = {
  sent: number;
  postponed: number;
  failed: number;
  /** Queued earlier, but no server is configured any more. */
  kept: number;
};

export interface Delivery {
  /**
   * Sends what is due, for a bounded time. On abort, the mail in progress is finished, which is bounded too.
   * @throws StoreUnavailable
   */
  sendDue(signal: AbortSignal): Promise<DeliveryFigures>;
}

export function createDelivery(deps: {
  outbox: Outbox;
  openSmtp: OpenSmtp;
  /** undefined: no server is configured. */
  route: () => Route | undefined;
  logo?: FindLogo | undefined;
  proof: Pick<ServerProof, 'note' | 'noteFailure' | 'forgetFailure'>;
  clock: Clock;
  log: Pick<Logger, 'info' | 'warn'>;
}): Delivery {
  const { outbox, openSmtp, route, logo, proof, clock, log } = deps;
  // Per process: another process asks the server itself.
  let outage = { failures: 0, until: 0, of: '' };

  const isWaiting = ({ value: { dueAt, attempts, outages = 0 } }: QueuedMail): boolean =>
    isAhead(dueAt, clock(), backOff(attempts - outages));

  /** One SMTP session for all mails of a run. */
  function createLine(server: SmtpServer) {
    let session: SmtpSession | undefined;
    const send = async (from: string, to: string, message: Buffer): Promise<void> => {
      const isReused = session !== undefined;
      session ??= await openSmtp(server);
      try {
        await session.send({ from, to }, message);
      } catch (error) {
        session = undefined;
        // Servers end a session after a number of mails; a new session shows whether there is a real error.
        if (!isReused || !(error instanceof Undelivered) || error.consequence !== 'server') throw error;
        await send(from, to, message);
      }
    };
    return { send, close: () => session?.close() };
  }

  async function attempt(mail: QueuedMail, { sender }: Route, send: ReturnType<typeof createLine>['send']) {
    const { to, subject, createdAt } = mail.value;
    const texts = outbox.open(mail.id, mail.value);
    if (texts === undefined)
      throw new Undelivered('later', 'It was sealed with a SECRET_KEY that is no longer listed.');
    try {
      const shown = wantsLogo(texts) ? await logo?.() : undefined;
      await send(
        sender.address,
        to,
        await compose({ id: mail.id, to, subject, createdAt, ...texts }, sender, shown),
      );
    } catch (error) {
      if (error instanceof AppError) throw new Undelivered('never', 'The address is not valid.');
      throw error;
    }
  }

  async function giveUp(mail: QueuedMail, problem: string): Promise<void> {
    await outbox.failed(mail, problem);
    log.warn(
      { event: 'mail_failed', mail: mail.id, template: mail.value.template, problem },
      'mail given up',
    );
  }

  /** @returns whether the run can continue */
  async function settle(
    before: QueuedMail,
    claimed: QueuedMail,
    { consequence, message }: Undelivered,
    figures: DeliveryFigures,
  ): Promise<boolean> {
    const isOld = clock() - before.value.createdAt >= GIVE_UP_MS;
    if (consequence === 'never' || isOld) {
      await giveUp(claimed, message);
      figures.failed += 1;
    } else {
      if (consequence === 'server') await outbox.release(claimed, before, message);
      else await outbox.postpone(claimed, message);
      figures.postponed += 1;
    }
    return consequence !== 'server';
  }

  async function noteOutage(way: Route, of: string, problem: string): Promise<void> {
    const failures = outage.failures + 1;
    outage = { failures, until: clock() + rest(failures), of };
    if (failures > 1) return;
    log.warn({ event: 'mail_server_away', problem }, 'mail server is unavailable');
    await proof.noteFailure(way, problem);
  }

  async function noteService(): Promise<void> {
    const wasAway = outage.failures > 0;
    outage = { failures: 0, until: 0, of: '' };
    if (!wasAway) return;
    log.info({ event: 'mail_server_back' }, 'mail server is available again');
    await proof.forgetFailure();
  }

  async function sendAll(
    isOver: () => boolean,
    way: Route,
    of: string,
    figures: DeliveryFigures,
  ): Promise<void> {
    const line = createLine(way.server);
    const held = new Set<string>();
    try {
      for await (const mail of outbox.queued()) {
        if (isOver()) return;
        const { to, attempts, outages = 0 } = mail.value;
        if (held.has(to)) continue;
        const claimed = isWaiting(mail)
          ? undefined
          : await outbox.claim(mail, clock() + backOff(attempts - outages));
        if (claimed === undefined) {
          held.add(to);
          continue;
        }
        try {
          await attempt(mail, way, line.send);
        } catch (error) {
          if (!(error instanceof Undelivered)) throw error;
          held.add(to);
          if (await settle(mail, claimed, error, figures)) continue;
          await noteOutage(way, of, error.message);
          return;
        }
        await outbox.sent(claimed);
        await noteService();
        await proof.note(way);
        figures.sent += 1;
      }
    } finally {
      line.close();
    }
  }

  return {
    async sendDue(signal) {
      const figures: DeliveryFigures = { sent: 0, postponed: 0, failed: 0, kept: 0 };
      const way = route();
      if (way === undefined) {
        for await (const mail of outbox.queued()) {
          if (signal.aborted) break;
          // A claimed mail may be in delivery by another process, which may still have older settings.
          const isFree = !isWaiting(mail);
          if (isFree && (await outbox.keep(mail)) !== undefined) figures.kept += 1;
        }
        return figures;
      }
      // Changed settings mean another server.
      const of = JSON.stringify([way.server, way.sender.address]);
      if (outage.of !== of) outage = { failures: 0, until: 0, of };
      if (isAhead(outage.until, clock(), MAX_REST_MS)) return figures;
      const endsAt = performance.now() + RUN_MS;
      await sendAll(() => signal.aborted || performance.now() > endsAt, way, of, figures);
      if (outage.failures === 0) return figures;
      for await (const mail of outbox.queued({ createdBefore: clock() - GIVE_UP_MS })) {
        if (signal.aborted) break;
        await giveUp(mail, mail.value.lastError ?? 'The server was unavailable all the time.');
        figures.failed += 1;
      }
      return figures;
    },
  };
}
