// The life of the process: one or several that share the port, restarts of crashed ones, stopping on signals within the
// platform's patience (architecture §7, checklist R158), and errors nobody caught (R162). Our own: node:cluster restarts
// nothing by itself, and a process manager would be one more program to install.
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../log.ts';

/** Why a process stops: a deploy (SIGTERM), a person (SIGINT), or a bug. */
export type StopReason = 'SIGTERM' | 'SIGINT' | 'crash';

export interface Running {
  stop(reason: StopReason): Promise<void>;
}

export interface WorkersOptions {
  /** 1: this process does the work itself; more: that many children share the port. */
  readonly count: number;
  /** Resolves when the process serves; what it rejects with is logged and ends the process with 1. */
  readonly start: () => Promise<Running>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>;
  /** How long `stop` may take; platforms kill at 30 s. */
  readonly graceMs?: number;
}

const GRACE_MS = 25_000;
// npm, shells and platforms pass the same signal on more than once; only a later one is somebody's impatience.
const IMPATIENCE_MS = 1_000;
const MIN_RESTART_MS = 500;
const MAX_RESTART_MS = 30_000;
/** A worker that lived this long was healthy: its crash starts the back-off anew. */
const HEALTHY_MS = 60_000;

const READY = 'ready';

/** Calls `onStop` at the first signal and `onForce` at one that comes clearly later. */
function onSignals(onStop: (reason: StopReason) => void, onForce: () => void): void {
  let stoppedAt: number | undefined;
  const receive = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      onStop(signal);
    } else if (performance.now() - stoppedAt > IMPATIENCE_MS) onForce();
  };
  process.on('SIGTERM', () => receive('SIGTERM'));
  process.on('SIGINT', () => receive('SIGINT'));
}

async function runHere({ start, log, graceMs = GRACE_MS }: WorkersOptions): Promise<void> {
  let stopping: Promise<void> | undefined;
  const starting = start();

  const shutDown = async (reason: StopReason, code: number): Promise<void> => {
    const force = setTimeout(() => {
      log.error({ reason }, 'stopping took too long, leaving now');
      process.exit(1);
    }, graceMs);
    try {
      log.info({ reason }, 'stopping');
      const running = await starting;
      await running.stop(reason);
      log.info('stopped');
      process.exit(code);
    } catch (error) {
      log.error({ err: error }, 'stopping failed');
      process.exit(1);
    } finally {
      clearTimeout(force);
    }
  };
  const stop = (reason: StopReason, code = 0): void => {
    stopping ??= shutDown(reason, code);
  };

  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    // The state of the process is unknown now: what runs may end, nothing new begins.
    stop('crash', 1);
  });
  if (cluster.isPrimary) {
    onSignals(stop, () => process.exit(1));
  } else {
    // A terminal's ^C reaches the whole group; the primary answers it and asks for a stop by SIGTERM. When the primary
    // itself is gone, node:cluster ends the worker.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', () => stop('SIGTERM'));
  }

  try {
    await starting;
    if (cluster.isWorker) process.send?.(READY);
  } catch (error) {
    if (stopping !== undefined) return;
    log.fatal({ err: error }, 'start failed');
    process.exit(1);
  }
}

function runPrimary({ count, log, graceMs = GRACE_MS }: WorkersOptions): void {
  const timers = new Set<NodeJS.Timeout>();
  let isStopping = false;
  let hasServed = false;
  let crashes = 0;
  let exitCode = 0;

  const live = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const leaveWhenAlone = (): void => {
    if (isStopping && live().length === 0) process.exit(exitCode);
  };
  const killAll = (): void => {
    for (const worker of live()) worker.process.kill('SIGKILL');
  };
  const stop = (reason: string): void => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason, workers: live().length }, 'stopping');
    for (const timer of timers) clearTimeout(timer);
    for (const worker of live()) worker.process.kill('SIGTERM');
    // The workers' own grace comes first; this ends those that can't even run a timer.
    setTimeout(killAll, graceMs + 2_000);
    leaveWhenAlone();
  };

  const fork = (): void => {
    const worker = cluster.fork();
    const bornAt = performance.now();
    worker.on('message', (message: unknown) => {
      if (message === READY) hasServed = true;
    });
    worker.on('exit', (code, signal) => {
      if (isStopping) {
        if (code !== 0) exitCode = 1;
        leaveWhenAlone();
        return;
      }
      if (!hasServed) {
        // None of them ever served: the next one would not either.
        log.fatal({ exit_code: code }, 'a worker could not start');
        exitCode = 1;
        stop('start failed');
        return;
      }
      crashes = performance.now() - bornAt > HEALTHY_MS ? 0 : crashes + 1;
      const delayMs = Math.min(MIN_RESTART_MS * 2 ** Math.min(crashes, 10), MAX_RESTART_MS);
      log.error({ worker: worker.process.pid, exit_code: code, signal, delay_ms: delayMs }, 'worker lost');
      const timer = setTimeout(() => {
        timers.delete(timer);
        fork();
      }, delayMs);
      timers.add(timer);
    });
  };

  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    exitCode = 1;
    stop('crash');
  });
  onSignals(stop, () => {
    killAll();
    process.exit(1);
  });
  for (let index = 0; index < count; index += 1) fork();
}

/**
 * Installs the process's signal and error handlers and runs `start` here or in `count` children.
 * Exits 0 after a clean stop, 1 otherwise; resolves once started (in the primary of several: at once).
 */
export async function runWorkers(options: WorkersOptions): Promise<void> {
  if (options.count > 1 && cluster.isPrimary) runPrimary(options);
  else await runHere(options);
}
