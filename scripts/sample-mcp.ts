// Starts the sample MCP server: a few tools that need access tokens of this provider, to try agents and MCP clients, and as an
// example for developers of APIs. Its parts are in scripts/sample/mcp/.
import { createServer, type RequestListener } from 'node:http';
import { UsageError } from './command-line.ts';
import { listen } from './sample/listen.ts';
import { registerApi } from './sample/mcp/api.ts';
import { HELP, type Options, readOptions } from './sample/mcp/options.ts';
import { createMcpListener, MCP_PATH } from './sample/mcp/server.ts';
import { checkByIntrospection, checkByKeys } from './sample/mcp/tokens.ts';

const EXIT = { stopped: 0, failed: 1, usage: 2 } as const;

async function run({ issuer, port: wanted, credentials, adminToken }: Options): Promise<void> {
  // The port must be known first, since the identifier of the API contains it.
  let listener: RequestListener | undefined;
  const server = createServer((request, response) => listener?.(request, response));
  const origin = `http://localhost:${await listen(server, wanted)}`;
  const identifier = origin + MCP_PATH;
  const registered =
    credentials === undefined && adminToken !== undefined
      ? await registerApi(issuer, adminToken, identifier)
      : undefined;
  const own = credentials ?? registered?.credentials;
  listener = createMcpListener({
    origin,
    issuer,
    checkToken: own === undefined ? checkByKeys(issuer, identifier) : checkByIntrospection(issuer, own),
    onError: (error) => console.error(error),
  });

  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    server.close();
    server.closeAllConnections();
    await registered?.remove().catch((error: unknown) => console.error(error));
    process.exit(EXIT.stopped);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);

  console.log(`The sample MCP server is running. Its address for MCP clients: ${identifier}`);
  if (own === undefined) {
    console.log(
      `In the Admin UI add an API with the identifier ${identifier} and the scopes notes:read and notes:write, open to agents.`,
    );
  }
  console.log('Agents are let in while the setting “agents” is on.');
}

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options.isHelpAsked) console.log(HELP.trimEnd());
  else await run(options);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  console.error(isUsage ? `${message}\nTry --help.` : message);
  process.exit(isUsage ? EXIT.usage : EXIT.failed);
}
