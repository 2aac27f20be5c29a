// Attack: clients that send a byte a second without end (slowloris). Other requests are served as
// before, and the slow connections are closed in time.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, startServer } from '../processes/server-process.ts';
import { requestTokens } from '../support/agent.ts';
import { isWithin } from '../support/patience.ts';
import { isLong, sized } from './sizes.ts';
import { quantile } from './statistics.ts';

const SLOW_HEADS = sized(150, 1600);
const SLOW_BODIES = sized(100, 400);
// headersTimeout and requestTimeout of src/http/server.ts, looked at every second, and the machine's own slowness.
const HEAD_LIMIT_MS = 10_000 + 1000 + 3000;
const BODY_LIMIT_MS = 30_000 + 1000 + 4000;
const HONEST_P95_MS = 500;

let server: ServerProcess;
let folder: string;
let client: { id: string; secret: string };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-slow-'));
  server = await startServer({ dataDir: folder, env: { LOG_LEVEL: 'warn' } });
  client = await server.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
});
after(async () => {
  await server.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

interface Slow {
  readonly socket: Socket;
  /** Milliseconds from its first byte until the server closed it. */
  readonly lived: Promise<number>;
}

/** Sends `start`, then one byte a second for as long as it is let; without a start it says nothing at all. */
function trickle(start = ''): Slow {
  const { promise: lived, resolve } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  const socket = connect(server.port, '127.0.0.1', () => socket.write(start));
  const timer = setInterval(() => start !== '' && socket.writable && socket.write('a'), 1000);
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    resolve(performance.now() - startedAt);
  });
  socket.resume();
  return { socket, lived };
}

async function honestTimes(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedAt = performance.now();
    const { status } = await requestTokens(server, client, { grant_type: 'client_credentials' });
    assert.equal(status, 200);
    assert.equal((await fetch(`${server.url}/.well-known/jwks.json`)).status, 200);
    times.push(performance.now() - startedAt);
    await sleep(20);
  }
  return times;
}

test(`attack: ${SLOW_HEADS} slow heads and ${SLOW_BODIES} slow bodies are closed and delay no one`, async (t) => {
  const calm = quantile(await honestTimes(50), 0.95);
  const head = 'POST /oauth2/token HTTP/1.1\r\nHost: a\r\n';
  const length = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 50000\r\n\r\ntoken=';
  const heads = Array.from({ length: SLOW_HEADS }, () => trickle(`${head}X-Slow: `));
  const silent = Array.from({ length: 50 }, () => trickle());
  const bodies = Array.from({ length: SLOW_BODIES }, () => trickle(head + length));
  t.after(() => {
    for (const { socket } of [...heads, ...silent, ...bodies]) socket.destroy();
  });

  const busy = quantile(await honestTimes(100), 0.95);
  t.diagnostic(
    `token and JWKS together, p95: ${calm.toFixed(1)} ms alone, ${busy.toFixed(1)} ms beside them`,
  );
  assert.ok(isWithin(busy, HONEST_P95_MS), `${busy} ms`);

  const lives = await Promise.all([...heads, ...silent].map(({ lived }) => lived));
  assert.ok(isWithin(Math.max(...lives), HEAD_LIMIT_MS), `a slow head lived ${Math.max(...lives)} ms`);
  if (!isLong) return;
  const bodyLives = await Promise.all(bodies.map(({ lived }) => lived));
  assert.ok(
    isWithin(Math.max(...bodyLives), BODY_LIMIT_MS),
    `a slow body lived ${Math.max(...bodyLives)} ms`,
  );
});
