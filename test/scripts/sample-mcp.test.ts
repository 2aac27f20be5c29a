// The sample MCP server from outside: command line, what it demands of a call, and attacks by other sites, names and tokens.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { startSampleMcp } from '../browser/processes.ts';
import { basic, type Json, postForm } from '../flows/support.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { run } from './run.ts';

const app = await startApp({ store: 'sqlite' });
const server = await startSampleMcp(app.issuer, { adminToken: ADMIN_TOKEN });
after(async () => {
  await server.stop();
  await app.stop();
});
const identifier = `${server.origin}/mcp`;
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'openid',
});
const apiOf = async (): Promise<Json | undefined> => {
  const { items } = Object((await app.admin('GET', '/resources')).body.data);
  return items.find((item: Json) => item.identifier === identifier);
};
const grant = async (...scopes: string[]): Promise<string> => {
  const id = String((await apiOf())?.id);
  equal(
    (await app.admin('PATCH', `/resources/${id}`, { machine_grants: { [machine.id]: scopes } })).status,
    200,
  );
  const fields = { grant_type: 'client_credentials', resource: identifier };
  const { status, body, text } = await postForm(app, '/oauth2/token', fields, basic(machine));
  equal(status, 200, text);
  return String(body.access_token);
};

async function send(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(identifier, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const challenge = response.headers.get('www-authenticate');
  return { status: response.status, challenge, body: text === '' ? undefined : JSON.parse(text) };
}
const call = (token: string, method: string, params: object = {}) =>
  send({ jsonrpc: '2.0', id: 1, method, params }, { authorization: `Bearer ${token}` });

test('sample MCP server: --help, invalid options, a port in use', async () => {
  const help = await run('scripts/sample-mcp.ts', ['--help']);
  equal(help.code, 0);
  for (const word of ['--issuer', '--port', '--client-id', '--client-secret', '--admin-token', 'Exit codes'])
    ok(help.stdout.includes(word), word);
  for (const [args, sentence] of [
    [['--nonsense'], /Unknown option '--nonsense'/],
    [['--client-secret', 's3cret'], /go together/],
  ] as const) {
    const { code, stderr } = await run('scripts/sample-mcp.ts', args);
    equal(code, 2);
    match(stderr, sentence);
    ok(!stderr.includes('s3cret'));
  }
  const inUse = await run('scripts/sample-mcp.ts', ['--port', new URL(server.origin).port]);
  equal(inUse.code, 1);
  match(inUse.stderr, /Port \d+ is in use\. .*--port/);
});

test('sample MCP server: without a token it names the metadata, which names the provider', async () => {
  const { status, challenge } = await send({});
  equal(status, 401);
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(challenge ?? '') ?? [];
  equal(address, `${server.origin}/.well-known/oauth-protected-resource/mcp`);
  match(challenge ?? '', /scope="notes:read"/);
  const metadata: Json = await (await fetch(address)).json().then(Object);
  deepEqual([metadata.resource, metadata.authorization_servers], [identifier, [app.issuer]]);
});

test('sample MCP server: handshake, tools and a call; a tool that needs more answers 403', async () => {
  const token = await grant('notes:read');
  const { body } = await call(token, 'initialize', { protocolVersion: '2025-06-18' });
  equal(body.result.protocolVersion, '2025-06-18');
  equal(
    (await call(token, 'initialize', { protocolVersion: '1' })).body.result.protocolVersion,
    '2025-11-25',
  );
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
  equal((await send(notification, { authorization: `Bearer ${token}` })).status, 202);
  equal((await call(token, 'tools/list')).body.result.tools.length, 3);
  match(JSON.stringify((await call(token, 'tools/call', { name: 'whoami' })).body), new RegExp(machine.id));
  const add = { name: 'add_note', arguments: { text: 'Milk' } };
  const { status, challenge } = await call(token, 'tools/call', add);
  equal(status, 403);
  match(challenge ?? '', /error="insufficient_scope", scope="notes:read notes:write", resource_metadata=/);
  const wider = await grant('notes:read', 'notes:write');
  equal((await call(wider, 'tools/call', add)).body.result.isError, false);
  equal((await call(wider, 'tools/call', { name: 'add_note', arguments: {} })).body.result.isError, true);
  deepEqual(
    [
      (await call(wider, 'nonsense')).body.error.code,
      (await call(wider, 'tools/call', { name: 'x' })).body.error.code,
    ],
    [-32_601, -32_602],
  );
  for (const broken of ['{', '[]', '{"jsonrpc":"2.0"}'])
    equal((await send(broken, { authorization: `Bearer ${wider}` })).status, 400);
  equal((await send(' '.repeat(70_000), { authorization: `Bearer ${wider}` })).status, 413);
});

test('attack: foreign, altered and ended tokens at the sample MCP server', async () => {
  const token = await grant('notes:read');
  const { body } = await postForm(app, '/oauth2/token', { grant_type: 'client_credentials' }, basic(machine));
  for (const other of [String(body.access_token), `${token}x`, 'x'])
    match((await call(other, 'ping')).challenge ?? '', /^Bearer error="invalid_token"/);
  equal((await call(token, 'ping')).status, 200);
  await postForm(app, '/oauth2/revoke', { token }, basic(machine));
  equal((await call(token, 'ping')).status, 401, 'a revocation counts at once');
});

test('attack: another site’s page and a name of its own at the sample MCP server', async () => {
  const token = await grant('notes:read');
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const authorization = `Bearer ${token}`;
  equal((await send(ping, { authorization, origin: 'https://evil.example' })).status, 403);
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(identifier, { method: 'POST', headers: { host: 'evil.example', authorization } }, (answer) =>
    resolve(answer.resume().statusCode),
  )
    .on('error', reject)
    .end();
  equal(await promise, 403);
});

test('sample MCP server: with public keys alone it needs no credentials; it takes its API away', async () => {
  const token = await grant('notes:read');
  const byKeys = await startSampleMcp(app.issuer);
  try {
    const response = await fetch(`${byKeys.origin}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '{}',
    });
    equal(response.status, 401, 'a token for the other one');
  } finally {
    equal(await byKeys.stop(), 0);
  }
  equal(await server.stop(), 0);
  equal(await apiOf(), undefined);
});
