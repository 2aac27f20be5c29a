// Converts a realm export of the common Java identity server to files for the admin API: groups and clients as one JSON body
// per line, users in files that each fit one import, and notes on what is not converted.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as afterEvents } from 'node:timers/promises';
import {
  createProgress,
  INTERRUPTED,
  Interrupted,
  type Progress,
  stopOnSignals,
} from '../src/process/progress.ts';
import { readPlaces, runCommand } from './command-line.ts';
import { makeFolder, readText } from './file-problem.ts';
import { type Converted, convertInSteps } from './realm/convert.ts';
import { membersOf } from './realm/json.ts';

const USAGE = 'npm run convert-realm -- REALM.json FOLDER';
const HELP = `Converts a realm export of the common Java identity server.

Usage: ${USAGE}

Writes into the folder, to be sent in this order with an administrator's token:
  groups.ndjson        each line to POST /admin/api/groups
  users-001.ndjson …   each file to POST /admin/api/users/import (application/x-ndjson)
  clients.ndjson       each line to POST /admin/api/clients; its answer has the new id and secret
  notes.txt            what needs your attention

Exit codes: 0 converted, 1 the file is no realm export, 2 invalid arguments or path, 130 stopped by Ctrl-C.`;

/** The file holds something else. */
class NoRealm extends Error {
  constructor(source: string, why: string) {
    super(`The realm could not be converted: ${source} ${why}. Export the realm with its users again.`);
  }
}

/** The maximum of one import. */
const ROWS_A_FILE = 5000;

const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

interface Shown {
  readonly progress: Progress;
  /** Lets keys be heard. @throws Interrupted */
  readonly check: () => Promise<void>;
}

async function readRealm(source: string, { progress, check }: Shown): Promise<Converted> {
  progress.update(`Reading ${source}`, 0, 0);
  const text = readText(source);
  let realm: unknown;
  try {
    realm = JSON.parse(text);
  } catch {
    throw new NoRealm(source, 'is not JSON');
  }
  const steps = convertInSteps(membersOf(realm));
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      if (Object.values(step.value).every(({ length }) => length === 0))
        throw new NoRealm(source, 'has no groups, users or clients');
      return step.value;
    }
    progress.update('Converting', step.value.done, step.value.total);
    await check();
  }
}

async function run(source: string, folder: string, shown: Shown): Promise<string> {
  const { groups, users, clients, notes } = await readRealm(source, shown);
  makeFolder(folder);
  // Mode 0600: the files contain password hashes.
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(folder, name), text, { mode: 0o600 });
  await write('groups.ndjson', linesOf(groups));
  for (let start = 0; start < users.length; start += ROWS_A_FILE) {
    shown.progress.update('Writing', start, users.length);
    await shown.check();
    const number = String(start / ROWS_A_FILE + 1).padStart(3, '0');
    await write(`users-${number}.ndjson`, linesOf(users.slice(start, start + ROWS_A_FILE)));
  }
  await write('clients.ndjson', linesOf(clients));
  await write('notes.txt', notes.map((note) => `${note}\n`).join(''));
  return `${groups.length} groups, ${users.length} users, ${clients.length} clients, ${notes.length} notes in ${folder}`;
}

/** With what it is at in a terminal; Ctrl-C stops it between steps. */
async function runShown(source: string, folder: string): Promise<number | undefined> {
  const progress = createProgress({ unit: 'users' });
  const stopping = stopOnSignals((text) => progress.say(text));
  const check = async (): Promise<void> => {
    await afterEvents();
    if (stopping.signal.aborted)
      throw new Interrupted(
        `Stopped: not all files are in ${folder}. Run the same command again, which writes each of them anew.`,
      );
  };
  try {
    progress.say(await run(source, folder, { progress, check }));
    return undefined;
  } catch (error) {
    progress.end();
    if (!(error instanceof Interrupted)) throw error;
    console.error(error.message);
    return INTERRUPTED;
  } finally {
    progress.end();
    stopping.release();
  }
}

await runCommand(async () => {
  const places = readPlaces(process.argv.slice(2), ['REALM.json', 'FOLDER'], USAGE);
  const [source, folder] = places ?? [];
  if (source !== undefined && folder !== undefined) return runShown(source, folder);
  console.log(HELP);
  return undefined;
}, [NoRealm]);
