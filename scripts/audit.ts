// `npm run audit`: known advisories and licences of production packages. Not part of `npm test`, since its result changes
// without a change of ours and it needs the registry.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findAdvisories } from './audit/advisories.ts';
import { findForeignLicences } from './audit/licences.ts';

const HELP = `Checks the packages of production: known advisories (npm audit) and licences.

Usage: npm run audit -- [--lock FILE]

  --lock FILE   the lock file whose licences are checked (default package-lock.json)

Exit codes: 0 nothing found, or skipped with a line that says so; 1 something was found, 2 invalid options.
`;

const EXIT = { clean: 0, found: 1, usage: 2 } as const;
const ROOT = fileURLToPath(new URL('..', import.meta.url));

function readFlags() {
  try {
    return parseArgs({ options: { lock: { type: 'string' }, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    console.error(error instanceof Error ? error.message.split('\n')[0] : String(error));
    return process.exit(EXIT.usage);
  }
}

async function audit(lockFile: string): Promise<boolean> {
  const { count, foreign } = findForeignLicences(await readFile(lockFile, 'utf8'));
  for (const { name, licence } of foreign) console.log(`licence: ${name} has ${licence}`);
  if (foreign.length === 0) console.log(`licences: ${count} packages, all allowed`);

  const outcome = await findAdvisories(ROOT);
  if ('skipped' in outcome) console.log(`skipped: advisories, ${outcome.skipped}`);
  else if (outcome.advisories.length === 0) console.log('advisories: none known');
  else for (const line of outcome.advisories) console.log(`advisory: ${line}`);
  return foreign.length === 0 && ('skipped' in outcome || outcome.advisories.length === 0);
}

const flags = readFlags();
if (flags.help === true) console.log(HELP.trimEnd());
else process.exitCode = (await audit(flags.lock ?? `${ROOT}package-lock.json`)) ? EXIT.clean : EXIT.found;
