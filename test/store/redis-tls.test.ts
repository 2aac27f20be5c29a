// REDIS_TLS_VERIFY on a real Redis with TLS whose certificate signed itself: what each value accepts, what the log and the
// refusal at start say, and that the release step looks at Redis too.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { createRedisStore } from '../../adapters/redis/store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { run as runProgram, startServer } from '../processes/server-process.ts';
import { run as runScript } from '../scripts/run.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { type RedisServer, until } from '../support/redis-server.ts';
import { makeTlsCertificate, startTlsRedis, type TlsCertificate } from '../support/tls-redis.ts';
import { notes } from './redis-support.ts';

const clock = Date.now;
const SECRET_KEY = 'test-secret-key-0123456789-0123456789';

describe('redis: an unverifiable certificate', () => {
  let folder: string;
  let certificate: TlsCertificate;
  let redis: RedisServer;
  let mongo: MongoServer;
  let url: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-redis-tls-'));
    certificate = await makeTlsCertificate(folder, 'redis');
    [redis, mongo] = await Promise.all([startTlsRedis(certificate), startMongoServer()]);
    url = `rediss://127.0.0.1:${redis.port}`;
  });
  after(async () => {
    await Promise.all([redis.stop(), mongo.stop()]);
    await rm(folder, { recursive: true });
  });
  const environment = (more: Record<string, string>) => ({
    MONGODB_URI: mongo.freshUri(),
    REDIS_URL: url,
    SECRET_KEY,
    ...more,
  });
  /** @returns what it logged */
  const works = async (address: string, verify: 'on' | 'off' | readonly string[]): Promise<string[]> => {
    const said: string[] = [];
    const add = (_: object, message: string) => void said.push(message);
    const log = { warn: add, info: add };
    const store = await createRedisStore({ url: address, verify, clock, log });
    await store.ephemeral(notes).put('a', { text: 'there' }, { expiresAt: clock() + 60_000 });
    assert.equal((await store.ephemeral(notes).find('a'))?.value.text, 'there');
    await store.close();
    return said;
  };

  test('on: refused, and the message names REDIS_TLS_VERIFY', async () => {
    await assert.rejects(createRedisStore({ url, clock, verify: 'on' }), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      return /cannot be verified .*REDIS_TLS_VERIFY/.test(error.message);
    });
  });

  test('off: works, and every start says what that means', async () => {
    for (let start = 0; start < 2; start += 1) {
      assert.match(String(await works(url, 'off')), /REDIS_TLS_VERIFY is off: .* is not verified/);
    }
  });

  test('pins: the certificate is accepted without name and chain, and every start says so', async () => {
    assert.match(String(await works(url, [certificate.pin])), /verified by REDIS_TLS_VERIFY alone/);
  });

  test('sentinel and cluster: off and pins work there too', async () => {
    const config = ['cluster-enabled yes', 'cluster-announce-ip 127.0.0.1', 'tls-cluster yes'];
    const member = await startTlsRedis(certificate, { config });
    const sentinel = await startTlsRedis(certificate, {
      isSentinel: true,
      config: [`sentinel monitor main 127.0.0.1 ${redis.port} 1`],
    });
    try {
      await member.cli('cluster', 'addslotsrange', '0', '16383');
      await until(async () => /cluster_state:ok/.test(await member.cli('cluster', 'info')));
      for (const verify of ['off', [certificate.pin]] as const) {
        await works(`rediss://127.0.0.1:${member.port}`, verify);
        await works(`rediss-sentinel://127.0.0.1:${sentinel.port}/main`, verify);
      }
    } finally {
      await Promise.all([member.stop(), sentinel.stop()]);
    }
  });

  test('web: the refusal is one line without a stack, and it starts with off', async () => {
    const child = runProgram(environment({ PORT: '0', HOST: '127.0.0.1' }));
    assert.ok(child.stdout);
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    assert.equal(code, 1, output);
    assert.match(output, /REDIS_TLS_VERIFY/);
    assert.doesNotMatch(output, /"stack"|\.ts:\d+/);
    const server = await startServer({ dataDir: folder, env: environment({ REDIS_TLS_VERIFY: 'off' }) });
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
    assert.match(server.output(), /REDIS_TLS_VERIFY is off/);
    await server.stop('SIGKILL');
  });

  test('release: looks at Redis before it touches MongoDB', async () => {
    const refused = await runScript('scripts/release.ts', [], { env: environment({}) });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^Redis \(127\.0\.0\.1:\d+\) cannot be reached: .*REDIS_TLS_VERIFY/);
    await redis.cli('config', 'set', 'maxmemory-policy', 'allkeys-lru');
    const env = environment({ REDIS_TLS_VERIFY: `sha256:${certificate.pin}` });
    const evicting = await runScript('scripts/release.ts', [], { env });
    await redis.cli('config', 'set', 'maxmemory-policy', 'noeviction');
    assert.deepEqual([evicting.code, /allkeys-lru/.test(evicting.stderr)], [1, true]);
    const { code, stdout, stderr } = await runScript('scripts/release.ts', [], { env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /The store is ready/);
  });
});
