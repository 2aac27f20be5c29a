// Owns when background jobs run: each at its interval, once over all processes, never over itself. A job that fails is
// logged and tried again at its next turn. What the jobs do is in the files beside this one.
import cron from 'node-cron';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { LeaseRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { createJobLeases, LEASE_MS, type Lease } from './lease.ts';

/** What a run did, for the log: `{ removed: 12 }`. */
export type Figures = Readonly<Record<string, number>>;

export interface Job {
  /** Unique; the lease's id. */
  readonly name: string;
  /** Read before each turn, so that a changed setting counts at once. */
  readonly intervalSeconds: () => number;
  /** Ends early when `signal` is aborted: the process stops, or the lease was lost. */
  run(signal: AbortSignal): Promise<Figures>;
}

export interface SchedulerOptions {
  readonly jobs: readonly Job[];
  /** Brings what jobs go by (settings, keys) up to date, before each look: a process without requests has nobody else to. */
  readonly catchUp?: () => Promise<void>;
  readonly leases: EphemeralCollection<LeaseRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'debug'>;
}

export interface Scheduler {
  /** Looks every second which jobs are due. */
  start(): void;
  /** One look: runs what is due here and now, resolves when that has ended. Never rejects. */
  tick(): Promise<void>;
  /** Aborts and awaits what runs; afterwards nothing runs any more. */
  stop(): Promise<void>;
}

const EVERY_SECOND = '* * * * * *';
const RENEW_MS = LEASE_MS / 4;
/** After a store error, ask again then rather than every second. */
const RETRY_MS = 10_000;

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { jobs, catchUp, leases, clock, newId, log } = options;
  const board = createJobLeases({ leases, clock, holder: newId() });
  const restingUntil = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();

  const runUnderLease = async (job: Job, lease: Lease): Promise<void> => {
    const startedAt = clock();
    const lost = new AbortController();
    const renew = async (): Promise<void> => {
      try {
        if (!(await lease.renew())) lost.abort();
      } catch (error) {
        // The store is away for now; the lease outlives several missed renewals.
        log.warn({ job: job.name, err: error }, 'lease not renewed');
      }
    };
    let renewed = Promise.resolve();
    const renewal = setInterval(() => {
      renewed = renewed.then(renew);
    }, RENEW_MS);
    try {
      const figures = await job.run(AbortSignal.any([stopping.signal, lost.signal]));
      const fields = { job: job.name, ms: clock() - startedAt, ...figures };
      if (Object.values(figures).some((figure) => figure > 0)) log.info(fields, 'job done');
      else log.debug(fields, 'job done');
    } catch (error) {
      log.error({ job: job.name, err: error }, 'job failed');
    } finally {
      clearInterval(renewal);
      await renewed;
      const intervalMs = job.intervalSeconds() * 1000;
      // A run that was cut short is due at once, for whoever still lives.
      const dueAt = stopping.signal.aborted ? clock() : startedAt + intervalMs;
      restingUntil.set(job.name, dueAt);
      await lease.release(dueAt);
    }
  };

  const attempt = async (job: Job): Promise<void> => {
    const intervalMs = job.intervalSeconds() * 1000;
    const now = clock();
    const rest = (restingUntil.get(job.name) ?? now) - now;
    if (rest > 0 && rest <= Math.max(intervalMs, LEASE_MS)) return;
    try {
      const outcome = await board.acquire(job.name, intervalMs);
      if ('lease' in outcome) await runUnderLease(job, outcome.lease);
      else restingUntil.set(job.name, outcome.restingUntil);
    } catch (error) {
      restingUntil.set(job.name, clock() + Math.min(RETRY_MS, intervalMs));
      log.error({ job: job.name, err: error }, 'job not scheduled');
    }
  };

  const turn = (job: Job): Promise<void> => {
    const current = running.get(job.name);
    if (current !== undefined || stopping.signal.aborted) return current ?? Promise.resolve();
    const next = attempt(job).finally(() => running.delete(job.name));
    running.set(job.name, next);
    return next;
  };

  const tick = async (): Promise<void> => {
    try {
      await catchUp?.();
    } catch (error) {
      // The store is away: whichever job is due meets that, too, and says so.
      log.debug({ err: error }, 'settings not looked at');
    }
    await Promise.all(jobs.map(turn));
  };

  // node-cron's own notices are of no use: a late tick is made up for by the next one.
  const logger = {
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    debug: () => undefined,
  };
  const task = cron.createTask(EVERY_SECOND, () => void tick(), { logger, suppressMissedWarning: true });

  return {
    start: () => void task.start(),
    tick,
    async stop() {
      stopping.abort();
      await task.destroy();
      await Promise.all(running.values());
    },
  };
}
