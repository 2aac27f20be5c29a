// Attack: DNS rebinding against every outbound request for a client (CVE-2026-4366): a name server that
// answers a public address for the check and an internal one for the connection. The name server is part of the test; the
// "public" address is in unallocated IPv6 space, where no host answers.
// A process of its own: its resolver is replaced.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import dns, { promises as dnsPromises, type LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import packet from 'dns-packet';
import { generateKeyPair, SignJWT } from 'jose';
import {
  assertOutboundGuard,
  createOutboundFetch,
  OutboundRefused,
} from '../../src/oidc/outbound/outbound-fetch.ts';
import { postForm, tokensOf } from '../flows/support.ts';
import { makeCertificate } from '../mail/certificate.ts';
import { startServer } from '../processes/server-process.ts';
import { Agent } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const PUBLIC = '2000::1';
const INSIDE = '127.0.0.1';

/** What each name answers to its first, second, … look-up; the last one stays. */
const answers: Record<string, readonly (readonly string[])[]> = {
  'rebind.test': [[PUBLIC], [INSIDE]],
  'keys.test': [[PUBLIC], [INSIDE]],
  'retry.test': [[PUBLIC], [INSIDE]],
  'mixed.test': [[PUBLIC, INSIDE]],
  'inside.test': [[INSIDE]],
};
const asked = new Map<string, number>();

const socket = createSocket('udp4');
socket.on('message', (message, { port, address }) => {
  const { id = 0, questions = [] } = packet.decode(message);
  const [{ name, type } = { name: '', type: 'A' as const }] = questions;
  const round = asked.get(name) ?? 0;
  // A and AAAA are one look-up.
  if (type === 'A') asked.set(name, round + 1);
  const rounds = answers[name] ?? [];
  const all = rounds[Math.min(round, rounds.length - 1)] ?? [];
  const fitting = all.filter((data) => (type === 'A') === !data.includes(':'));
  const records = fitting.map(
    (data) => ({ type: data.includes(':') ? 'AAAA' : 'A', name, ttl: 0, data }) as const,
  );
  const flags = packet.RECURSION_AVAILABLE;
  socket.send(packet.encode({ type: 'response', id, questions, answers: records, flags }), port, address);
});
socket.bind(0, INSIDE);
await once(socket, 'listening');
const resolver = new dnsPromises.Resolver();
resolver.setServers([`${INSIDE}:${socket.address().port}`]);

async function resolveByServer(host: string): Promise<LookupAddress[]> {
  // AAAA first: A is what moves the name server on to the next round.
  const six = await resolver.resolve6(host).catch(() => []);
  const four = await resolver.resolve4(host).catch(() => []);
  return [
    ...six.map((address) => ({ address, family: 6 })),
    ...four.map((address) => ({ address, family: 4 })),
  ];
}

/** The operating system's look-up, for the names above alone answered by the server above. */
const systemLookup = dns.lookup;
function lookup(host: string, ...rest: unknown[]): void {
  const callback = rest.at(-1);
  const options = rest.length > 1 ? rest[0] : {};
  if (!host.endsWith('.test') || typeof callback !== 'function') {
    Reflect.apply(systemLookup, dns, [host, ...rest]);
    return;
  }
  const isAll = typeof options === 'object' && options !== null && 'all' in options && options.all === true;
  void resolveByServer(host).then((found) => {
    if (isAll) callback(null, found);
    else callback(null, found[0]?.address, found[0]?.family);
  });
}
dns.lookup = Object.assign(lookup, systemLookup) as typeof dns.lookup;
const systemPromise = dnsPromises.lookup;
dnsPromises.lookup = ((host: string, options: dns.LookupAllOptions) =>
  host.endsWith('.test') ? resolveByServer(host) : systemPromise(host, options)) as typeof dnsPromises.lookup;
// Whoever imports the functions by name has these, too.
syncBuiltinESMExports();

