// `npm run audit`: known advisories and licences of production packages. Not part of `npm test`, since its result changes
// without a change of ours and it needs the registry.
import { fileURLToPath } from 'node:url';
import { findAdvisories } from './audit/advisories.ts';
import { findForeignLicences } from './audit/licences.ts';
import { parseFlags, runCommand, UsageError } from './command-line.ts';
import { readText } from './file-problem.ts';

const HELP = `Checks the packages of production: known advisories (npm audit) and licences.

Usage: npm run audit -- [--lock FILE]

  --lock FILE   the lock file whose licences are checked (default package-lock.json)

Exit codes: 0 nothing found, or skipped with a line that says so; 1 something was found, 2 invalid options.
`;

const FOUND = 1;
const ROOT = fileURLToPath(new URL('..', import.meta.url));

function readLicences(lockFile: string) {
  const text = readText(lockFile);
  try {
    return findForeignLicences(text);
  } catch {
    throw new UsageError(`${lockFile} is no lock file of npm. Name another one with --lock.`);
  }
}

async function audit(lockFile: string): Promise<boolean> {
  const { count, foreign } = readLicences(lockFile);
  for (const { name, licence } of foreign) console.log(`licence: ${name} has ${licence}`);
  if (foreign.length === 0) console.log(`licences: ${count} packages, all allowed`);

  const outcome = await findAdvisories(ROOT);
  if ('skipped' in outcome) console.log(`skipped: advisories, ${outcome.skipped}`);
  else if (outcome.advisories.length === 0) console.log('advisories: none known');
  else for (const line of outcome.advisories) console.log(`advisory: ${line}`);
  return foreign.length === 0 && ('skipped' in outcome || outcome.advisories.length === 0);
}

await runCommand(async () => {
  const flags = parseFlags(process.argv.slice(2), {
    lock: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  if (flags.help !== true) return (await audit(flags.lock ?? `${ROOT}package-lock.json`)) ? undefined : FOUND;
  console.log(HELP.trimEnd());
  return undefined;
});
