// Options of `npm run dev`, and which addresses a server with a printed password may have: only this machine's.
import { parseArgs } from 'node:util';

export const HELP = `Runs Latchkey for development: restarts on changes, prints mails, has an administrator and a sample application.

Usage: npm run dev -- [options]

  --port NUMBER          where Latchkey listens (default 3000, or PORT)
  --sample-port NUMBER   where the sample application listens (default 4000)
  --data-dir FOLDER      its data (default ./.data-dev); delete the folder to start over
  --help                 show this

BASE_URL must be an address of this machine. Of the environment only BASE_URL, PORT and LOG_LEVEL count: data, databases
and keys of an installation are never touched.
`;

export interface DevOptions {
  readonly baseUrl: URL;
  readonly port: number;
  readonly samplePort: number;
  readonly dataDir: string;
  readonly logLevel: string;
  readonly isHelpAsked: boolean;
}

/** An invalid option; the message is for the terminal. */
export class UsageError extends Error {}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

function readFlags(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: text,
        'sample-port': text,
        'data-dir': text,
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
  }
}

function readPort(name: string, text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new UsageError(`${name} must be a number from 1 to 65535.`);
  }
  return port;
}

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
  const flags = readFlags(args);
  const port = readPort('--port', flags.port ?? (env.PORT?.trim() || '3000'));
  return {
    port,
    samplePort: readPort('--sample-port', flags['sample-port'] ?? '4000'),
    baseUrl: readBaseUrl(env.BASE_URL?.trim() || `http://localhost:${port}`),
    dataDir: flags['data-dir'] ?? '.data-dev',
    logLevel: env.LOG_LEVEL?.trim() || 'info',
    isHelpAsked: flags.help === true,
  };
}
