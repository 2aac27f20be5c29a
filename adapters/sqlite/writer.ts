// The write queue. All writes requested during one turn of the event loop share one transaction and so one fsync (group
// commit); callers are answered after the commit, never before.
import { randomInt } from 'node:crypto';
import { StoreUnavailable } from '../../src/store/port.ts';
import { type Connection, isBusy, sqliteCode, toOutcome } from './connection.ts';

export interface Writer {
  /**
   * Runs `act` alone inside a write transaction; resolves after the commit. Acts run in the order of the calls.
   * An act must check first and write last, so that what it throws itself (AlreadyExists, VersionConflict) leaves no
   * change behind and does not affect the other acts of the transaction.
   * @throws StoreUnavailable when the transaction failed and was rolled back
   */
  write<R>(act: () => R): Promise<R>;
  /** @throws StoreUnavailable while writes wait for another process, and from one that failed until a probe is written */
  check(): Promise<void>;
  /** Refuses new writes; resolves when all earlier ones are settled. */
  drain(): Promise<void>;
}

export interface WriterOptions {
  readonly connection: Connection;
  /** How long another process may hold the write lock before waiting writes fail. */
  readonly lockTimeoutMs?: number | undefined;
  /** Further writes are refused at once. */
  readonly maxPending?: number | undefined;
}

interface Pending {
  /** In a transaction of its own: what it may fail of concerns nobody else. */
  readonly isAlone: boolean;
  /** Does the work. @returns a function that resolves the caller's promise, to be called after the commit */
  run(): () => void;
  fail(error: unknown): void;
}

// Upper bound of one transaction, so that readers and other processes get their turn.
const BATCH_MS = 10;
const MAX_BACK_OFF_MS = 20;
/** After this part of the lock's timeout check() tells that writes wait. */
const PATIENCE = 1 / 4;
/** It needs new pages of the file and of its log, and leaves nothing. */
const PROBE = 'CREATE TABLE probe (a); INSERT INTO probe VALUES (zeroblob(65536)); DROP TABLE probe';

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
  let hasFailed = false;
  let probing: Promise<void> | undefined;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function failAll(pending: readonly Pending[], error: unknown): void {
    hasFailed = true;
    const outcome = toOutcome(error);
    for (const { fail } of pending) fail(outcome);
  }

  function rollBack(): void {
    try {
      // After some errors SQLite has already rolled back.
      if (connection.isInTransaction) connection.exec('ROLLBACK');
    } catch {
      // A disk error; the next batch tries again before it begins.
    }
  }

  /** @returns whether this process holds the write lock */
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

  /** Runs queued writes until the time limit. @returns functions that resolve their callers */
  function runBatch(taken: Pending[]): (() => void)[] {
    const answers: (() => void)[] = [];
    const deadline = performance.now() + BATCH_MS;
    for (const pending of queue) {
      if (pending.isAlone && taken.length > 0) break;
      taken.push(pending);
      try {
        answers.push(pending.run());
      } catch (error) {
        // An error of SQLite itself (disk full, I/O) affects the whole transaction: no caller may be answered "done".
        if (sqliteCode(error) !== undefined) throw error;
        answers.push(() => pending.fail(error));
      }
      if (pending.isAlone || performance.now() > deadline) break;
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

  function write<R>(act: () => R, isAlone = false): Promise<R> {
    return new Promise((resolve, reject) => {
      if (isDraining) throw new StoreUnavailable('the store is closed');
      if (queue.length >= maxPending) throw new StoreUnavailable('too many writes are waiting');
      queue.push({
        isAlone,
        run() {
          const result = act();
          return () => resolve(result);
        },
        fail: reject,
      });
      schedule();
    });
  }

  async function probe(): Promise<void> {
    await write(() => connection.exec(PROBE), true);
    hasFailed = false;
  }

  return {
    write: (act) => write(act),

    async check() {
      if (attempts > 0 && performance.now() - lockedSince > lockTimeoutMs * PATIENCE)
        throw new StoreUnavailable('another process keeps writes waiting');
      if (!hasFailed) return;
      probing ??= probe().finally(() => {
        probing = undefined;
      });
      await probing;
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
