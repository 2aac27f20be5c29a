// `npm run backup -- FILE`: copies the embedded database while it is in use.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { backupSqlite } from '../adapters/sqlite/backup.ts';
import { createProgress, INTERRUPTED, stopOnSignals } from '../src/process/progress.ts';
import { readPlaces, runCommand, UsageError } from './command-line.ts';
import { findEmbedded, isOnMongo } from './embedded-database.ts';
import { assertCreatable } from './file-problem.ts';

const USAGE = 'npm run backup -- FILE';
const HELP = `Copies the embedded database while the server runs.

Usage: ${USAGE}

FILE must not exist yet. The database is taken from DATA_DIR (./data). The key that opens what is sealed in it,
secret.key beside the database or SECRET_KEY, is not in the copy: keep it elsewhere, the copy is worth nothing without.
Ctrl-C stops it and leaves nothing behind. The copy is of the moment at which it begins; nobody waits for it, and until it
is copied the log beside the database grows by what is written.
To restore: stop the server, npm run restore -- FILE, start it.

Exit codes: 0 copied and checked, 1 something went wrong, 2 invalid options or path, 130 stopped by Ctrl-C.`;

async function runBackup(target: string): Promise<number | undefined> {
  const file = findEmbedded();
  if (existsSync(target))
    throw new UsageError(`The file exists: ${target}. A backup never overwrites one: choose another name.`);
  assertCreatable(target);
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
      `${target}: ${total} documents (accounts: ${documents.accounts ?? 0}). Keep secret.key elsewhere.`,
    );
    return undefined;
  } catch (error) {
    progress.end();
    if (stopping.signal.aborted) {
      console.error('Stopped: there is no copy, and the database is as it was. Run the same command again.');
      return INTERRUPTED;
    }
    throw error;
  } finally {
    progress.end();
    stopping.release();
  }
}

await runCommand(() => {
  const places = readPlaces(process.argv.slice(2), ['FILE'], USAGE);
  const [target] = places ?? [];
  if (target === undefined) {
    console.log(HELP);
    return undefined;
  }
  if (isOnMongo())
    throw new UsageError(
      'Everything is in MongoDB here: back it up with mongodump --oplog or your provider.',
    );
  return runBackup(target);
});
