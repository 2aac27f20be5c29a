// mcp-remote at its defaults, as an MCP client without a transport of its own runs it: from a server's address to a tool call, and to
// a tool that needs more.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ask, done, expect, step } from './wire.mjs';

const folder = await mkdtemp(join(tmpdir(), 'mcp-remote-'));
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [
    fileURLToPath(new URL('dist/proxy.js', import.meta.resolve('mcp-remote/package.json'))),
    process.env.MCP_SERVER,
  ],
  env: { PATH: process.env.PATH, HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: '/bin/true' },
  stderr: 'pipe',
});

/** No person is this quick: mcp-remote listens a moment after it has shown the address. */
async function visit(callback) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetch(callback);
    } catch (error) {
      if (attempt === 100) throw error;
      await setTimeout(50);
    }
  }
}

let log = '';
const visited = new Set();
const asked = [];
transport.stderr.on('data', async (chunk) => {
  log += chunk;
  for (const [, url] of log.matchAll(/visiting:\s+(http\S+)\n/g)) {
    if (visited.has(url)) continue;
    visited.add(url);
    asked.push(new URL(url).searchParams.get('scope'));
    const { callback } = await ask({ authorize: url });
    await visit(callback);
  }
});

const textOf = ({ content }) => content[0].text;
const client = new Client({ name: 'agent', version: '1' });
try {
  await client.connect(transport);
  step('connect', { asked });
  const me = JSON.parse(textOf(await client.callTool({ name: 'whoami', arguments: {} })));
  expect(me.scopes.includes('notes:read'), 'what was granted', me);
  step('call', me);
  const added = textOf(await client.callTool({ name: 'add_note', arguments: { text: 'Milk' } }));
  expect(added === 'Noted.', 'a tool that needs more', { added, asked });
  step('step-up', { asked });
} catch (error) {
  process.stderr.write(log);
  throw error;
} finally {
  await client.close();
  await rm(folder, { recursive: true, force: true });
}
done();
