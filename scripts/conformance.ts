// `npm run conformance`: drives the OpenID Foundation's conformance suite (openid-certification/conformance-suite), where it runs,
// against a provider that runs. docs/conformance.md says how to start both, and what the last run found.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseFlags, UsageError } from './command-line.ts';
import { createCalls } from './conformance/calls.ts';
import { plans } from './conformance/plans.ts';
import { runPlan } from './conformance/run.ts';

const HELP = `Runs the OpenID conformance suite's plans against a provider.

Usage: npm run conformance -- [options]

  --suite URL      the suite (default https://suite.test:8443)
  --base-url URL   the provider (default https://localhost:9443); its admin token is in ADMIN_TOKEN
  --plan NAME      one plan, such as basic or oidcc-basic-certification-test-plan; may be repeated (default: all)
  --out FOLDER     also writes each plan's outcomes there as JSON
  --help           show this

Exit codes: 0 nothing failed, 1 something did, 2 invalid options or no suite there.
`;

const EXIT = { failed: 1, usage: 2 } as const;
const GOOD = new Set(['PASSED', 'REVIEW', 'SKIPPED', 'WARNING']);
const PERSON = {
  username: 'conformance',
  password: 'correct horse battery staple 9',
};
/** A person with every claim, so that the suite finds each. */
const PROFILE = {
  email: 'conformance@example.com',
  is_email_verified: true,
  given_name: 'Connie',
  family_name: 'Formance',
  middle_name: 'Anne',
  nickname: 'connie',
  profile: 'https://example.com/connie',
  picture: 'https://example.com/connie.png',
  website: 'https://example.com',
  gender: 'female',
  birthdate: '1987-10-16',
  zoneinfo: 'Europe/Berlin',
  locale: 'en-US',
  phone_number: '+4915112345678',
  phone_number_verified: true,
  address: { street_address: '1 Main St', locality: 'Berlin', postal_code: '10115', country: 'DE' },
};

function readOptions() {
  const flags = parseFlags(process.argv.slice(2), {
    suite: { type: 'string' },
    'base-url': { type: 'string' },
    plan: { type: 'string', multiple: true },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  const wanted = flags.plan ?? [];
  const chosen = plans.filter(
    ({ name }) =>
      wanted.length === 0 ||
      wanted.some((one) => name === one || name === `oidcc-${one}-certification-test-plan`),
  );
  if (chosen.length === 0)
    throw new UsageError(`There is no such plan. Plans: ${plans.map(({ name }) => name).join(', ')}`);
  const { ADMIN_TOKEN: adminToken = '' } = process.env;
  if (flags.help !== true && adminToken === '') throw new UsageError('ADMIN_TOKEN is not set.');
  return {
    ...flags,
    chosen,
    adminToken,
    suite: flags.suite ?? 'https://suite.test:8443',
    baseUrl: flags['base-url'] ?? 'https://localhost:9443',
  };
}

async function run(options: ReturnType<typeof readOptions>): Promise<boolean> {
  const { suite, baseUrl, adminToken, chosen, out } = options;
  const calls = createCalls(suite, baseUrl, adminToken);
  try {
    await calls.suite('GET', 'runner/available');
  } catch (error) {
    throw new UsageError(
      `The suite does not answer at ${suite} (${String(error)}). docs/conformance.md says how to start it.`,
    );
  }
  await calls.admin('POST', '/users', { ...PERSON, ...PROFILE }).catch((error: Error) => {
    if (!error.message.includes('taken')) throw error;
  });
  await calls.admin('PATCH', '/settings', { require_pkce: false, legacy_profiles: true });
  const target = { suite, baseUrl, adminToken, issuer: `${baseUrl}/oauth2`, person: PERSON };
  let isGood = true;
  for (const plan of chosen) {
    const outcomes = await runPlan(plan, calls, target, ({ module, result, findings }) => {
      if (result !== 'PASSED') console.log([`  ${result.padEnd(8)} ${module}`, ...findings].join('\n      '));
    });
    const counts = Map.groupBy(outcomes, ({ result }) => result);
    const said = [...counts].map(([result, found]) => `${found.length} ${result.toLowerCase()}`).join(', ');
    console.log(`${plan.name}: ${outcomes.length} modules: ${said}`);
    isGood &&= outcomes.every(({ result }) => GOOD.has(result));
    if (out === undefined) continue;
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, `${plan.name}.json`), `${JSON.stringify({ ...plan, outcomes }, undefined, 1)}\n`);
  }
  return isGood;
}

try {
  const options = readOptions();
  if (options.help) console.log(HELP);
  else if (!(await run(options))) process.exitCode = EXIT.failed;
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = EXIT.usage;
}
