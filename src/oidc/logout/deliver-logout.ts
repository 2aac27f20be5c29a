// Delivers queued logout tokens: which outcome is final, when the next attempt is due, and how long an application that does not
// respond is left alone, so that its deliveries do not take the time of others (decision 0005).
import { type Clock, isAhead } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import type { LogoutProblem } from '../../store/collections.ts';
import { createLanes } from '../requests/lanes.ts';
import type { LogoutOutcome, SendLogoutToken } from './backchannel-logout.ts';
import { DELAYS_MS, type LogoutDelivery, type LogoutOutbox } from './logout-outbox.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const MAX_ATTEMPTS = DELAYS_MS.length + 1;
/** Of one that had to wait for an application that does not respond. */
const GIVE_UP_MS = 90 * MINUTE;
/** Of an application: shorter, since one attempt shows for all its deliveries whether it is back. */
const MAX_REST_MS = 5 * MINUTE;
const rest = (failures: number): number => Math.min(10 * SECOND * 2 ** (failures - 1), MAX_REST_MS);

/** At once, in this process. An attempt takes 5 s at most (outbound-fetch.ts). */
const LIMITS = { total: 24, perKey: 4, waitingPerKey: 100 } as const;
/** A run takes up no further delivery after this time. */
const RUN_MS = 30 * SECOND;
/** Applications that do not respond, as this process remembers them; beyond that, the oldest is dropped. */
const MAX_OUTAGES = 10_000;

const finalProblems: ReadonlySet<LogoutProblem> = new Set([
  'application_inactive',
  'no_address',
  'not_allowed',
]);
/** What a proxy answers while the application behind it restarts, and what asks for another try (RFC 6585 §4, RFC 8470). */
const passing4xx: ReadonlySet<number> = new Set([404, 408, 421, 423, 425, 429]);
const unavailable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** §2.8 says 200; some frameworks answer 204, and others that they do it later. */
export const isDelivered = (outcome: LogoutOutcome): boolean =>
  'status' in outcome && outcome.status >= 200 && outcome.status < 300;

/** The application refused the token (§2.8: 400), or may not be called: another attempt would end the same way. */
const isFinal = (outcome: LogoutOutcome): boolean =>
  'status' in outcome
    ? outcome.status >= 400 && outcome.status < 500 && !passing4xx.has(outcome.status)
    : finalProblems.has(outcome.problem);

/** Whether the application as a whole did not respond, rather than to this token. */
const isOutage = (outcome: LogoutOutcome): boolean =>
  'status' in outcome ? unavailable.has(outcome.status) : !finalProblems.has(outcome.problem);

interface Outage {
  readonly failures: number;
  readonly until: number;
  readonly outcome: LogoutOutcome;
}

type DeliveryFigures = {
  delivered: number;
  postponed: number;
  failed: number;
};

export interface DeliverLogout {
  /** Makes an attempt as soon as its turn comes, in this process; one that is not made is the job's. Never throws. */
  offer(delivery: LogoutDelivery): void;
  /** Attempts what is due, for a bounded time. @throws StoreUnavailable */
  deliverDue(signal: AbortSignal): Promise<DeliveryFigures>;
}

