// Copies the embedded database while it is in use: SQLite's online backup gives a consistent copy, which is verified before
// it gets its final name. Another process's commit makes SQLite begin such a copy anew (https://sqlite.org/backup.html), so that beside
// sign-ins it would never end; a read transaction that lasts from the first step to the last keeps the copy's source as it was. Writers
// don't wait for it: what they commit meanwhile stays in the log beside the database.
import { fork } from 'node:child_process';
import { on } from 'node:events';
import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { StoreUnavailable } from '../../src/store/port.ts';
import type { CheckBegins, CheckEnds, CheckFails } from './backup-check.ts';

export type BackupResult = CheckEnds;

// Pages per step; between steps other work runs.
const PAGES = 500;
const OWNER_ONLY = 0o600;
const HEARTBEAT_MS = 1_000;

/** How far a check is between the beginnings of two tables: by the speed of the tables before. */
function createEstimate() {
  const startedAt = performance.now();
  let [last, beganAt, perMs]: [CheckBegins, number, number] = [{ done: 0, next: 0, total: 0 }, startedAt, 0];
  return {
    begin(at: CheckBegins): void {
      [last, beganAt] = [at, performance.now()];
      if (beganAt - startedAt >= HEARTBEAT_MS) perMs = at.done / (beganAt - startedAt);
    },
    /** @returns 0 before the speed is known */
    share(): number {
      if (perMs === 0) return 0;
      const within = Math.min((performance.now() - beganAt) * perMs, last.next);
      return (last.done + within) / last.total;
    },
  };
}

/**
 * In a process of its own: it takes seconds to minutes, in which the caller wants to hear Ctrl-C, and a thread that is in SQLite could
 * not be ended.
 */
export async function checkCopy(
  { file, pages }: { file: string; pages: number },
  { signal, onProgress }: Pick<BackupOptions, 'signal' | 'onProgress'>,
): Promise<BackupResult> {
  const program = fileURLToPath(new URL('./backup-check.ts', import.meta.url));
  const child = fork(program, [file], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const estimate = createEstimate();
  const tell = (): void => {
    const done = Math.floor(estimate.share() * pages);
    onProgress?.('Checking the copy', done, done === 0 ? 0 : pages);
  };
  tell();
  const heartbeat = setInterval(tell, HEARTBEAT_MS);
  try {
    for await (const [said] of on(child, 'message', { ...(signal && { signal }), close: ['exit'] })) {
      const message: CheckBegins | CheckEnds | CheckFails = said;
      if ('problem' in message) throw new Error(message.problem);
      if ('documents' in message) return message;
      estimate.begin(message);
    }
    throw new Error('the copy could not be checked');
  } finally {
    clearInterval(heartbeat);
    child.kill('SIGKILL');
  }
}

interface BackupOptions {
  /** The database, which may be in use. */
  readonly file: string;
  /** A file that does not exist yet; readable by its owner alone. */
  readonly to: string;
  /** Stops between two steps; nothing is left then. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (what: 'Copying' | 'Checking the copy', done: number, total: number) => void;
}

/** @throws StoreUnavailable when there is no such database, the target exists, the copy is damaged, or it was stopped */
export async function backupSqlite(options: BackupOptions): Promise<BackupResult> {
  const { file, to, signal, onProgress } = options;
  if (!existsSync(file)) throw new StoreUnavailable(`There is no database at ${file}.`);
  const part = `${to}.part`;
  try {
    // Created with mode 0600 before it has content, so that no other user can read it; an existing backup is never overwritten.
    if (existsSync(to)) throw new Error('the file exists; choose another name');
    rmSync(part, { force: true });
    closeSync(openSync(part, 'wx', OWNER_ONLY));
    const source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    let pages = 0;
    try {
      const progress = (step: { totalPages: number; remainingPages: number }): void => {
        pages = step.totalPages;
        onProgress?.('Copying', step.totalPages - step.remainingPages, step.totalPages);
        signal?.throwIfAborted();
      };
      source.exec('BEGIN');
      // A transaction begins with its first read.
      source.prepare('SELECT count(*) FROM sqlite_schema').get();
      await backup(source, part, { rate: PAGES, progress });
    } finally {
      source.close();
    }
    const result = await checkCopy({ file: part, pages }, options);
    signal?.throwIfAborted();
    // linkSync fails if the target exists by now, and is atomic.
    linkSync(part, to);
    return result;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`No backup at ${to}: ${reason}`, { cause: error });
  } finally {
    for (const rest of ['', '-wal', '-shm', '-journal']) rmSync(`${part}${rest}`, { force: true });
  }
}
