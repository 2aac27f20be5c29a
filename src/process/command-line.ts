// What the product's processes say to arguments: they take none but these two, since everything is set in the environment.
// It is answered before the program is loaded.
import { parseArgs } from 'node:util';
import { version } from './version.ts';

const EXIT = { answered: 0, usage: 2 } as const;

const ENVIRONMENT = `Everything is set in the environment, and everything has a default. The most common:

  PORT             the port to listen on (3000)
  BASE_URL         the public address (http://localhost:PORT)
  DATA_DIR         the folder of the embedded database and its key (./data)
  SECRET_KEY       seals secrets and signs cookies (created in DATA_DIR)
  MONGODB_URI      a MongoDB instead of the embedded database; with REDIS_URL a Redis beside it
  ADMIN_USERNAME   with ADMIN_PASSWORD: the first administrator, without the onboarding page
  TRUST_PROXY      the number of proxies in front (0)
  LOG_LEVEL        fatal, error, warn, info, debug, trace or silent (info)

All of them: docs/configuration.md. What is wrong with one is said at the start, all at once.`;

export const WEB_HELP = `Latchkey, an OAuth 2.0 and OpenID Connect provider.

Usage: npm start

${ENVIRONMENT}

  --help, -h       show this
  --version        show the version

Ctrl-C stops it after the requests that are running, twice at once. Exit codes: 0 stopped, 1 could not start or crashed, 2 invalid options.`;

export const WORKER_HELP = `Runs Latchkey's background jobs without serving, beside servers on the same MongoDB.

Usage: sh scripts/with-node.sh src/worker.ts

${ENVIRONMENT}

  --help, -h       show this
  --version        show the version

Exit codes: 0 stopped, 1 could not start or crashed, 2 invalid options.`;

/** @returns the exit code when the arguments ask for something else than to start */
export function answerArguments(args: readonly string[], help: string): number | undefined {
  if (args.length === 0) return undefined;
  try {
    const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...args], options });
    process.stdout.write(`${values.help === true ? help : version}\n`);
    return EXIT.answered;
  } catch (error) {
    // Node's message names the option; its further lines are advice about syntax.
    const [problem = ''] = error instanceof Error ? error.message.split('\n') : [];
    process.stderr.write(
      `${problem}\nNothing was started. Try --help; settings are set in the environment.\n`,
    );
    return EXIT.usage;
  }
}
