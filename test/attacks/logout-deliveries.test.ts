// Attacks on the delivery of logout tokens (decisions 0005 and 0026): addresses that change their meaning
// between attempts, applications that hold connections, and the test button as a look into the network.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import test, { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { logoutDeliveries } from '../../src/store/collections.ts';
import { bearer, call, claimsOf, tokensOf } from '../flows/support.ts';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import { startReceiver } from '../support/receiver.ts';

const failing = await startReceiver((_request, response) => {
  response.writeHead(503).end();
});
const healthy = await startReceiver();
/** Sends the head of a response and then bytes for ever. */
const endless = await startReceiver((_request, response) => {
  response.writeHead(200);
  const sending = setInterval(() => response.write('x'.repeat(65_536)), 5);
  response.on('close', () => clearInterval(sending));
});

/** Takes connections and says nothing; notes how many there were, and were at once. */
async function startSilent() {
  const seen = { connections: 0, open: 0, most: 0, bytes: 0 };
  const server = createServer((socket) => {
    seen.connections += 1;
    seen.open += 1;
    seen.most = Math.max(seen.most, seen.open);
    socket.on('data', (chunk) => {
      seen.bytes += chunk.length;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      seen.open -= 1;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { seen, server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}
/** Answers with these bytes, whatever was asked, and leaves the connection open. */
async function startRaw(response: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, port: typeof address === 'object' && address !== null ? address.port : 0 };
}
const switching = await startRaw(
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
);
const unheard = await startRaw('HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n');

const silent = await startSilent();
const uncovered = await startSilent();

const ports = [failing, healthy, endless, silent, switching, unheard].map(({ port }) => `127.0.0.1:${port}`);
const app = await startApp({ store: 'sqlite', env: { OUTBOUND_ALLOW: ports.join(' ') } });
after(async () => {
  await app.stop();
  for (const one of [failing, healthy, endless]) one.close();
  for (const { server } of [silent, uncovered, switching, unheard]) server.close();
});

let count = 0;
async function signedIn(uri: string) {
  count += 1;
  const client = await app.register({ backchannel_logout_uri: uri });
  const agent = new Agent(app);
  await tokensOf(app, client, await app.createUser(`user-${count}`), {}, agent);
  return { client, agent };
}

const lastOf = async (clientId: string) =>
  (await app.admin('GET', `/clients/${clientId}/logout-deliveries`)).body.data.items?.[0];

async function settledAfter(clientId: string, attempts: number) {
  for (let tries = 0; tries < 1200; tries += 1) {
    const last = await lastOf(clientId);
    if (last?.attempts === attempts && (last.status !== null || last.problem !== null)) return last;
    await wait(50);
  }
  throw new Error(`no attempt ${attempts}`);
}

test('attack: an approval that was withdrawn between two attempts', async () => {
  const { client, agent } = await signedIn(`http://127.0.0.1:${failing.port}/withdrawn`);
  await agent.get('/oauth2/logout');
  equal((await settledAfter(client.id, 1)).state, 'queued');
  equal((await app.admin('PATCH', `/clients/${client.id}`, { approved_addresses: [] })).status, 200);
  const before = failing.received.length;
  app.advance(61_000);
  await app.app.jobs.tick();
  const last = await lastOf(client.id);
  deepEqual([last?.state, last?.attempts, last?.problem, last?.status], ['failed', 2, 'not_allowed', null]);
  equal(failing.received.length, before);
});

test('attack: an address that the application changed itself between two attempts', async () => {
  const { body: made } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const headers = { ...bearer(String(made.data.token)), 'content-type': 'application/json' };
  const metadata = { redirect_uris: [REDIRECT_URI] };
  const { body } = await call(app, 'POST', '/oauth2/register', { headers, body: JSON.stringify(metadata) });
  const id = String(body.client_id);
  const entered = { backchannel_logout_uri: `http://127.0.0.1:${failing.port}/first`, skip_consent: true };
  equal((await app.admin('PATCH', `/clients/${id}`, entered)).status, 200);
  const agent = new Agent(app);
  const client = { id, secret: String(body.client_secret) };
  await tokensOf(app, client, await app.createUser('moved'), {}, agent);
  await agent.get('/oauth2/logout');
  equal((await settledAfter(id, 1)).state, 'queued');
  const moved = await call(app, 'PUT', `/oauth2/register/${id}`, {
    headers: { ...bearer(String(body.registration_access_token)), 'content-type': 'application/json' },
    body: JSON.stringify({
      ...metadata,
      client_id: id,
      backchannel_logout_uri: `https://127.0.0.1:${silent.port}/second`,
    }),
  });
  equal(moved.status, 200, moved.text);
  const before = silent.seen.connections;
  app.advance(61_000);
  await app.app.jobs.tick();
  const last = await lastOf(id);
  deepEqual([last?.state, last?.problem], ['failed', 'not_allowed']);
  equal(silent.seen.connections, before);
});

test('attack: an application that takes the connection and says nothing, or never ends', async () => {
  const mute = await signedIn(`http://127.0.0.1:${silent.port}/mute`);
  const talking = await signedIn(`http://127.0.0.1:${endless.port}/talking`);
  for (const { agent } of [mute, talking]) {
    const startedAt = performance.now();
    equal((await agent.get('/oauth2/logout')).status, 200);
    ok(isWithin(performance.now() - startedAt, 2500), 'no sign-out waits for it');
  }
  equal((await settledAfter(talking.client.id, 1)).state, 'delivered');
  const last = await settledAfter(mute.client.id, 1);
  deepEqual([last.state, last.problem], ['queued', 'no_response']);
  for (let tries = 0; silent.seen.open > 0 && tries < 1200; tries += 1) await wait(50);
  equal(silent.seen.open, 0);
});

test('attack: a response that is none (101, 999) holds up the deliveries of all others', async () => {
  const outcomes: unknown[] = [];
  // Four at once would be all that one application gets, 24 all that there are.
  for (const { port } of [switching, unheard, switching, switching, switching, switching]) {
    const { client, agent } = await signedIn(`http://127.0.0.1:${port}/`);
    await agent.get('/oauth2/logout');
    const { state, problem } = await settledAfter(client.id, 1);
    outcomes.push([state, problem]);
  }
  deepEqual(
    outcomes,
    outcomes.map(() => ['queued', 'invalid_response']),
  );
  // Nor does the job, which waits for all of a run.
  app.advance(61_000);
  await app.app.jobs.tick();
});

test('attack: a thousand ended sessions of a silent application starve no other', async () => {
  const mute = await app.register({ backchannel_logout_uri: `http://127.0.0.1:${silent.port}/many` });
  const other = await app.register({ backchannel_logout_uri: `http://127.0.0.1:${healthy.port}/few` });
  const collection = app.store.collection(logoutDeliveries);
  const now = app.now();
  const queued = (clientId: string, at: number) => ({
    clientId,
    sub: `user-${at}`,
    sid: `sid-${at}`,
    state: 'queued' as const,
    attempts: 0,
    dueAt: now,
    createdAt: now,
  });
  for (let at = 0; at < 1000; at += 1) {
    await collection.insert(`m-${String(at).padStart(4, '0')}`, queued(mute.id, at));
  }
  // Behind all of them in the order of the store.
  for (let at = 0; at < 5; at += 1) await collection.insert(`z-${at}`, queued(other.id, at));
  const { connections } = silent.seen;
  silent.seen.most = 0;
  const ticking = app.app.jobs.tick();
  for (let tries = 0; healthy.received.length < 5 && tries < 400; tries += 1) await wait(25);
  equal(healthy.received.length, 5, 'delivered while the silent ones wait');
  await ticking;
  ok(silent.seen.most <= 4, `${silent.seen.most} connections at once`);
  ok(silent.seen.connections - connections <= 8, `${silent.seen.connections - connections} connections`);
  // The next runs postpone what is left without a connection each.
  app.advance(6000);
  await app.app.jobs.tick();
  ok(silent.seen.connections - connections <= 8);
  await collection.removeBy('client', mute.id);
});

test('attack: replay of a delivery; each token is another one and expires within two minutes', async () => {
  const { client, agent } = await signedIn(`http://127.0.0.1:${failing.port}/replay`);
  await agent.get('/oauth2/logout');
  await settledAfter(client.id, 1);
  app.advance(61_000);
  await app.app.jobs.tick();
  await settledAfter(client.id, 2);
  const tokens = failing.received
    .filter(({ url }) => url === '/replay')
    .map(({ body }) => new URLSearchParams(body).get('logout_token') ?? '');
  equal(tokens.length, 2);
  const claims = tokens.map(claimsOf);
  equal(new Set(claims.map(({ jti }) => jti)).size, 2);
  for (const { exp, iat, nonce } of claims) {
    ok(Number(exp) - Number(iat) <= 120);
    equal(nonce, undefined);
  }
  // Nor is one good for anything here.
  const hint = await new Agent(app).get(`/oauth2/logout?id_token_hint=${tokens[0]}`);
  equal(hint.location ?? null, null);
  const stored = JSON.stringify(
    (await app.store.collection(logoutDeliveries).findBy('client', client.id))[0],
  );
  for (const token of tokens) ok(!stored.includes(token) && !app.logged.join('').includes(token));
});

test('attack: the test button tells open ports from closed ones at an unapproved address', async () => {
  const { body: made } = await app.admin('POST', '/initial-access-tokens', { label: 'x', uses: 5 });
  const headers = { ...bearer(String(made.data.token)), 'content-type': 'application/json' };
  const outcomes: Record<string, unknown>[] = [];
  // Open and covered, open and not covered, closed.
  for (const port of [silent.port, uncovered.port, 9]) {
    const uri = `https://127.0.0.1:${port}/`;
    const registered = await call(app, 'POST', '/oauth2/register', {
      headers,
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], backchannel_logout_uri: uri }),
    });
    equal(registered.status, 201, registered.text);
    const before = [silent.seen.connections, uncovered.seen.connections];
    const startedAt = performance.now();
    const { status, body } = await app.admin('POST', `/clients/${registered.body.client_id}/test-logout`);
    ok(isWithin(performance.now() - startedAt, 2500));
    equal(status, 200);
    deepEqual([silent.seen.connections, uncovered.seen.connections], before);
    const { state, status: answered, problem, message } = body.data;
    outcomes.push({ state, answered, problem, message });
  }
  deepEqual(outcomes, [outcomes[0], outcomes[0], outcomes[0]]);
  equal(outcomes[0]?.problem, 'not_allowed');
  // One that an administrator entered is not called either where OUTBOUND_ALLOW does not cover it.
  const entered = await app.register({ backchannel_logout_uri: `https://127.0.0.1:${uncovered.port}/` });
  equal((await app.admin('POST', `/clients/${entered.id}/test-logout`)).body.data.problem, 'not_allowed');
  equal(uncovered.seen.connections, 0);
});
