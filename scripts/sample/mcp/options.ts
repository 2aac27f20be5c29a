// Options and environment of the sample MCP server, with their defaults.
import { parseFlags, readPort, UsageError } from '../../command-line.ts';
import { readIssuer } from '../options.ts';
import type { ApiCredentials } from './tokens.ts';

export const HELP = `A sample MCP server, whose tools need access tokens of Latchkey.

Usage: npm run sample:mcp -- [options]

  --issuer URL           the provider's issuer identifier (default http://localhost:3000/oauth2)
  --port NUMBER          where it listens on this machine (default 4100)
  --client-id ID         what the API introspects with (or CLIENT_ID); its page has it
  --client-secret TEXT   its secret (or CLIENT_SECRET)
  --admin-token TOKEN    registers the API by itself and removes it again at the end (or ADMIN_TOKEN)
  --help                 show this

It is an API of the provider, with the identifier http://localhost:PORT/mcp. With a client ID it asks the provider about
each token, so that a revocation counts at once; without one it checks tokens with the provider's public keys. Options can
be seen by other users of this machine; the environment cannot.

Exit codes: 0 stopped by a signal, 1 could not start, 2 invalid options.
`;

export interface Options {
  readonly issuer: URL;
  /** 0: any free one. */
  readonly port: number;
  readonly credentials?: ApiCredentials;
  readonly adminToken?: string;
  readonly isHelpAsked: boolean;
}

const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
const text = { type: 'string' } as const;

/** @throws UsageError */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Options {
  const flags = parseFlags(args, {
    issuer: text,
    port: text,
    'client-id': text,
    'client-secret': text,
    'admin-token': text,
    help: { type: 'boolean', short: 'h' },
  });
  const clientId = nonEmpty(flags['client-id'] ?? env.CLIENT_ID);
  const clientSecret = nonEmpty(flags['client-secret'] ?? env.CLIENT_SECRET);
  const adminToken = nonEmpty(flags['admin-token'] ?? env.ADMIN_TOKEN);
  if ((clientId === undefined) !== (clientSecret === undefined))
    throw new UsageError('--client-id and --client-secret go together.');
  return {
    issuer: readIssuer(flags.issuer ?? 'http://localhost:3000/oauth2'),
    port: readPort('--port', flags.port ?? '4100', 0),
    isHelpAsked: flags.help === true,
    ...(clientId !== undefined && clientSecret !== undefined && { credentials: { clientId, clientSecret } }),
    ...(adminToken !== undefined && { adminToken }),
  };
}