/** An internal port that must never be connected to. */
let connections = 0;
const internal = createServer((connection) => {
  connections += 1;
  connection.on('error', () => {});
}).listen(0, INSIDE);
await once(internal, 'listening');
const portOf = (server: { address(): unknown }): number => {
  const address = server.address();
  return typeof address === 'object' && address !== null && 'port' in address ? Number(address.port) : 0;
};

const certificate = makeCertificate(['documents.test']);
tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificate.cert]);
let respond: RequestListener = (_request, response) => response.end();
const documents = createHttpsServer(certificate, (request, response) => respond(request, response));
documents.listen(0, INSIDE);
await once(documents, 'listening');
const documentUrl = `https://documents.test:${portOf(documents)}/keys`;
/** As if loopback were public, so that what follows the connection can be tried at all. */
const lenient = createOutboundFetch({
  resolve: async () => [{ address: INSIDE, family: 4 }],
  rules: { problemOf: () => undefined, problemAt: () => undefined },
});

const app = await startApp({ store: 'sqlite' });
after(async () => {
  await app.stop();
  dns.lookup = systemLookup;
  dnsPromises.lookup = systemPromise;
  syncBuiltinESMExports();
  documents.closeAllConnections();
  documents.close();
  internal.close();
  socket.close();
});
const alice = await app.createUser('alice');

async function logged(text: string): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (app.logged.some((line) => line.includes(text) && line.includes('not delivered'))) return;
    await wait(50);
  }
  throw new Error(`no line about ${text}`);
}

for (const host of ['rebind.test', 'mixed.test', 'inside.test']) {
  test(`attack: logout receiver ${host}: no internal connection, one look-up (R031)`, async () => {
    const client = await app.register({
      backchannel_logout_uri: `https://${host}:${portOf(internal)}/logout`,
    });
    // The warning to the administrator resolved it, too.
    asked.delete(host);
    const agent = new Agent(app);
    await tokensOf(app, client, alice, {}, agent);
    await agent.get('/oauth2/logout');
    await logged(client.id);
    await wait(100);
    deepEqual([connections, asked.get(host)], [0, 1]);
  });
}

test('attack: a logout receiver whose name moves inside between two attempts (R031)', async () => {
  const client = await app.register({
    backchannel_logout_uri: `https://retry.test:${portOf(internal)}/logout`,
  });
  asked.delete('retry.test');
  const agent = new Agent(app);
  await tokensOf(app, client, alice, {}, agent);
  await agent.get('/oauth2/logout');
  await logged(client.id);
  const last = async () =>
    (await app.admin('GET', `/clients/${client.id}/logout-deliveries`)).body.data.items?.[0];
  equal((await last())?.state, 'queued');
  app.advance(61_000);
  await app.app.jobs.tick();
  deepEqual([(await last())?.state, (await last())?.problem], ['failed', 'not_allowed']);
  deepEqual([connections, asked.get('retry.test')], [0, 2]);
});

