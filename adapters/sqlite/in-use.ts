// Whether another process has a database file open.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy, toOutcome } from './connection.ts';

/**
 * A file that is not there is not in use. Writes what a killed process left in the log into the file, as everyone who opens it does.
 * @throws StoreUnavailable it cannot be read
 */
export function isInUse(file: string): boolean {
  if (!existsSync(file)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    // Every connection to a file with a write-ahead log holds a shared lock of it, which excludes this one (sqlite.org/wal.html §7).
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw toOutcome(error);
  } finally {
    database?.close();
  }
}
