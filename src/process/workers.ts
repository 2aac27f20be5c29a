// Process life cycle: one process or several that share the port, restarts after crashes, stopping on signals within the
// platform's time limit, and uncaught errors (R162). Our own, since node:cluster restarts
// nothing by itself and a process manager would be one more program to install.
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../log.ts';
import { fixableProblem } from './fixable-problem.ts';
import { tellWaiting } from './tell-waiting.ts';

/** Why a process stops: a deployment (SIGTERM), Ctrl-C (SIGINT), or a bug. */
export type StopReason = 'SIGTERM' | 'SIGINT' | 'crash';

export interface Running {
  stop(reason: StopReason): Promise<void>;
  /** What a stop waits for, in words; undefined: nothing that takes long. */
  waitsFor?(): string | undefined;
}

export interface WorkersOptions {
  /** 1: this process does the work itself; more: this number of children share the port. */
  readonly count: number;
  /** Resolves when the process is ready; a rejection is logged and exits with 1. */
  readonly start: () => Promise<Running>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>;
  /** How long `stop` may take; platforms kill at 30 s. */
  readonly graceMs?: number;
}

const GRACE_MS = 26_000;
// npm, shells and platforms forward the same signal several times; only a clearly later one means "stop now".
const FORCE_AFTER_MS = 1_000;
const MIN_RESTART_MS = 500;
const MAX_RESTART_MS = 30_000;
/** A worker that ran this long was healthy: its crash resets the back-off. */
const HEALTHY_MS = 60_000;

const READY = 'ready';

/** Calls `onStop` at the first signal and `onForce` at a clearly later one. */
function onSignals(onStop: (reason: StopReason) => void, onForce: () => void): void {
  let stoppedAt: number | undefined;
  const receive = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (stoppedAt === undefined) {
      stoppedAt = performance.now();
      onStop(signal);
    } else if (performance.now() - stoppedAt > FORCE_AFTER_MS) onForce();
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
    let waitsFor = (): string | undefined => 'the start to end';
    const told = tellWaiting(log, reason, () => waitsFor() ?? 'what runs to end');
    try {
      log.info({ reason }, 'stopping');
      const running = await starting;
      waitsFor = () => running.waitsFor?.();
      await running.stop(reason);
      log.info('stopped');
      process.exit(code);
    } catch (error) {
      log.error({ err: error }, 'stopping failed');
      process.exit(1);
    } finally {
      clearTimeout(force);
      told();
    }
  };
  const stop = (reason: StopReason, code = 0): void => {
    stopping ??= shutDown(reason, code);
  };

  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    // The state of the process is unknown: running requests may end, nothing new starts.
    stop('crash', 1);
  });
  if (cluster.isPrimary) {
    onSignals(stop, () => process.exit(1));
  } else {
    // Ctrl-C signals the whole process group; the primary handles it and stops its workers by SIGTERM. If the primary has died,
    // node:cluster ends the worker.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', () => stop('SIGTERM'));
  }

  try {
    await starting;
    if (cluster.isWorker) process.send?.(READY);
  } catch (error) {
    if (stopping !== undefined) return;
    // For the operator, not a bug: one line that says what to do, without a stack.
    const problem = fixableProblem(error);
    if (problem !== undefined) log.fatal(`start failed: ${problem}`);
    else log.fatal({ err: error }, 'start failed');
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
    tellWaiting(log, reason, () => `the requests of ${live().length} processes to end`);
    for (const worker of live()) worker.process.kill('SIGTERM');
    // After the workers' own grace period; ends those that can no longer run a timer.
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
        // No worker was ever ready, so a restart would fail too.
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
 * Exits with 0 after a clean stop, 1 otherwise; resolves once started (in the primary of several: at once).
 */
export async function runWorkers(options: WorkersOptions): Promise<void> {
  if (options.count > 1 && cluster.isPrimary) runPrimary(options);
  else await runHere(options);
}
