// Copies the embedded database while it is in use: SQLite's online backup gives a consistent copy, which is verified before
// it gets its final name.
import { closeSync, existsSync, linkSync, openSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../../src/store/port.ts';

export interface BackupResult {
  /** Number of documents in the copy, by collection. */
  readonly documents: Readonly<Record<string, number>>;
}

// Pages per step; between steps other work runs.
const PAGES = 500;
const OWNER_ONLY = 0o600;

function check(file: string): BackupResult {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const [problem] = copy.prepare('PRAGMA integrity_check').all();
    if (problem?.integrity_check !== 'ok') throw new Error(String(problem?.integrity_check));
    // Tables derived from a collection's table are named <table>__<suffix>.
    const tables = copy
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND instr(name, '__') = 0 ORDER BY name`)
      .all();
    const count = (name: string): number =>
      Number(copy.prepare(`SELECT count(*) AS n FROM "${name.replaceAll('"', '""')}"`).get()?.n);
    return { documents: Object.fromEntries(tables.map(({ name }) => [String(name), count(String(name))])) };
  } finally {
    copy.close();
  }
}

/**
 * @param options.file the database, which may be in use
 * @param options.to a file that does not exist yet; readable by its owner alone
 * @throws StoreUnavailable when there is no such database, the target exists, or the copy is damaged
 */
export async function backupSqlite({ file, to }: { file: string; to: string }): Promise<BackupResult> {
  if (!existsSync(file)) throw new StoreUnavailable(`There is no database at ${file}.`);
  const part = `${to}.part`;
  try {
    // Created with mode 0600 before it has content, so that no other user can read it; an existing backup is never overwritten.
    if (existsSync(to)) throw new Error('the file exists; choose another name');
    rmSync(part, { force: true });
    closeSync(openSync(part, 'wx', OWNER_ONLY));
    const source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      await backup(source, part, { rate: PAGES });
    } finally {
      source.close();
    }
    const result = check(part);
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
