// The MCP SDK at its defaults against the sample MCP server: an agent that nobody registered, from the server's address to a tool
// call. Its limits in docs/agents.md.
import { deepEqual, equal } from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ADMIN_TOKEN, startSampleMcp } from '../../browser/processes.ts';
import { change } from '../../flows/support.ts';
import { freePort } from '../../support/free-port.ts';
import { openPublicWeb } from '../../support/public-web.ts';
import { namesOf, runClient } from '../support/client.ts';
import { startIssuer } from '../support/issuer.ts';
import { installed } from './more-packages.ts';

let redirectUri = '';
const DOCUMENT = 'https://agent.test/client.json';
const web = await openPublicWeb((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({ client_id: DOCUMENT, client_name: 'An MCP agent', redirect_uris: [redirectUri] }),
  );
});
const issuer = await startIssuer();
const server = await startSampleMcp(issuer.issuer, { adminToken: ADMIN_TOKEN });
after(async () => {
  equal(await server.stop(), 0);
  await issuer.close();
  await web.close();
});
await change(issuer.app, { agents: true });

async function run(mode: string, program = 'mcp-agent.mjs'): Promise<string[]> {
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  for (const [from, name] of [
    [`more/${program}`, program],
    ['quick/wire.mjs', 'wire.mjs'],
  ] as const)
    copyFileSync(fileURLToPath(new URL(from, import.meta.url)), join(installed.folder, name));
  const env = {
    MODE: mode,
    MCP_SERVER: `${server.origin}/mcp`,
    CLIENT_ID: DOCUMENT,
    CLIENT_SECRET: '',
    REDIRECT_URI: redirectUri,
  };
  const args = [join(installed.folder, program)];
  return namesOf(await runClient({ command: process.execPath, args, env }, issuer));
}

const ALL = ['connect', 'tools', 'call', 'step-up', 'refresh', 'revoked'];

test(
  'MCP SDK: an agent that registers itself calls a tool, steps up, refreshes, is removed',
  installed,
  async () => {
    deepEqual(await run('registration'), ALL);
  },
);

test('MCP SDK: an agent with a metadata document does the same', installed, async () => {
  deepEqual(await run('document'), ALL);
});

test('mcp-remote: a client without a transport of its own calls a tool and steps up', installed, async () => {
  deepEqual(await run('', 'mcp-remote.mjs'), ['connect', 'call', 'step-up']);
});
