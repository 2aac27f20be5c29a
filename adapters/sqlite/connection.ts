// One connection to the database file: the pragmas that durability depends on, prepared statements, reads that wait for a
// lock, and the mapping of SQLite's errors to the contract's.
import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/store/port.ts';
import { fold } from '../document.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import { createRowCache, type RowCache } from './row-cache.ts';

export interface Connection {
  /** Prepared at first use and cached. */
  statement(sql: string): StatementSync;
  /** For pragmas, transactions and schema; no parameters. */
  exec(sql: string): void;
  readonly isInTransaction: boolean;
  /** Runs `act` inside a transaction; what it throws takes back what it wrote, and nothing else. */
  nested(act: () => void): void;
  /** Runs a read. @throws StoreUnavailable when SQLite cannot answer */
  read<R>(act: () => R): Promise<R>;
  /** Runs `act` while SQLite itself waits for locks. It blocks the event loop, so it is for the start only. */
  withBusyWait<R>(act: () => R): R;
  readonly dataVersion: DataVersion;
  readonly rows: RowCache;
  close(): void;
}

// Longer than several processes need to start on one new file, shorter than a supervisor's start timeout.
const START_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 5_000;
// Query statements differ by their filters; the bound keeps many variants from exhausting memory.
const MAX_STATEMENTS = 500;

const BUSY = 5;
const PROTOCOL = 15;
const CONSTRAINT = 19;

/** @returns the primary result code (https://sqlite.org/rescode.html), undefined for other errors */
export function sqliteCode(error: unknown): number | undefined {
  const isSqlite = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
  return isSqlite ? Number(error.errcode) & 0xff : undefined;
}

/** Another connection holds the lock or recovers the log: worth a retry. */
export const isBusy = (error: unknown): boolean => [BUSY, PROTOCOL].includes(sqliteCode(error) ?? 0);

export const isUniqueClash = (error: unknown): boolean => sqliteCode(error) === CONSTRAINT;

/** @returns StoreUnavailable for an error of SQLite; any other error unchanged */
export function toOutcome(error: unknown): unknown {
  if (sqliteCode(error) !== undefined && error instanceof Error) {
    return new StoreUnavailable(`SQLite: ${error.message}`, { cause: error });
  }
  const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
  return isClosed ? new StoreUnavailable('the store is closed', { cause: error }) : error;
}

const pauseSync = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

/** SQLite's own busy timeout does not cover several processes changing the journal mode of a new file at once. */
function retrySync<R>(act: () => R): R {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      pauseSync(randomInt(1, 11));
    }
  }
}

function setPragma(
  database: DatabaseSync,
  name: string,
  wanted: string | number,
  reads: string | number = wanted,
): void {
  retrySync(() => database.exec(`PRAGMA ${name} = ${wanted}`));
  // Some pragmas are ignored without an error (WAL on a file system without shared memory), so read the value back.
  const actual = Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  if (actual !== reads) throw new Error(`SQLite: ${name} is ${String(actual)} instead of ${reads}`);
}

function configure(database: DatabaseSync): void {
  setPragma(database, 'busy_timeout', START_TIMEOUT_MS);
  setPragma(database, 'journal_mode', 'WAL', 'wal');
  // FULL: a commit is on disk before it is acknowledged (C15); NORMAL may lose the last commits on power loss.
  setPragma(database, 'synchronous', 'FULL', 2);
  setPragma(database, 'foreign_keys', 'ON', 1);
  setPragma(database, 'cache_size', -16_384);
  setPragma(database, 'temp_store', 'MEMORY', 2);
  // A page that many commits change is copied back once. Four times as many stop the event loop for longer (the commit that
  // copies them waits for the disk), and a process that starts after kill -9 would read 64 MiB of log first.
  setPragma(database, 'wal_autocheckpoint', 4_000);
  // Truncate the log after a burst of writes.
  setPragma(database, 'journal_size_limit', 64 * 1024 * 1024);
  database.function('fold', { deterministic: true }, (text) =>
    typeof text === 'string' ? fold(text) : text,
  );
}

/** Readable by the owner only; SQLite gives its log files the same mode. */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Never open an existing file here: closing it would release the POSIX locks of this process's other connections.
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw error;
  }
}

function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    createFile(file);
    database = new DatabaseSync(file, { timeout: START_TIMEOUT_MS });
    configure(database);
    return database;
  } catch (error) {
    database?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The database ${file} cannot be opened: ${reason}`, { cause: error });
  }
}

/** @throws StoreUnavailable when the file cannot be opened, or not with the guarantees of the contract */
export function openConnection(file: string): Connection {
  const database = openDatabase(file);
  const statements = new Map<string, StatementSync>();

  function statement(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    const [oldest] = statements.keys();
    if (oldest !== undefined && statements.size >= MAX_STATEMENTS) statements.delete(oldest);
    const prepared = database.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  }

  async function readLater<R>(act: () => R): Promise<R> {
    const deadline = performance.now() + READ_TIMEOUT_MS;
    for (;;) {
      await sleep(randomInt(1, 11));
      try {
        return act();
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw toOutcome(error);
      }
    }
  }

  function withBusyWait<R>(act: () => R): R {
    database.exec(`PRAGMA busy_timeout = ${START_TIMEOUT_MS}`);
    try {
      return act();
    } finally {
      database.exec('PRAGMA busy_timeout = 0');
    }
  }

  // From here on, waiting happens between turns of the event loop, never inside SQLite.
  setPragma(database, 'busy_timeout', 0);
  const dataVersion = createDataVersion(statement('PRAGMA data_version'));
  return {
    statement,
    exec: (sql) => database.exec(sql),
    get isInTransaction() {
      return database.isTransaction;
    },
    nested(act) {
      statement('SAVEPOINT nested').run();
      try {
        act();
      } catch (error) {
        // SQLite's own errors end the whole transaction (writer.ts), and may have done so already.
        if (sqliteCode(error) === undefined) statement('ROLLBACK TO nested').run();
        throw error;
      } finally {
        if (database.isTransaction) statement('RELEASE nested').run();
      }
    },
    // In WAL mode readers wait only while the log is recovered or removed.
    async read(act) {
      try {
        return act();
      } catch (error) {
        if (!isBusy(error)) throw toOutcome(error);
        return readLater(act);
      }
    },
    withBusyWait,
    dataVersion,
    rows: createRowCache(dataVersion),
    close: () => database.close(),
  };
}
