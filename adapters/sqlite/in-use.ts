// Whether another process has a database file open.
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isBusy } from './connection.ts';

/** Only reads, and holds the file no longer than that. A file that is not there is not in use. */
export function isInUse(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // Every connection to a file with a write-ahead log holds a shared lock of it, which excludes this one (sqlite.org/wal.html §7).
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}
