// `npm run conformance`: drives the OpenID Foundation's conformance suite (openid-certification/conformance-suite), where it runs,
// against a provider that runs. docs/conformance.md says how to start both, and what the last run found.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { parseFlags, runCommand, UsageError } from './command-line.ts';
import { type Calls, createCalls } from './conformance/calls.ts';
import { launch } from './conformance/chromium.ts';
import { plans } from './conformance/plans.ts';
import { errorOutcome, type Outcome, runPlan } from './conformance/run.ts';
import { makeFolder } from './file-problem.ts';

const HELP = `Runs the OpenID conformance suite's plans against a provider.

Usage: npm run conformance -- [options]

  --suite URL      the suite (default https://suite.test:8443)
  --base-url URL   the provider (default https://id.suite.test:9443); its admin token is in ADMIN_TOKEN
  --plan NAME      one plan, such as basic or fapi2-oauth; may be repeated (default: all)
  --module NAME    only this module of the chosen plans
  --out FOLDER     also writes each plan's outcomes there as JSON, and the pictures for REVIEW
  --chromium FILE  the browser that opens the pages (default /usr/bin/chromium)
  --help           show this

Exit codes: 0 nothing failed, 1 something did, 2 invalid options or no suite there.
`;

const FAILED = 1;
const GOOD = new Set(['PASSED', 'REVIEW', 'SKIPPED', 'WARNING']);
const PERSON = {
  username: 'conformance',
  password: 'correct horse battery staple 9',
};
/** Whose tokens open the admin API: what the plain OAuth plan of FAPI calls as its API. */
const ADMINISTRATOR = { username: 'conformance-admin', password: 'correct horse battery staple 10' };
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
    module: { type: 'string' },
    out: { type: 'string' },
    chromium: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  const wanted = flags.plan ?? [];
  const chosen = plans.filter(
    ({ name, plan }) => wanted.length === 0 || wanted.includes(name) || wanted.includes(plan),
  );
  const unknown = wanted.find((one) => !plans.some(({ name, plan }) => one === name || one === plan));
  if (unknown !== undefined)
    throw new UsageError(`There is no plan ${unknown}. Plans: ${plans.map(({ name }) => name).join(', ')}`);
  const { ADMIN_TOKEN: adminToken = '' } = process.env;
  if (flags.help !== true && adminToken === '')
    throw new UsageError('ADMIN_TOKEN is not set. It has to be the one that the provider was started with.');
  for (const name of ['suite', 'base-url'] as const) {
    if (flags[name] !== undefined && !URL.canParse(flags[name]))
      throw new UsageError(`--${name} must be a URL, such as https://suite.test:8443.`);
  }
  return {
    ...flags,
    chosen,
    adminToken,
    suite: flags.suite ?? 'https://suite.test:8443',
    baseUrl: flags['base-url'] ?? 'https://id.suite.test:9443',
  };
}

type Options = ReturnType<typeof readOptions>;

async function run(options: Options): Promise<boolean> {
  const { suite, baseUrl, adminToken } = options;
  const calls = createCalls(suite, baseUrl, adminToken);
  // Before the plans, which take an hour.
  if (options.out !== undefined) makeFolder(options.out);
  try {
    await calls.suite('GET', 'runner/available');
  } catch (error) {
    const said = String(error);
    const how = said.includes('certificate')
      ? 'Name its certificate in NODE_EXTRA_CA_CERTS'
      : 'docs/conformance.md says how to start it';
    throw new UsageError(`The suite does not answer at ${suite}. ${how}. (${said})`);
  }
  const browser = await launch(options.chromium ?? '/usr/bin/chromium');
  try {
    return await runPlans(options, calls, browser);
  } finally {
    await browser.close();
  }
}

async function makePeople({ admin }: Calls): Promise<void> {
  const people = [
    { ...PERSON, ...PROFILE },
    { ...ADMINISTRATOR, email: 'conformance-admin@example.com', is_email_verified: true, role: 'admin' },
  ];
  for (const person of people)
    await admin('POST', '/users', person).catch((error: Error) => {
      if (!error.message.includes('taken')) throw error;
    });
}

async function runPlans(options: Options, calls: Calls, browser: Browser): Promise<boolean> {
  const { suite, baseUrl, chosen, out, module } = options;
  await makePeople(calls);
  await calls.admin('PATCH', '/settings', { require_pkce: false, legacy_profiles: true });
  const issuer = `${baseUrl}/oauth2`;
  const target = { suite, baseUrl, issuer, person: PERSON, administrator: ADMINISTRATOR };
  let isGood = true;
  for (const plan of chosen) {
    const outcomes: Outcome[] = [];
    const keep = (outcome: Outcome): void => {
      tell(outcome);
      outcomes.push(outcome);
      if (out === undefined) return;
      // After each module: what ends a run takes no outcome with it.
      const text = JSON.stringify({ ...plan, outcomes }, undefined, 1);
      writeFileSync(join(out, `${plan.name}.json`), `${text}\n`);
    };
    await runPlan({
      plan,
      calls,
      target,
      browser,
      module,
      folder: out === undefined ? undefined : join(out, 'pictures'),
      onOutcome: keep,
    }).catch((error: unknown) => keep(errorOutcome('(the plan)', undefined, error)));
    const counts = Map.groupBy(outcomes, ({ result }) => result);
    const said = [...counts].map(([result, found]) => `${found.length} ${result.toLowerCase()}`).join(', ');
    console.log(`${plan.name}: ${outcomes.length} modules: ${said}`);
    isGood &&= outcomes.every(({ result }) => GOOD.has(result));
  }
  return isGood;
}

function tell({ module, result, findings }: Outcome): void {
  if (result !== 'PASSED') console.log([`  ${result.padEnd(8)} ${module}`, ...findings].join('\n      '));
}

await runCommand(async () => {
  const options = readOptions();
  if (options.help) console.log(HELP.trimEnd());
  else if (!(await run(options))) return FAILED;
  return undefined;
});
