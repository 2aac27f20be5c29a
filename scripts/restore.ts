// `npm run restore -- FILE`: puts a backup in the place of the embedded database.
import { dirname } from 'node:path';
import { restoreSqlite } from '../adapters/sqlite/restore.ts';
import { createProgress, INTERRUPTED, stopOnSignals } from '../src/process/progress.ts';
import { readPlaces, runCommand, UsageError } from './command-line.ts';
import { embeddedFile, isOnMongo } from './embedded-database.ts';
import { assertReadable, makeFolder } from './file-problem.ts';

const USAGE = 'npm run restore -- FILE';
const HELP = `Puts a backup in the place of the embedded database.

Usage: ${USAGE}

Stop the server first. FILE is a backup of npm run backup, and stays. It is copied to DATA_DIR (./data) and checked before anything
changes; the database that is there now is kept beside it as latchkey.db.before-TIME. The key that the backup was made with,
secret.key beside the database or SECRET_KEY, has to be there. Ctrl-C stops it and leaves the database as it was.

Exit codes: 0 restored, 1 something went wrong, 2 invalid options or path, 130 stopped by Ctrl-C.`;

const OWNER_ONLY = 0o700;

async function runRestore(backup: string): Promise<number | undefined> {
  assertReadable(backup);
  const file = embeddedFile();
  makeFolder(dirname(file), OWNER_ONLY);
  const time = new Date()
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(/[:-]/g, '');
  const progress = createProgress({ unit: 'pages' });
  const { signal, release } = stopOnSignals((text) => progress.say(text));
  try {
    const { documents, kept } = await restoreSqlite({
      backup,
      file,
      keepAs: `${file}.before-${time}`,
      signal,
      onProgress: progress.update,
    });
    const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
    progress.say(
      `${file} is ${backup} now: ${total} documents, ${documents.accounts ?? 0} of them accounts.`,
    );
    progress.say(
      kept === undefined
        ? 'Start the server.'
        : `The database before is ${kept}: remove it when the server has started and all is well.`,
    );
    return undefined;
  } catch (error) {
    progress.end();
    if (!signal.aborted) throw error;
    console.error('Stopped: the database is as it was. Run the same command again.');
    return INTERRUPTED;
  } finally {
    progress.end();
    release();
  }
}

await runCommand(() => {
  const places = readPlaces(process.argv.slice(2), ['FILE'], USAGE);
  const [backup] = places ?? [];
  if (backup === undefined) {
    console.log(HELP);
    return undefined;
  }
  if (isOnMongo())
    throw new UsageError(
      'Everything is in MongoDB here: restore it with mongorestore --oplogReplay or your provider.',
    );
  return runRestore(backup);
});
