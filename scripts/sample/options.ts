// Options and environment of the sample, with their defaults.
import { parseFlags, readPort, UsageError } from '../command-line.ts';

export const HELP = `A sample application that signs people in with Latchkey (or any OpenID Connect provider).

Usage: npm run sample -- [options]

  --issuer URL           the provider's issuer identifier (default http://localhost:3000/oauth2)
  --port NUMBER          where the sample listens on this machine (default 4000)
  --client-id ID         of an application registered for the sample (or CLIENT_ID)
  --client-secret TEXT   its secret, if it has one (or CLIENT_SECRET)
  --admin-token TOKEN    registers the sample by itself and removes it again at the end (or ADMIN_TOKEN)
  --help                 show this

Without a client ID and without a token the sample's page has a link that fills in Latchkey's form for a new application;
with another provider it says what to register. Options can be seen by other users of this machine; the environment and
the page cannot.

Exit codes: 0 stopped by a signal, 1 could not start, 2 invalid options.
`;

export interface Credentials {
  readonly clientId: string;
  /** Absent for a public application. */
  readonly clientSecret?: string | undefined;
}

export interface Options {
  readonly issuer: URL;
  /** 0: any free one. */
  readonly port: number;
  readonly credentials?: Credentials;
  readonly adminToken?: string;
  readonly isHelpAsked: boolean;
}

const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

const text = { type: 'string' } as const;
const flagOptions = {
  issuer: text,
  port: text,
  'client-id': text,
  'client-secret': text,
  'admin-token': text,
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws UsageError */
export function readIssuer(text: string): URL {
  const issuer = URL.parse(text);
  if (issuer?.protocol !== 'https:' && issuer?.protocol !== 'http:') {
    throw new UsageError('--issuer must be a URL like http://localhost:3000/oauth2.');
  }
  return issuer;
}

/** @throws UsageError */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Options {
  const flags = parseFlags(args, flagOptions);
  const clientId = nonEmpty(flags['client-id'] ?? env.CLIENT_ID);
  const clientSecret = nonEmpty(flags['client-secret'] ?? env.CLIENT_SECRET);
  const adminToken = nonEmpty(flags['admin-token'] ?? (clientId === undefined ? env.ADMIN_TOKEN : undefined));
  if (clientId === undefined && clientSecret !== undefined) {
    throw new UsageError('The client secret needs its --client-id.');
  }
  if (clientId !== undefined && adminToken !== undefined) {
    throw new UsageError(
      '--client-id and --admin-token exclude each other: use an existing application, or register a new one.',
    );
  }
  return {
    issuer: readIssuer(flags.issuer ?? 'http://localhost:3000/oauth2'),
    port: readPort('--port', flags.port ?? '4000', 0),
    isHelpAsked: flags.help === true,
    ...(clientId === undefined ? {} : { credentials: { clientId, clientSecret } }),
    ...(adminToken === undefined ? {} : { adminToken }),
  };
}
