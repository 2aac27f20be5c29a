// Options of `npm run dev`, and which addresses a server with a printed password may have: only this machine's.
import { parseFlags, readPort, UsageError } from '../command-line.ts';

export const HELP = `Runs Latchkey for development: restarts on changes, prints mails, has an administrator and a sample application.

Usage: npm run dev -- [options]

  --port NUMBER          where Latchkey listens (default 3000, or PORT)
  --sample-port NUMBER   where the sample application listens (default 4000)
  --data-dir FOLDER      its data (default ./.data-dev); delete the folder to start over
  --help                 show this

BASE_URL must be an address of this machine. Of the environment only BASE_URL, PORT and LOG_LEVEL count: data, databases
and keys of an installation are never touched.

Exit codes: 0 stopped by a signal, 1 could not start, 2 invalid options or folder.
`;

export interface DevOptions {
  readonly baseUrl: URL;
  readonly port: number;
  readonly samplePort: number;
  readonly dataDir: string;
  readonly logLevel: string;
  readonly isHelpAsked: boolean;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

const text = { type: 'string' } as const;
const flagOptions = {
  port: text,
  'sample-port': text,
  'data-dir': text,
  help: { type: 'boolean', short: 'h' },
} as const;

function readBaseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !isLoopback(url.hostname)) {
    throw new UsageError(
      `BASE_URL is ${text}, but this server prints its password: it runs on localhost only. Unset BASE_URL.`,
    );
  }
  return url;
}

/** @throws UsageError */
export function readDevOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): DevOptions {
  const flags = parseFlags(args, flagOptions);
  const port = readPort('--port', flags.port ?? (env.PORT?.trim() || '3000'), 1);
  return {
    port,
    samplePort: readPort('--sample-port', flags['sample-port'] ?? '4000', 1),
    baseUrl: readBaseUrl(env.BASE_URL?.trim() || `http://localhost:${port}`),
    dataDir: flags['data-dir'] ?? '.data-dev',
    logLevel: env.LOG_LEVEL?.trim() || 'info',
    isHelpAsked: flags.help === true,
  };
}
