// `npm run dev`: the server on separate data, restarted when files change, with mails in the terminal, an administrator and
// the sample application. For this machine only.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { explain, runCommand } from './command-line.ts';
import { startMailPrinter } from './dev/mail-printer.ts';
import { type DevOptions, HELP, readDevOptions } from './dev/options.ts';
import { completeSeed, openSeed } from './dev/seed.ts';

const EXIT = { stopped: 0, failed: 1 } as const;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WATCHED = ['src', 'adapters', 'interactions', 'templates'];
const READY_MS = 120_000;
const ASK_AGAIN_MS = 100;

/** Environment variables of the machine; none of an installation's settings. */
const machine = (): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'TERM', 'NODE_COMPILE_CACHE'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const startNode = (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess =>
  spawn(process.execPath, args, { cwd: ROOT, env: { ...machine(), ...env }, stdio: 'inherit' });

/** Resolves when the server responds; a syntax error at the start can be fixed meanwhile. */
async function untilReady(baseUrl: string, server: ChildProcess): Promise<void> {
  for (const until = performance.now() + READY_MS; performance.now() < until; ) {
    if (server.exitCode !== null) break;
    const isReady = await fetch(`${baseUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((done) => setTimeout(done, ASK_AGAIN_MS));
  }
  throw new Error(`The server does not respond at ${baseUrl}.`);
}

async function run({ baseUrl, port, samplePort, dataDir: folder, logLevel }: DevOptions): Promise<void> {
  const dataDir = resolve(ROOT, folder);
  const seed = await openSeed(dataDir);
  const mails = await startMailPrinter((text) => console.log(text));
  const url = baseUrl.href.replace(/\/$/, '');
  const server = startNode(
    ['--watch', '--watch-preserve-output', ...WATCHED.map((path) => `--watch-path=${path}`), 'src/main.ts'],
    {
      BASE_URL: url,
      PORT: String(port),
      HOST: baseUrl.hostname.replace(/^\[|\]$/g, ''),
      DATA_DIR: dataDir,
      LOG_LEVEL: logLevel,
      SMTP_URL: mails.url,
      ADMIN_TOKEN: seed.adminToken,
      ADMIN_USERNAME: seed.username,
      ADMIN_PASSWORD: seed.password,
      ADMIN_EMAIL: 'admin@example.com',
    },
  );
  const children = [server];
  let isStopping = false;
  const stop = async (exitCode: number): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
    await Promise.all(
      running.map((child) => {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        return exited;
      }),
    );
    mails.close();
    process.exit(exitCode);
  };
  process.on('SIGINT', () => void stop(EXIT.stopped));
  process.on('SIGTERM', () => void stop(EXIT.stopped));

  try {
    await untilReady(url, server);
    const origin = `http://localhost:${samplePort}`;
    const { sample, username, password } = await completeSeed(seed, { dataDir, baseUrl: url, origin });
    children.push(
      startNode(['scripts/sample.ts', '--issuer', `${url}/oauth2`, '--port', String(samplePort)], {
        CLIENT_ID: sample.clientId,
        CLIENT_SECRET: sample.clientSecret,
      }),
    );
    console.log(
      [
        '',
        `  Admin UI       ${url}/admin`,
        `  Administrator  ${username}`,
        `  Password       ${password}`,
        `  Sample         ${origin}/`,
        `  Data           ${dataDir}`,
        '',
        `Mails appear here. The server restarts when a file changes in ${WATCHED.join(', ')}.`,
        '',
      ].join('\n'),
    );
  } catch (error) {
    if (isStopping) return;
    const [why] = explain(error) ?? [error instanceof Error ? error.message : String(error)];
    console.error(why);
    await stop(EXIT.failed);
  }
}

await runCommand(async () => {
  const options = readDevOptions(process.argv.slice(2), process.env);
  if (options.isHelpAsked) console.log(HELP.trimEnd());
  else await run(options);
  return undefined;
});