interface Deps {
  readonly outbox: LogoutOutbox;
  readonly send: SendLogoutToken;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** The applications that do not respond, as far as this process knows. */
function createOutages(clock: Clock) {
  const outages = new Map<string, Outage>();
  const of = (clientId: string): Outage | undefined => {
    const outage = outages.get(clientId);
    return outage !== undefined && isAhead(outage.until, clock(), MAX_REST_MS) ? outage : undefined;
  };
  return {
    of,
    note(clientId: string, outcome: LogoutOutcome): void {
      if (!isOutage(outcome)) {
        outages.delete(clientId);
        return;
      }
      // Attempts that ran side by side failed together.
      if (of(clientId) !== undefined) return;
      const failures = (outages.get(clientId)?.failures ?? 0) + 1;
      outages.delete(clientId);
      const [oldest] = outages.keys();
      if (outages.size >= MAX_OUTAGES && oldest !== undefined) outages.delete(oldest);
      outages.set(clientId, { failures, until: clock() + rest(failures), outcome });
    },
  };
}

export function createDeliverLogout({ outbox, send, clock, log }: Deps): DeliverLogout {
  const lanes = createLanes(LIMITS);
  const outages = createOutages(clock);

  function report({ id, value }: LogoutDelivery, outcome: LogoutOutcome, isLast: boolean): void {
    const fields = { client_id: value.clientId, delivery: id, attempts: value.attempts, ...outcome };
    if (isLast) log.warn({ event: 'logout_failed', ...fields }, 'back-channel logout not delivered');
    else
      log.info(
        { event: 'logout_retried', ...fields },
        'back-channel logout not delivered, tried again later',
      );
  }

  const isOld = ({ value }: LogoutDelivery): boolean => clock() - value.createdAt >= GIVE_UP_MS;

  async function giveUp(delivery: LogoutDelivery, outcome: LogoutOutcome): Promise<'failed'> {
    await outbox.settle(delivery, 'failed', outcome);
    report(delivery, outcome, true);
    return 'failed';
  }

  /** @returns what became of it; undefined when another process has it */
  async function attempt(delivery: LogoutDelivery): Promise<keyof DeliveryFigures | undefined> {
    const { clientId, sub, sid, attempts } = delivery.value;
    const outage = outages.of(clientId);
    if (outage !== undefined) {
      if (isOld(delivery)) return giveUp(delivery, outage.outcome);
      await outbox.postpone(delivery, outage.until);
      return 'postponed';
    }
    // Its last attempts were never settled.
    if (attempts >= MAX_ATTEMPTS && isOld(delivery)) return giveUp(delivery, { problem: 'no_response' });
    const delay = DELAYS_MS[attempts] ?? MINUTE;
    const claimed = await outbox.claim(delivery, clock() + delay);
    if (claimed === undefined) return undefined;
    const outcome = await send({ clientId, sub, sid });
    outages.note(clientId, outcome);
    if (isDelivered(outcome)) {
      await outbox.settle(claimed, 'delivered', outcome);
      return 'delivered';
    }
    if (isFinal(outcome) || claimed.value.attempts >= MAX_ATTEMPTS || isOld(claimed)) {
      return giveUp(claimed, outcome);
    }
    await outbox.settle(claimed, 'queued', outcome);
    report(claimed, outcome, false);
    return 'postponed';
  }

  return {
    offer(delivery) {
      // The claim makes it due again, whatever fails here.
      void lanes.run(delivery.value.clientId, () =>
        attempt(delivery).then(
          () => undefined,
          (error: unknown) => log.warn({ err: error, delivery: delivery.id }, 'back-channel logout failed'),
        ),
      );
    },

    async deliverDue(signal) {
      const figures: DeliveryFigures = { delivered: 0, postponed: 0, failed: 0 };
      const endsAt = performance.now() + RUN_MS;
      const isOver = (): boolean => signal.aborted || performance.now() > endsAt;
      // One that fails here keeps no other from its attempt.
      const errors: unknown[] = [];
      const running: Promise<void>[] = [];
      const take = async (delivery: LogoutDelivery): Promise<void> => {
        if (isOver()) return;
        const became = await attempt(delivery);
        if (became !== undefined) figures[became] += 1;
      };
      for await (const delivery of outbox.due()) {
        if (isOver()) break;
        const run = lanes.run(delivery.value.clientId, () =>
          take(delivery).catch((error: unknown) => void errors.push(error)),
        );
        if (run !== undefined) running.push(run);
      }
      await Promise.all(running);
      const [error] = errors;
      if (error !== undefined) throw error;
      return figures;
    },
  };
}
