// Creates the first administrator from the terminal: the same operation as the onboarding page, on the same store, also while
// servers are running.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { createReader, type Environment } from '../src/config/environment.ts';
import { ConfigError, loadConfig } from '../src/config/load.ts';
import { AppError } from '../src/errors.ts';
import { createLogger } from '../src/log.ts';
import { parseFlags, UsageError } from './command-line.ts';

const HELP = `Creates the first administrator, without a browser.

Usage: sh scripts/with-node.sh scripts/create-admin.ts --username NAME [options]

  --username NAME     3 to 64 characters (or ADMIN_USERNAME)
  --email ADDRESS     optional (or ADMIN_EMAIL)
  --password-stdin    read the password from standard input, up to the first line end
  --help              show this

Without --password-stdin the password comes from ADMIN_PASSWORD or from the file that ADMIN_PASSWORD_FILE names; never
from an option, since other users of the machine could read it. All else (DATA_DIR, SECRET_KEY, BASE_URL …) is as for
the server, which may be running.

Exit codes: 0 created, 1 something went wrong, 2 invalid options or values, 3 an administrator already exists.
`;

const EXIT = { created: 0, failed: 1, usage: 2, exists: 3 } as const;

interface Request {
  readonly admin: { readonly username: string; readonly password: string; readonly email?: string };
  /** The server's environment without ADMIN_*. */
  readonly env: Environment;
}

const flagOptions = {
  username: { type: 'string' },
  email: { type: 'string' },
  'password-stdin': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const MAX_STDIN_BYTES = 4_096;

/** Reads from a terminal without echo. */
async function askPassword(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  terminal.on('SIGINT', () => process.exit(EXIT.failed));
  process.stderr.write('Password: ');
  const password = await terminal.question('');
  process.stderr.write('\n');
  terminal.close();
  return password;
}

/** Removes only the line break: a password may start or end with a space. */
async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) return askPassword();
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n') || text.length > MAX_STDIN_BYTES) break;
  }
  return text.replace(/\r?\n[\s\S]*$/, '');
}

async function readRequest(
  options: ReturnType<typeof parseFlags<typeof flagOptions>>,
  env: Environment,
): Promise<Request> {
  // Remove ADMIN_*, so that the rest is exactly a server's configuration.
  const { ADMIN_USERNAME, ADMIN_EMAIL, ADMIN_PASSWORD, ADMIN_PASSWORD_FILE, ...rest } = env;
  const isFromStdin = options['password-stdin'] === true;
  const reader = createReader(isFromStdin ? {} : { ADMIN_PASSWORD, ADMIN_PASSWORD_FILE });
  const given = reader.read('ADMIN_PASSWORD');
  if (reader.problems.length > 0) throw new UsageError(reader.problems.join('\n'));
  const username = options.username ?? ADMIN_USERNAME ?? '';
  const email = options.email ?? ADMIN_EMAIL ?? '';
  if (username === '') throw new UsageError('--username is missing.');
  const password = isFromStdin ? await readPassword() : (given ?? '');
  if (password === '') {
    throw new UsageError(
      isFromStdin
        ? 'Standard input contains no password.'
        : 'There is no password. Set ADMIN_PASSWORD, or use --password-stdin.',
    );
  }
  return { admin: { username, password, ...(email === '' ? {} : { email }) }, env: rest };
}

async function createAdmin({ admin, env }: Request): Promise<string> {
  const config = loadConfig(env);
  const log = createLogger({ level: 'warn', pretty: true, destination: process.stderr });
  // Imported late: loading the whole product takes longer than reporting an invalid option.
  const { openApp } = await import('../src/process/open-app.ts');
  const { app, close } = await openApp({ config, log });
  try {
    const account = await app.accounts.createFirstAdmin(admin);
    return `Administrator "${account.username}" created. Sign in at ${config.baseUrl}/admin`;
  } finally {
    await close();
  }
}

/** @returns message and exit code */
function explain(error: unknown): [message: string, exitCode: number] {
  if (error instanceof UsageError) {
    return [`${error.message}\nTry --help.`, EXIT.usage];
  }
  if (error instanceof AppError) {
    if (error.code === 'onboarding.closed') {
      const advice =
        'Administrators can create further ones. If none can sign in any more: docs/operations.md, “No administrator can sign in”.';
      return [`An administrator already exists; nothing was changed. ${advice}`, EXIT.exists];
    }
    const fields = Object.entries(error.fields ?? {}).map(([name, problem]) => `  ${name}: ${problem}`);
    if (fields.length > 0) return [['Not created:', ...fields].join('\n'), EXIT.usage];
    return [`Not created: ${error.message}`, EXIT.failed];
  }
  if (error instanceof ConfigError) return [error.message, EXIT.failed];
  const reason = error instanceof Error ? error.message : String(error);
  return [
    `${reason}\nWhether there is an administrator now is not known: run it again, which says so.`,
    EXIT.failed,
  ];
}

try {
  const options = parseFlags(process.argv.slice(2), flagOptions);
  if (options.help) console.log(HELP.trimEnd());
  else console.log(await createAdmin(await readRequest(options, process.env)));
  process.exitCode = EXIT.created;
} catch (error) {
  const [message, exitCode] = explain(error);
  console.error(message);
  process.exitCode = exitCode;
}
