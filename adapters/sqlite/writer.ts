// Owns the write queue: everything that asks to be written during one turn of the event loop goes to the disk in one
// transaction. One fsync then serves many callers (group commit); each is answered after the commit, never before.
import { randomInt } from 'node:crypto';
import { StoreUnavailable } from '../../src/store/port.ts';
import { type Connection, isBusy, sqliteCode, toOutcome } from './connection.ts';

export interface Writer {
  /**
   * Runs `act` alone inside a write transaction; resolves after its commit. Acts run in the order of the calls.
   * An act looks first and changes what others can see last, so what it throws itself (AlreadyExists,
   * VersionConflict) leaves nothing behind and touches no neighbour.
   * @throws StoreUnavailable when the transaction failed, and nothing of it happened
   */
  write<R>(act: () => R): Promise<R>;
  /** Refuses new writes, resolves when all earlier ones are settled. */
  drain(): Promise<void>;
}

export interface WriterOptions {
  readonly connection: Connection;
  /** How long another process may hold the write lock before everybody who waits is told. */
  readonly lockTimeoutMs?: number | undefined;
  /** More waiting writes than this are refused at once. */
  readonly maxPending?: number | undefined;
}

interface Pending {
  /** Does the work. @returns what tells the caller, to be called after the commit */
  run(): () => void;
  fail(error: unknown): void;
}

// So long may one transaction collect before it commits; readers and other processes get their turn in between.
const BATCH_MS = 10;
const MAX_BACK_OFF_MS = 20;

export function createWriter({
  connection,
  lockTimeoutMs = 9_000,
  maxPending = 50_000,
}: WriterOptions): Writer {
  let queue: Pending[] = [];
  let isScheduled = false;
  let isDraining = false;
  let drained: (() => void) | undefined;
  let attempts = 0;
  let lockedSince = 0;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function failAll(pending: readonly Pending[], error: unknown): void {
    const outcome = toOutcome(error);
    for (const { fail } of pending) fail(outcome);
  }

  function rollBack(): void {
    try {
      // SQLite has rolled back by itself after some errors.
      if (connection.isInTransaction) connection.exec('ROLLBACK');
    } catch {
      // The disk refuses even this; the next batch tries again before it begins.
    }
  }

  /** @returns whether the write lock is ours */
  function begin(): boolean {
    try {
      rollBack();
      connection.statement('BEGIN IMMEDIATE').run();
      attempts = 0;
      return true;
    } catch (error) {
      const now = performance.now();
      if (attempts === 0) lockedSince = now;
      attempts += 1;
      if (isBusy(error) && now - lockedSince < lockTimeoutMs) {
        isScheduled = true;
        setTimeout(flush, randomInt(1, 2 + Math.min(attempts, MAX_BACK_OFF_MS)));
        return false;
      }
      attempts = 0;
      failAll(queue, error);
      queue = [];
      return false;
    }
  }

  /** Runs what is queued until the time is up. @returns how many were taken, and what to tell them */
  function runBatch(taken: Pending[]): (() => void)[] {
    const answers: (() => void)[] = [];
    const deadline = performance.now() + BATCH_MS;
    for (const pending of queue) {
      taken.push(pending);
      try {
        answers.push(pending.run());
      } catch (error) {
        // An error of SQLite itself (disk full, I/O) says nothing about the neighbours' rows: nobody is told "done".
        if (sqliteCode(error) !== undefined) throw error;
        answers.push(() => pending.fail(error));
      }
      if (performance.now() > deadline) break;
    }
    return answers;
  }

  function transact(): void {
    const taken: Pending[] = [];
    try {
      const answers = runBatch(taken);
      connection.statement('COMMIT').run();
      for (const answer of answers) answer();
    } catch (error) {
      rollBack();
      failAll(taken, error);
    }
    queue = queue.slice(taken.length);
  }

  function flush(): void {
    isScheduled = false;
    if (queue.length > 0 && begin()) transact();
    if (queue.length > 0) schedule();
    else drained?.();
  }

  return {
    write(act) {
      return new Promise((resolve, reject) => {
        if (isDraining) throw new StoreUnavailable('the store is closed');
        if (queue.length >= maxPending) throw new StoreUnavailable('too many writes are waiting');
        queue.push({
          run() {
            const result = act();
            return () => resolve(result);
          },
          fail: reject,
        });
        schedule();
      });
    },

    drain() {
      isDraining = true;
      return new Promise((resolve) => {
        drained = resolve;
        if (queue.length === 0) resolve();
      });
    },
  };
}