test('attack: client keys at a rebinding name are not fetched from an internal port (R031)', async () => {
  const client = await app.register({
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: 'ES256',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    jwks_uri: `https://keys.test:${portOf(internal)}/keys`,
  });
  asked.delete('keys.test');
  const { privateKey } = await generateKeyPair('ES256');
  const client_assertion = await new SignJWT({ jti: 'one' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuer(client.id)
    .setSubject(client.id)
    .setAudience(app.issuer)
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(privateKey);
  const { status } = await postForm(app, '/oauth2/token', {
    grant_type: 'client_credentials',
    client_id: client.id,
    client_assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  ok(status === 400 || status === 401, String(status));
  deepEqual([connections, asked.get('keys.test')], [0, 1]);
});

test('outbound fetch: a redirect to an internal address is not followed (R031)', async () => {
  respond = (_request, response) =>
    response.writeHead(302, { location: `https://127.0.0.1:${portOf(internal)}/` }).end();
  for (const method of ['GET', 'POST']) {
    const { status } = await lenient(documentUrl, { method, redirect: 'follow' });
    equal(status, 302);
  }
  equal(connections, 0);
});

test('outbound fetch: plain http and internal literal addresses are refused without a look-up', async () => {
  const strict = createOutboundFetch();
  for (const url of [
    `http://documents.test:${portOf(documents)}/`,
    `https://127.0.0.1:${portOf(internal)}/`,
    `https://[::ffff:127.0.0.1]:${portOf(internal)}/`,
    `https://2130706433:${portOf(internal)}/`,
    `https://0x7f.1:${portOf(internal)}/`,
  ])
    await rejects(async () => strict(url, {}), OutboundRefused, url);
  equal(connections, 0);
});

test('outbound fetch: JSON up to 64 kB only, uncompressed, of limited depth (R033)', async () => {
  const json = { 'content-type': 'application/json' };
  const bad: readonly (readonly [Record<string, string>, string | Buffer])[] = [
    [json, JSON.stringify({ keys: 'x'.repeat(70_000) })],
    [{ ...json, 'content-encoding': 'gzip' }, gzipSync(JSON.stringify({ keys: 'x'.repeat(10_000_000) }))],
    [{ 'content-type': 'text/html' }, '{}'],
    [json, '['.repeat(5000) + ']'.repeat(5000)],
  ];
  for (const [headers, body] of bad) {
    respond = (_request, response) => response.writeHead(200, headers).end(body);
    await rejects(async () => lenient(documentUrl, {}), /compressed|JSON|longer|deeper/);
  }
  const cached = { ...json, 'cache-control': 'max-age=99999999' };
  respond = (_request, response) => response.writeHead(200, cached).end('{"keys":[]}');
  const good = await lenient(documentUrl, {});
  deepEqual([await good.json(), good.headers.get('cache-control')], [{ keys: [] }, null]);
});

test('outbound fetch: a slow or absent response ends at the time limit (R033)', async () => {
  respond = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 20);
    response.on('close', () => clearInterval(drip));
  };
  await rejects(async () => lenient(documentUrl, { signal: AbortSignal.timeout(200) }));
  respond = () => {};
  await rejects(async () => lenient(documentUrl, { signal: AbortSignal.timeout(200) }));
  // Not even this one, which Node.js reports as neither a response nor an error.
  respond = (_request, response) =>
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  await rejects(async () => lenient(documentUrl, {}), /without a response/);
  const never = createOutboundFetch({ resolve: () => new Promise(() => {}) });
  await rejects(async () => never(documentUrl, { signal: AbortSignal.timeout(200) }));
});

test('outbound fetch: ignores proxy variables, whose proxy would resolve the name again', async () => {
  const code = `
    import { createOutboundFetch } from ${JSON.stringify(fileURLToPath(new URL('../../src/oidc/outbound/outbound-fetch.ts', import.meta.url)))};
    const fetch = createOutboundFetch({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    const error = await fetch('https://inside.test/', {}).catch((error) => error);
    process.stdout.write(error.name);
  `;
  const proxy = `http://127.0.0.1:${portOf(internal)}`;
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: proxy,
    HTTP_PROXY: proxy,
    ALL_PROXY: proxy,
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    env,
  });
  deepEqual([stdout, connections], ['OutboundRefused', 0]);
});

test('outbound fetch: the server does not start where its guard cannot be installed (R032)', async () => {
  await assertOutboundGuard();
  await rejects(
    assertOutboundGuard(() => async () => new Response('{}')),
    /not guarded/,
  );
  // As if a newer Node.js no longer asked the look-up that a request brings.
  const without = `import https from 'node:https'; import { syncBuiltinESMExports } from 'node:module';
    const { request } = https;
    https.request = (url, options, done) => request(url, { ...options, lookup: undefined }, done);
    syncBuiltinESMExports();`;
  const dataDir = await mkdtemp(join(tmpdir(), 'latchkey-guard-'));
  try {
    const preload = `data:text/javascript;base64,${Buffer.from(without).toString('base64')}`;
    const env = { NODE_OPTIONS: `--import ${preload}` };
    await rejects(startServer({ dataDir, env }), (error) => {
      match(String(error), /not guarded/);
      return true;
    });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
