// `npm run backup -- FILE`: copies the embedded database while it is in use.
import { join, resolve } from 'node:path';
import { backupSqlite } from '../adapters/sqlite/backup.ts';
import { StoreUnavailable } from '../src/store/port.ts';

const HELP = `Copies the embedded database while the server runs.

  npm run backup -- FILE

FILE must not exist yet. The database is taken from DATA_DIR (./data). The key that opens what is sealed in it,
secret.key beside the database or SECRET_KEY, is not in the copy: keep it elsewhere, the copy is worth nothing without.
To restore: stop the server, put FILE in place of latchkey.db, remove latchkey.db-wal and latchkey.db-shm, start it.`;

const [target, ...more] = process.argv.slice(2);
if (target === '--help') {
  console.log(HELP);
} else if (target === undefined || target.startsWith('-') || more.length > 0) {
  console.error(`One FILE is needed.\n\n${HELP}`);
  process.exitCode = 2;
} else if (process.env.MONGODB_URI || process.env.MONGODB_URI_FILE) {
  console.error('Everything is in MongoDB here: back it up with mongodump --oplog or your provider.');
  process.exitCode = 2;
} else {
  try {
    const dataDir = process.env.DATA_DIR?.trim() || './data';
    const file = join(resolve(dataDir), 'latchkey.db');
    const { documents } = await backupSqlite({ file, to: resolve(target) });
    const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
    console.log(
      `${target}: ${total} documents, ${documents.accounts ?? 0} of them accounts. Keep secret.key elsewhere.`,
    );
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
