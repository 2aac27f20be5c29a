// `npm run backup -- FILE`: copies the embedded database while it is in use.
import { join, resolve } from 'node:path';
import { backupSqlite } from '../adapters/sqlite/backup.ts';
import { fixableProblem } from '../src/process/fixable-problem.ts';
import { StoreUnavailable } from '../src/store/port.ts';
import { createProgress, INTERRUPTED, stopOnSignals } from './progress.ts';

const HELP = `Copies the embedded database while the server runs.

  npm run backup -- FILE

FILE must not exist yet. The database is taken from DATA_DIR (./data). The key that opens what is sealed in it,
secret.key beside the database or SECRET_KEY, is not in the copy: keep it elsewhere, the copy is worth nothing without.
Ctrl-C stops it and leaves nothing behind.
To restore: stop the server, put FILE in place of latchkey.db, remove latchkey.db-wal and latchkey.db-shm, start it.`;

async function runBackup(target: string): Promise<void> {
  const dataDir = process.env.DATA_DIR?.trim() || './data';
  const file = join(resolve(dataDir), 'latchkey.db');
  const progress = createProgress({ unit: 'pages' });
  const stopping = stopOnSignals((text) => progress.say(text));
  try {
    const { documents } = await backupSqlite({
      file,
      to: resolve(target),
      signal: stopping.signal,
      onProgress: progress.update,
    });
    const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
    progress.say(
      `${target}: ${total} documents, ${documents.accounts ?? 0} of them accounts. Keep secret.key elsewhere.`,
    );
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    progress.end();
    if (stopping.signal.aborted) {
      console.error('Stopped: there is no copy, and the database is as it was. Run the same command again.');
      process.exitCode = INTERRUPTED;
    } else {
      console.error(fixableProblem(error) ?? error.message);
      process.exitCode = 1;
    }
  } finally {
    progress.end();
    stopping.release();
  }
}

const [target, ...more] = process.argv.slice(2);
if (target === '--help' || target === '-h') {
  console.log(HELP);
} else if (target?.startsWith('-')) {
  console.error(`Unknown option '${target}'\nTry --help.`);
  process.exitCode = 2;
} else if (target === undefined || more.length > 0) {
  console.error(`One FILE is needed.\n\n${HELP}`);
  process.exitCode = 2;
} else if (process.env.MONGODB_URI || process.env.MONGODB_URI_FILE) {
  console.error('Everything is in MongoDB here: back it up with mongodump --oplog or your provider.');
  process.exitCode = 2;
} else await runBackup(target);
