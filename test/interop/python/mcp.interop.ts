// The MCP SDK for Python and FastMCP's client at their defaults against the sample MCP server, as agents that nobody registered.
import { deepEqual } from 'node:assert/strict';
import { after, test } from 'node:test';
import { ADMIN_TOKEN, startSampleMcp } from '../../browser/processes.ts';
import { change } from '../../flows/support.ts';
import { freePort } from '../../support/free-port.ts';
import { openPublicWeb } from '../../support/public-web.ts';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { packages, pythonProgram } from './packages.ts';

const installed = await packages('fastmcp');
const DOCUMENT = 'https://agent.test/client.json';
let redirectUri = '';
const web = await openPublicWeb((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({ client_id: DOCUMENT, client_name: 'A Python agent', redirect_uris: [redirectUri] }),
  );
});
const issuer = await startIssuer();
const server = await startSampleMcp(issuer.issuer, { adminToken: ADMIN_TOKEN });
after(async () => {
  await server.stop();
  await issuer.close();
  await web.close();
});
await change(issuer.app, { agents: true });

async function run(name: string): Promise<string[]> {
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  const env = {
    CLIENT_ID: '',
    CLIENT_SECRET: '',
    REDIRECT_URI: redirectUri,
    MCP_SERVER: `${server.origin}/mcp`,
    DOCUMENT,
  };
  return namesOf(await runClient({ ...pythonProgram(installed, 'mcp_agent.py', name), env }, issuer));
}

test('MCP SDK for Python: an agent that registers itself calls a tool and steps up', installed, async () => {
  deepEqual(await run('sdk'), ['connect', 'call', 'step-up']);
});

test('MCP SDK for Python: an agent with a metadata document does the same', installed, async () => {
  deepEqual(await run('document'), ['connect', 'call', 'step-up']);
});

test('FastMCP client: an agent that registers itself calls a tool', installed, async () => {
  deepEqual(await run('fastmcp'), ['connect', 'call']);
});
