// Runs background jobs: each at its interval, one run at a time over all processes. A failed job is logged and runs again
// when it is next due.
import cron from 'node-cron';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { LeaseRecord } from '../store/collections.ts';
import type { EphemeralCollection } from '../store/port.ts';
import { createJobLeases, LEASE_MS, type Lease } from './lease.ts';

/** The result of a run, for the log: `{ removed: 12 }`. */
export type Figures = Readonly<Record<string, number>>;

export interface Job {
  /** Unique; the lease's id. */
  readonly name: string;
  /** Read before each run, so that a changed setting applies at once. With a schedule: the shortest time between two runs. */
  readonly intervalSeconds: () => number;
  /** Cron expression for a job that belongs to times of the clock. It also runs at start where its interval is over. */
  readonly schedule?: string;
  /** Must stop early when `signal` is aborted: the process stops, or the lease was lost. */
  run(signal: AbortSignal): Promise<Figures>;
}

export interface SchedulerOptions {
  readonly jobs: readonly Job[];
  /** Refreshes settings and keys before each tick: in a process without requests nothing else does. */
  readonly beforeTick?: () => Promise<void>;
  /** After the last job, at `stop`. */
  readonly onStopped?: () => Promise<void>;
  readonly leases: EphemeralCollection<LeaseRecord>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'debug'>;
}

export interface Scheduler {
  /** Looks every second for jobs that are due; for those with a schedule once, and then at its times. */
  start(): void;
  /** Runs the jobs that are due here and now; resolves when they have ended. Never rejects. */
  tick(): Promise<void>;
  /** Aborts running jobs and waits for them; no job starts afterwards. */
  stop(): Promise<void>;
}

const LOOK_MS = 1000;
const RENEW_MS = LEASE_MS / 4;
/** Delay before the next attempt after a store error. */
const RETRY_MS = 10_000;

/** Runs one job at a time by name, under its lease. */
function createRunner({ leases, clock, newId, log }: SchedulerOptions) {
  const jobLeases = createJobLeases({ leases, clock, holder: newId() });
  const notBefore = new Map<string, number>();
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();

  /** Renews the lease while the job runs. @returns a function that ends it */
  function keepRenewing(job: Job, lease: Lease, lost: AbortController): () => Promise<void> {
    const renew = async (): Promise<void> => {
      try {
        if (!(await lease.renew())) lost.abort();
      } catch (error) {
        // The store is unavailable for now; the lease outlives several missed renewals.
        log.warn({ job: job.name, err: error }, 'lease not renewed');
      }
    };
    let renewed = Promise.resolve();
    const renewal = setInterval(() => {
      renewed = renewed.then(renew);
    }, RENEW_MS);
    return () => {
      clearInterval(renewal);
      return renewed;
    };
  }

  async function runUnderLease(job: Job, lease: Lease): Promise<void> {
    const startedAt = clock();
    const lost = new AbortController();
    const endRenewing = keepRenewing(job, lease, lost);
    try {
      const figures = await job.run(AbortSignal.any([stopping.signal, lost.signal]));
      const fields = { job: job.name, ms: clock() - startedAt, ...figures };
      if (Object.values(figures).some((figure) => figure > 0)) log.info(fields, 'job done');
      else log.debug(fields, 'job done');
    } catch (error) {
      log.error({ job: job.name, err: error }, 'job failed');
    } finally {
      await endRenewing();
      const intervalMs = job.intervalSeconds() * 1000;
      // An interrupted run is due at once, for another process.
      const dueAt = stopping.signal.aborted ? clock() : startedAt + intervalMs;
      notBefore.set(job.name, dueAt);
      await lease.release(dueAt);
    }
  }

  async function attempt(job: Job): Promise<void> {
    const intervalMs = job.intervalSeconds() * 1000;
    const now = clock();
    const delay = (notBefore.get(job.name) ?? now) - now;
    if (delay > 0 && delay <= Math.max(intervalMs, LEASE_MS)) return;
    try {
      const outcome = await jobLeases.acquire(job.name, intervalMs);
      if ('lease' in outcome) await runUnderLease(job, outcome.lease);
      else notBefore.set(job.name, outcome.notBefore);
    } catch (error) {
      notBefore.set(job.name, clock() + Math.min(RETRY_MS, intervalMs));
      log.error({ job: job.name, err: error }, 'job not scheduled');
    }
  }

  return {
    runIfDue(job: Job): Promise<void> {
      const current = running.get(job.name);
      if (current !== undefined || stopping.signal.aborted) return current ?? Promise.resolve();
      const next = attempt(job).finally(() => running.delete(job.name));
      running.set(job.name, next);
      return next;
    },

    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

// node-cron's own messages are not useful: a job that missed its time runs at the next one.
const silent = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

export function createScheduler(options: SchedulerOptions): Scheduler {
  const { jobs, beforeTick, log } = options;
  const runner = createRunner(options);
  const unscheduled = jobs.filter(({ schedule }) => schedule === undefined);
  let timer: NodeJS.Timeout | undefined;

  async function run(due: readonly Job[]): Promise<void> {
    try {
      await beforeTick?.();
    } catch (error) {
      // The store is unavailable: a job that is due fails for the same reason and logs it.
      log.debug({ err: error }, 'settings not refreshed');
    }
    await Promise.all(due.map(runner.runIfDue));
  }

  const tasks = jobs.flatMap((job) =>
    job.schedule === undefined
      ? []
      : [
          cron.createTask(job.schedule, () => void run([job]), {
            logger: silent,
            suppressMissedWarning: true,
          }),
        ],
  );

  return {
    start() {
      let due = jobs;
      timer = setInterval(() => {
        void run(due);
        due = unscheduled;
      }, LOOK_MS);
      for (const task of tasks) void task.start();
    },
    tick: () => run(jobs),
    async stop() {
      clearInterval(timer);
      await Promise.all([runner.stop(), ...tasks.map((task) => task.destroy())]);
      await options.onStopped?.();
    },
  };
}
