// Converts a realm export of the common Java identity server to files for the admin API: groups and clients as one JSON body
// per line, users in files that each fit one import, and notes on what is not converted.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { convertRealm } from './realm/convert.ts';
import { membersOf } from './realm/json.ts';

const HELP = `Usage: sh scripts/with-node.sh scripts/convert-realm.ts <realm.json> <folder>

Writes into the folder, to be sent in this order with an administrator's token:
  groups.ndjson        each line to POST /admin/api/groups
  users-001.ndjson …   each file to POST /admin/api/users/import (application/x-ndjson)
  clients.ndjson       each line to POST /admin/api/clients; its answer has the new id and secret
  notes.txt            what needs your attention`;

/** The maximum of one import. */
const ROWS_A_FILE = 5000;

const linesOf = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

async function run(source: string, folder: string): Promise<void> {
  const { groups, users, clients, notes } = convertRealm(
    membersOf(JSON.parse(await readFile(source, 'utf8'))),
  );
  await mkdir(folder, { recursive: true });
  // Mode 0600: the files contain password hashes.
  const write = (name: string, text: string): Promise<void> =>
    writeFile(join(folder, name), text, { mode: 0o600 });
  await write('groups.ndjson', linesOf(groups));
  for (let start = 0; start < users.length; start += ROWS_A_FILE) {
    const number = String(start / ROWS_A_FILE + 1).padStart(3, '0');
    await write(`users-${number}.ndjson`, linesOf(users.slice(start, start + ROWS_A_FILE)));
  }
  await write('clients.ndjson', linesOf(clients));
  await write('notes.txt', notes.map((note) => `${note}\n`).join(''));
  console.log(
    `${groups.length} groups, ${users.length} users, ${clients.length} clients, ${notes.length} notes in ${folder}`,
  );
}

const [source, folder] = process.argv.slice(2);
if (source === undefined || folder === undefined || source.startsWith('-')) {
  console.error(HELP);
  process.exitCode = 2;
} else {
  await run(source, folder).catch((error: unknown) => {
    console.error(`The realm could not be converted: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  });
}
