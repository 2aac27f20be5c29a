// Stopping: SIGTERM lets requests complete, informs the balancer, and exits in time.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent as HttpAgent, get as httpGet, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { isWithin } from '../support/patience.ts';
import { isUp, run, type ServerProcess, startServer } from './server-process.ts';

const MAX_STOP_MS = 30_000;

let server: ServerProcess;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-stop-'));
  server = await startServer({ dataDir: folder });
});
afterEach(async () => {
  await server.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

async function timedStop(signal?: NodeJS.Signals): Promise<number> {
  const startedAt = performance.now();
  const exit = await server.stop(signal);
  assert.deepEqual(exit, { code: 0, signal: null }, server.output());
  return performance.now() - startedAt;
}

/** A token request on a connection of its own. Resolves when it has been handed over in full; its answer may be to come. */
async function sendOff(authorization: string): Promise<{ status: Promise<number> }> {
  const { promise: status, resolve, reject } = Promise.withResolvers<number>();
  const body = 'grant_type=client_credentials';
  const outgoing = httpRequest(`${server.url}/oauth2/token`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
    },
  });
  outgoing.on('error', reject);
  outgoing.on('response', (response) => {
    response.resume();
    response.on('end', () => resolve(response.statusCode ?? 0));
    response.on('error', reject);
  });
  // Told of when it is asked for, which may be later.
  status.catch(() => undefined);
  outgoing.end(body);
  await once(outgoing, 'finish');
  return { status };
}

suite('SIGTERM', () => {
  test('200 requests in flight: none fails, and the process exits with 0', async () => {
    const client = await server.register({
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
    });
    const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
    const open = () => sendOff(`Basic ${credentials}`);
    assert.equal(await (await open()).status, 200);
    // All of them are on the server's side of the wire when the signal comes.
    const running = await Promise.all(Array.from({ length: 200 }, open));
    // Accepted, too: new connections are accepted in their order, and this one comes last.
    const last = httpGet(`${server.url}/healthz`, { agent: false });
    const [answer] = await once(last, 'response');
    answer.resume();
    const elapsed = await timedStop();
    const statuses = await Promise.all(running.map(({ status }) => status));
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.ok(isWithin(elapsed, MAX_STOP_MS), `${elapsed} ms`);
  });

  test('DRAIN_SECONDS: readiness turns at once; new connections are served until it is over', async () => {
    await server.stop('SIGKILL');
    server = await startServer({ dataDir: folder, env: { DRAIN_SECONDS: '2' } });
    const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });
    const ask = (path: string): Promise<{ status: number; connection: string | undefined }> => {
      const { promise, resolve, reject } = Promise.withResolvers<{
        status: number;
        connection: string | undefined;
      }>();
      httpGet(`${server.url}${path}`, { agent }, (response) => {
        response.resume();
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }),
        );
      }).on('error', reject);
      return promise;
    };
    assert.deepEqual(await ask('/readyz'), { status: 200, connection: 'keep-alive' });
    const stopped = timedStop();
    await server.waitForLine(({ msg }) => msg === 'stopping');
    assert.deepEqual(await ask('/readyz'), { status: 503, connection: 'close' });
    assert.equal((await ask('/healthz')).status, 200);
    assert.equal((await ask('/.well-known/jwks.json')).status, 200);
    await sleep(1_000);
    assert.deepEqual(await ask('/oauth2/.well-known/openid-configuration'), {
      status: 200,
      connection: 'close',
    });
    const elapsed = await stopped;
    assert.ok(elapsed >= 2_000 && isWithin(elapsed, 8_000), `${elapsed} ms`);
    assert.equal(await isUp(server.port), false);
    agent.destroy();
  });

  test('DRAIN_SECONDS at its most: the process is gone within 28 s while a request never ends', async (t) => {
    await server.stop('SIGKILL');
    server = await startServer({ dataDir: folder, env: { DRAIN_SECONDS: '15', WEB_CONCURRENCY: '2' } });
    const socket = connect(server.port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.write('POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n');
    socket.write('Content-Type: application/x-www-form-urlencoded\r\n\r\n');
    await sleep(200);
    // Its body goes on arriving, byte by byte.
    const drip = setInterval(() => socket.write('a'), 20_000);
    t.after(() => clearInterval(drip));
    const startedAt = performance.now();
    await server.stop();
    const elapsed = performance.now() - startedAt;
    assert.ok(elapsed >= 15_000 && isWithin(elapsed, 28_500), `${elapsed} ms`);
  });

  test('idle, half-open and refused connections do not delay it', async () => {
    const sockets = Array.from({ length: 20 }, (_, index) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      if (index % 2 === 0) socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n');
      return socket;
    });
    // A body that was refused half-way, whose sender has gone away.
    const body = 'a='.repeat(500_000);
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const refused = connect(server.port, '127.0.0.1');
    refused.on('error', () => undefined);
    refused.write(
      `POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    );
    await new Promise((resolve) => refused.once('data', resolve));
    refused.destroy();
    await sleep(200);
    const elapsed = await timedStop();
    for (const socket of sockets) socket.destroy();
    assert.ok(isWithin(elapsed, 8_000), `${elapsed} ms`);
  });

  test('two signals in a row count as one, and SIGINT stops as well', async () => {
    const stopped = timedStop('SIGINT');
    server.signal('SIGTERM');
    server.signal('SIGINT');
    await stopped;
    assert.equal(server.logged.filter(({ msg }) => msg === 'stopping').length, 1);
  });
});

test('interrupted start: stopped or killed at any moment, it can be started again', async () => {
  const port = await freePort();
  const fresh = await mkdtemp(join(tmpdir(), 'latchkey-start-'));
  try {
    for (const [delay, signal] of [
      [20, 'SIGTERM'],
      [150, 'SIGKILL'],
      [300, 'SIGTERM'],
      [450, 'SIGKILL'],
    ] as const) {
      const child = run({ PORT: String(port), HOST: '127.0.0.1', DATA_DIR: fresh });
      const over = once(child, 'close');
      await sleep(delay);
      child.kill(signal);
      const [code, killedBy] = await over;
      assert.ok(code === 0 || killedBy === signal, `${delay} ms: ${code} ${killedBy}`);
    }
    const started = await startServer({ dataDir: fresh, port });
    assert.equal((await fetch(`${started.url}/readyz`)).status, 200);
    assert.equal((await started.stop()).code, 0);
  } finally {
    await rm(fresh, { recursive: true });
  }
});
