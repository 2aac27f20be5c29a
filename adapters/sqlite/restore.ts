// Puts a backup in the place of the embedded database: copied beside it and checked first, so that until the last moment, and at
// any failure, the database is as it was. What was there before is kept under another name.
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../src/errors.ts';
import { type BackupResult, checkCopy } from './backup.ts';
import { isBusy } from './connection.ts';

export interface RestoreResult extends BackupResult {
  /** Where the database is that was there before, if there was one. */
  readonly kept: string | undefined;
}

export interface RestoreOptions {
  readonly backup: string;
  /** The database that nobody uses; its folder exists. */
  readonly file: string;
  /** Where the database goes that is there now. */
  readonly keepAs: string;
  /** Stops before anything has changed. */
  readonly signal: AbortSignal;
  readonly onProgress: (what: 'Copying' | 'Checking the copy', done: number, total: number) => void;
}

const PAGE_BYTES = 4_096;
const STEP_BYTES = 8 * 1024 * 1024;
const OWNER_ONLY = 0o600;
const COMPANIONS = ['-wal', '-shm'] as const;

/**
 * Whatever a crash left beside it goes into the file, which then stands alone.
 * @throws OperatorError while a process has it open; a damaged one, which this may be about, is left as it is
 */
function closeDatabase(file: string): void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 1_000 });
    // Leaving this mode needs the file for itself alone (https://sqlite.org/wal.html).
    database.exec('PRAGMA journal_mode = DELETE');
  } catch (error) {
    if (isBusy(error))
      throw new OperatorError(`${file} is in use. Stop the server, and run this again.`, { cause: error });
  } finally {
    database?.close();
  }
}

async function copyFile(from: string, to: string, { signal, onProgress }: RestoreOptions): Promise<number> {
  const total = Math.ceil(statSync(from).size / PAGE_BYTES);
  const [source, target] = [await open(from, 'r'), await open(to, 'wx', OWNER_ONLY)];
  try {
    const step = Buffer.alloc(STEP_BYTES);
    let copied = 0;
    for (;;) {
      onProgress('Copying', Math.ceil(copied / PAGE_BYTES), total);
      signal.throwIfAborted();
      const { bytesRead } = await source.read(step, 0, STEP_BYTES);
      if (bytesRead === 0) break;
      await target.writeFile(step.subarray(0, bytesRead));
      copied += bytesRead;
    }
    await target.sync();
    return total;
  } finally {
    await source.close();
    await target.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** The database is one of the two at any moment; when it cannot be replaced, it is as it was. */
function replace(part: string, { file, keepAs }: RestoreOptions): string | undefined {
  const isThere = existsSync(file);
  if (isThere) linkSync(file, keepAs);
  const moved: string[] = [];
  try {
    // Of a damaged one, or of one that is gone: beside another file they would be read as its latest changes.
    for (const end of COMPANIONS) {
      if (!existsSync(`${file}${end}`)) continue;
      renameSync(`${file}${end}`, `${keepAs}${end}`);
      moved.push(end);
    }
    renameSync(part, file);
    return isThere ? keepAs : undefined;
  } catch (error) {
    for (const end of moved) renameSync(`${keepAs}${end}`, `${file}${end}`);
    if (isThere) rmSync(keepAs);
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isFull = 'code' in error && error.code === 'ENOSPC';
  return isFull ? 'there is no space left beside the database for it' : error.message;
}

/** @throws OperatorError when the database is in use, or the backup is damaged, no database of this product, or not copied */
export async function restoreSqlite(options: RestoreOptions): Promise<RestoreResult> {
  const { backup, file, signal, onProgress } = options;
  if (existsSync(`${backup}-wal`) && statSync(`${backup}-wal`).size > 0)
    throw new OperatorError(`${backup} is a database in use, not a backup. Make one with npm run backup.`);
  if (existsSync(file)) closeDatabase(file);
  const part = `${file}.part`;
  const remove = (): void => {
    for (const end of ['', '-journal', ...COMPANIONS]) rmSync(`${part}${end}`, { force: true });
  };
  let restored: RestoreResult | undefined;
  try {
    remove();
    const pages = await copyFile(backup, part, options);
    const { documents } = await checkCopy({ file: part, pages }, { signal, onProgress });
    if (documents.accounts === undefined || documents.signing_keys === undefined)
      throw new Error('it is no database of Latchkey');
    signal.throwIfAborted();
    for (const end of COMPANIONS) rmSync(`${part}${end}`, { force: true });
    restored = { documents, kept: replace(part, options) };
    await syncFolder(dirname(file));
    return restored;
  } catch (error) {
    const said =
      restored === undefined
        ? `${backup} was not restored: ${reasonOf(error)}. Nothing was changed.`
        : `${file} is ${backup} now, but the disk did not confirm it: ${reasonOf(error)}. Look at the disk before the server starts.`;
    throw new OperatorError(said, { cause: error });
  } finally {
    remove();
  }
}
