// The attack: somebody redirects the connection to Redis and answers with a certificate of their own. With pins
// (REDIS_TLS_VERIFY) nothing is sent to it on any kind of connection: one server, sentinel, master, or member of a cluster.
import { equal, match, ok, rejects } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisStore, type RedisStore } from '../../adapters/redis/store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { notes, unavailableIn } from '../store/redis-support.ts';
import { type RedisServer, until } from '../support/redis-server.ts';
import {
  makeTlsCertificate,
  startImpostor,
  startTlsRedis,
  type TlsCertificate,
} from '../support/tls-redis.ts';

const clock = Date.now;
const PASSWORD = 'hunter2';
const login = { config: [`requirepass ${PASSWORD}`], cliOptions: ['-a', PASSWORD, '--no-auth-warning'] };

describe('attack: a swapped certificate of Redis', () => {
  let folder: string;
  let real: TlsCertificate;
  let other: TlsCertificate;
  const servers: RedisServer[] = [];
  const stores: RedisStore[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-pins-'));
    [real, other] = await Promise.all([
      makeTlsCertificate(folder, 'real'),
      makeTlsCertificate(folder, 'other'),
    ]);
  });
  after(async () => {
    for (const store of stores) await store.close();
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true });
  });
  const start = async (...options: Parameters<typeof startTlsRedis>): Promise<RedisServer> => {
    const server = await startTlsRedis(...options);
    servers.push(server);
    return server;
  };
  const open = async (url: string): Promise<RedisStore> => {
    const store = await createRedisStore({ url, clock, verify: [other.pin.replace(/./g, '0'), real.pin] });
    stores.push(store);
    await works(store);
    return store;
  };
  const works = async (store: RedisStore): Promise<void> => {
    await store.ephemeral(notes).put('a', { text: 'there' }, { expiresAt: clock() + 60_000 });
    equal((await store.ephemeral(notes).find('a'))?.value.text, 'there');
  };
  const namesOther = (): RegExp => new RegExp(`sha256:${other.pin}, is not one that REDIS_TLS_VERIFY lists`);
  const isBack = async (store: RedisStore): Promise<boolean> =>
    (await unavailableIn(() => store.ephemeral(notes).find('a'))) === undefined;

  /** The server is gone and another answers in its place; then it is back. */
  async function swap(server: RedisServer, store: RedisStore): Promise<void> {
    await server.kill();
    const impostor = await startImpostor(other, server.port);
    try {
      await until(() => impostor.attempts() > 1);
      for (let turn = 0; turn < 3; turn += 1) {
        await unavailableIn(() =>
          store.ephemeral(notes).put('secret', { text: 'x' }, { expiresAt: clock() + 60_000 }),
        );
        await sleep(300);
      }
      equal(impostor.received(), '');
    } finally {
      await impostor.stop();
    }
    await server.start();
    await until(() => isBack(store));
    await works(store);
  }

  async function isRefusedAtStart(port: number, url: string, reason: RegExp): Promise<void> {
    const impostor = await startImpostor(other, port);
    try {
      await rejects(createRedisStore({ url, clock, verify: [real.pin] }), (error) => {
        ok(error instanceof StoreUnavailable);
        match(error.message, reason);
        return !error.message.includes(PASSWORD);
      });
      ok(impostor.attempts() > 0);
      equal(impostor.received(), '');
    } finally {
      await impostor.stop();
    }
  }

  test('without pins the password would be sent: what the other tests would see', async () => {
    const { port } = await start(real);
    await servers.pop()?.stop();
    const impostor = await startImpostor(other, port);
    const url = `rediss://:${PASSWORD}@127.0.0.1:${port}`;
    await rejects(createRedisStore({ url, clock, verify: 'off' }), StoreUnavailable);
    await impostor.stop();
    match(impostor.received(), new RegExp(PASSWORD));
  });

  test('one server: AUTH is never sent to another certificate, and the true one works again', async () => {
    const server = await start(real, login);
    const url = `rediss://:${PASSWORD}@127.0.0.1:${server.port}`;
    await swap(server, await open(url));
    await server.kill();
    await isRefusedAtStart(server.port, url, namesOther());
  });

  test('cluster: neither members, nor the look-up of slots, nor subscriptions send anything', async () => {
    const config = [
      'cluster-enabled yes',
      'cluster-announce-ip 127.0.0.1',
      'tls-cluster yes',
      'appendonly yes',
      ...login.config,
    ];
    const server = await start(real, { ...login, config });
    await server.cli('cluster', 'addslotsrange', '0', '16383');
    await until(async () => /cluster_state:ok/.test(await server.cli('cluster', 'info')));
    const url = `rediss://:${PASSWORD}@127.0.0.1:${server.port}?cluster`;
    const store = await open(url);
    const before = store.changes.stamp();
    store.changes.announce();
    await until(() => store.changes.stamp() !== before, 2_000);
    await swap(server, store);
    await server.kill();
    await isRefusedAtStart(server.port, url, /REDIS_TLS_VERIFY/);
  });

  test('sentinel: neither sentinels nor the master that they name get anything', async () => {
    const master = await start(real, login);
    const sentinel = await start(real, {
      isSentinel: true,
      config: [
        `requirepass ${PASSWORD}`,
        `sentinel monitor main 127.0.0.1 ${master.port} 1`,
        `sentinel auth-pass main ${PASSWORD}`,
        'sentinel down-after-milliseconds main 60000',
      ],
      cliOptions: login.cliOptions,
    });
    const url = `rediss-sentinel://:${PASSWORD}@127.0.0.1:${sentinel.port}/main?sentinel_password=${PASSWORD}`;
    await swap(master, await open(url));
    await sentinel.kill();
    await isRefusedAtStart(sentinel.port, url, namesOther());
  });
});
