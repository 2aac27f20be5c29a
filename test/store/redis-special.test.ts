// The Redis store when Redis is killed, hangs, restarts, is full, or could lose entries by its configuration; and its addresses:
// TLS, password, sentinels.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisStore, type RedisStore } from '../../adapters/redis/store.ts';
import { StoreUnavailable, VersionConflict } from '../../src/store/port.ts';
import { makeCertificate } from '../mail/certificate.ts';
import { isWithin, slowness } from '../support/patience.ts';
import { type RedisServer, startRedis, until } from '../support/redis-server.ts';
import { notes, unavailableIn } from './redis-support.ts';

const MINUTE = 60_000;
const ROUNDS = process.env.LONG === '1' ? 20 : 1;
const clock = Date.now;

describe('redis: faults', () => {
  let server: RedisServer;
  const stores: RedisStore[] = [];
  before(async () => {
    // With `everysec` Redis answers before it writes while its disk is slow, and forgets that when it is killed.
    server = await startRedis({ config: ['appendonly yes', 'appendfsync always'] });
  });
  after(async () => {
    for (const store of stores) await store.close();
    await server.stop();
  });
  const open = async (): Promise<RedisStore> => {
    const store = await createRedisStore({ url: server.url, clock });
    stores.push(store);
    return store;
  };

  test('kill -9 and restart: fails within 2 s, recovers with all acknowledged writes (R173)', async (t) => {
    const store = await open();
    const entries = store.ephemeral(notes);
    const expiresAt = clock() + MINUTE;
    for (let round = 0; round < ROUNDS; round += 1) {
      const acknowledged: string[] = [];
      const writes = Array.from({ length: 400 }, async (_, n) => {
        await sleep(n / 4);
        await entries.insert(`${round}-${n}`, { text: 'kept', owner: `o${round}` }, { expiresAt });
        acknowledged.push(`${round}-${n}`);
      });
      const writing = Promise.allSettled(writes);
      while (acknowledged.length < 20) await sleep(1);
      await server.kill();
      const outcomes = await writing;
      const refused = outcomes.filter(({ status }) => status === 'rejected');
      for (const { reason } of refused as PromiseRejectedResult[])
        assert.ok(reason instanceof StoreUnavailable, String(reason));
      assert.ok(refused.length > 0 && acknowledged.length > 0, `${acknowledged.length} acknowledged`);
      for (const act of [
        () => entries.find('x'),
        () => store.ping(),
        () => entries.put('x', { text: 'late' }, { expiresAt }),
      ]) {
        const ms = await unavailableIn(act);
        assert.ok(ms !== undefined && isWithin(ms, 2000), `${ms} ms`);
      }
      await until(() => store.changes.stamp() === undefined);
      const returned = performance.now();
      await server.start();
      await until(async () => (await unavailableIn(() => store.ping())) === undefined);
      t.diagnostic(
        `round ${round}: back ${Math.round(performance.now() - returned)} ms after the start, ${acknowledged.length} acknowledged`,
      );
      for (const id of acknowledged) assert.equal((await entries.find(id))?.value.text, 'kept', id);
      assert.equal(await entries.find('x'), undefined, 'what was refused happened later');
      await until(() => store.changes.stamp() !== undefined);
    }
  });

  test('hanging: fails within 2 s, and refused writes do not count twice (R173)', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    await entries.put('hang', { text: 'before' }, { expiresAt: clock() + MINUTE });
    server.signal('SIGSTOP');
    const waits = await Promise.all([
      unavailableIn(() => entries.find('hang')),
      unavailableIn(() => store.ping()),
      unavailableIn(() => entries.replace('hang', 1, { text: 'during' })),
    ]);
    for (const ms of waits) assert.ok(ms !== undefined && isWithin(ms, 2000), `${ms} ms`);
    await sleep(1500);
    const later = await unavailableIn(() => entries.find('hang'));
    assert.ok(later !== undefined && isWithin(later, 2000), `${later} ms`);
    server.signal('SIGCONT');
    await until(async () => (await unavailableIn(() => store.ping())) === undefined);
    const found = await entries.find('hang');
    assert.ok((found?.version ?? 9) <= 2, 'sent more than once');
  });

  test('of 100 consumers of one code over two stores during a kill at most one succeeds (R070)', async (t) => {
    const two = [await open(), await open()].map((store) => store.ephemeral(notes));
    const figures: number[] = [];
    for (let round = 0; round < 2 * ROUNDS; round += 1) {
      const id = `code${round}`;
      const [first] = two;
      await first?.put(id, { text: 'code', isUsed: false }, { expiresAt: clock() + MINUTE });
      let winners = 0;
      const consume = async (n: number): Promise<void> => {
        await sleep(n / 2);
        for (let attempt = 0; attempt < 40; attempt += 1) {
          try {
            const entries = two[n % 2];
            const stored = await entries?.find(id);
            if (entries === undefined || stored === undefined || stored.value.isUsed === true) return;
            await entries.replace(id, stored.version, { ...stored.value, isUsed: true });
            winners += 1;
            return;
          } catch (error) {
            if (error instanceof VersionConflict) return;
            assert.ok(error instanceof StoreUnavailable, String(error));
            await sleep(50);
          }
        }
      };
      const consumers = Array.from({ length: 100 }, (_, n) => consume(n));
      await sleep(round * 2);
      await server.kill();
      await server.start();
      await Promise.all(consumers);
      assert.ok(winners <= 1, `${winners} winners`);
      figures.push(winners);
      await until(async () => (await unavailableIn(async () => first?.find(id))) === undefined);
      assert.equal(
        (await first?.find(id))?.value.isUsed,
        true,
        'a code that everybody tried is still unused',
      );
    }
    t.diagnostic(`winners by round: ${figures}`);
  });

  test('an announced change reaches every process at once, or when Redis returns', async (t) => {
    const [here, there] = [await open(), await open()];
    for (let round = 0; round < 5; round += 1) {
      const before = there.changes.stamp();
      assert.notEqual(before, undefined);
      const said = performance.now();
      here.changes.announce();
      await until(() => there.changes.stamp() !== before, 1000 * slowness());
      t.diagnostic(`heard after ${Math.round(performance.now() - said)} ms`);
    }
    await server.kill();
    await until(() => there.changes.stamp() === undefined && here.changes.stamp() === undefined);
    here.changes.announce();
    await server.start();
    await until(() => there.changes.stamp() !== undefined);
    const counter = async () => Number(await server.cli('get', 'latchkey:{changes}:counter'));
    await until(async () => (await counter()) >= 6);
    await sleep(600);
    assert.equal(await counter(), 6);
    // Listening, too, has begun again: a message alone is heard.
    const quiet = there.changes.stamp();
    await server.cli('publish', 'latchkey:changes', '');
    await until(() => there.changes.stamp() !== quiet, 300 * slowness());
  });

  test('announcements in quick succession are each made, the last before close too', async () => {
    const store = await open();
    const counter = async (): Promise<number> =>
      Number(await server.cli('get', 'latchkey:{changes}:counter'));
    for (let round = 0; round < 3; round += 1) {
      let before = await counter();
      store.changes.announce();
      store.changes.announce();
      await until(async () => (await counter()) > before);
      // Until both are through; well before anything is looked at again.
      await sleep(20);
      before = await counter();
      store.changes.announce();
      await until(async () => (await counter()) > before, 1000 * slowness());
    }
    const before = await counter();
    store.changes.announce();
    store.changes.announce();
    await store.close();
    assert.equal(await counter(), before + 2);
  });

  test('hanging: a request with several calls still fails within 2 s (R173)', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    server.signal('SIGSTOP');
    try {
      for (let request = 0; request < 3; request += 1) {
        const ms = await unavailableIn(async () => {
          // As limits and logs do that go on without Redis.
          for (let turn = 0; turn < 4; turn += 1) await entries.find('hang').catch(() => undefined);
          await entries.find('hang');
        });
        assert.ok(ms !== undefined && isWithin(ms, 2000), `request ${request}: ${ms} ms`);
      }
    } finally {
      server.signal('SIGCONT');
    }
    await until(async () => (await unavailableIn(() => store.ping())) === undefined);
  });

  test('a lost message is made up for by the counter within half a second', async () => {
    const store = await open();
    const before = store.changes.stamp();
    await server.cli('incr', 'latchkey:{changes}:counter');
    await until(() => store.changes.stamp() !== before && store.changes.stamp() !== undefined, 600);
  });

  test('full: unavailable for writes, still reads and removes (R173)', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    const expiresAt = clock() + MINUTE;
    await entries.put('full', { text: 'here', owner: 'full' }, { expiresAt });
    await server.cli('config', 'set', 'maxmemory', '1');
    try {
      await assert.rejects(entries.put('more', { text: 'more' }, { expiresAt }), StoreUnavailable);
      assert.equal((await entries.find('full'))?.value.text, 'here');
      assert.equal((await entries.findBy('owner', 'full')).length, 1);
      assert.equal(await entries.remove('full'), true);
    } finally {
      await server.cli('config', 'set', 'maxmemory', '0');
    }
    assert.equal(await entries.find('more'), undefined);
  });

  test('emptied or restarted empty: nothing is there or revived, new data works (R173)', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    const expiresAt = clock() + MINUTE;
    await entries.put('gone', { text: 'used', owner: 'empty', isUsed: true }, { expiresAt });
    const before = store.changes.stamp();
    await server.cli('flushall');
    assert.equal(await entries.find('gone'), undefined);
    assert.deepEqual(await entries.findBy('owner', 'empty'), []);
    await assert.rejects(entries.replace('gone', 1, { text: 'revived' }), VersionConflict);
    assert.equal(await entries.remove('gone'), false);
    assert.equal((await entries.insert('gone', { text: 'new' }, { expiresAt })).version, 1);
    // Whoever keeps something in memory looks again: the counter is gone, too.
    await until(() => store.changes.stamp() !== before, 1000 * slowness());
  });

  test('read-only replica: unavailable, and works again as a master (R173)', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    const expiresAt = clock() + MINUTE;
    await entries.put('replica', { text: 'before' }, { expiresAt });
    await server.cli('replicaof', '127.0.0.1', '1');
    await assert.rejects(entries.put('replica', { text: 'during' }, { expiresAt }), StoreUnavailable);
    await server.cli('replicaof', 'no', 'one');
    await until(
      async () =>
        (await unavailableIn(() => entries.put('replica', { text: 'after' }, { expiresAt }))) === undefined,
    );
    assert.equal((await entries.find('replica'))?.value.text, 'after');
  });

  test('errors contain no stored value (R147)', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    await server.cli('set', 'latchkey:{notes}:d:odd', 'not a hash');
    await server.cli('config', 'set', 'maxmemory', '1');
    try {
      for (const id of ['odd', 'even']) {
        await assert.rejects(
          entries.put(id, { text: 'top secret' }, { expiresAt: clock() + MINUTE }),
          (error) => {
            assert.ok(error instanceof Error);
            const shown = JSON.stringify([
              error,
              Object.entries(error),
              error.message,
              error.stack,
              String(error.cause),
            ]);
            return !shown.includes('top secret');
          },
        );
      }
    } finally {
      await server.cli('config', 'set', 'maxmemory', '0');
    }
  });

  test('unswept documents expire in Redis, never before this clock says so', async () => {
    const store = await open();
    const entries = store.ephemeral(notes);
    const soon = clock() + MINUTE;
    await entries.put('short', { text: '', owner: 'brooms' }, { expiresAt: soon });
    await entries.put('long', { text: '', owner: 'brooms' }, { expiresAt: soon + MINUTE });
    await entries.replace('short', 1, { text: 'again', owner: 'brooms' });
    const ttl = async (key: string): Promise<number> =>
      Number(await server.cli('pttl', `latchkey:{notes}:${key}`));
    const short = await ttl('d:short');
    assert.ok(short > MINUTE && short < 2 * 3_600_000, `${short}`);
    assert.ok((await ttl('i:owner:brooms')) > short + MINUTE / 2);
    await entries.put('ever', { text: '', owner: 'brooms' });
    assert.equal(await ttl('i:owner:brooms'), -1);
    // The broom came first: the index still names it, and no one is shown a document that is not there.
    await server.cli('del', 'latchkey:{notes}:d:long');
    assert.deepEqual(
      (await entries.findBy('owner', 'brooms')).map(({ id }) => id),
      ['ever', 'short'],
    );
    await entries.put('long', { text: '', owner: 'another' }, { expiresAt: soon });
    assert.equal(await entries.removeBy('owner', 'brooms'), 2);
    assert.equal((await entries.find('long'))?.value.owner, 'another');
  });

  test('more documents than one script handles are found, removed and swept in order', async () => {
    let now = clock();
    const store = await createRedisStore({ url: server.url, clock: () => now, prefix: 'many' });
    stores.push(store);
    const entries = store.ephemeral(notes);
    const ids = Array.from({ length: 1050 }, (_, n) => `id${String(n).padStart(4, '0')}`);
    const fill = (): Promise<unknown> =>
      Promise.all(ids.map((id) => entries.put(id, { text: id, owner: 'crowd' }, { expiresAt: now + 1000 })));
    await fill();
    assert.deepEqual(
      (await entries.findBy('owner', 'crowd')).map(({ id }) => id),
      ids,
    );
    assert.equal(await entries.removeBy('owner', 'crowd'), ids.length);
    await fill();
    now += 1000;
    assert.deepEqual([await store.sweep(600), await store.sweep(600), await store.sweep(600)], [600, 450, 0]);
    assert.equal(await server.cli('keys', 'many:{notes}:*'), '');
  });
});

describe('redis: refusals and addresses', () => {
  const servers: RedisServer[] = [];
  after(() => Promise.all(servers.map((server) => server.stop())));
  const start = async (...options: Parameters<typeof startRedis>): Promise<RedisServer> => {
    const server = await startRedis(...options);
    servers.push(server);
    return server;
  };
  const works = async (options: { url: string; ca?: string }): Promise<void> => {
    const store = await createRedisStore({ ...options, clock });
    try {
      await store.ephemeral(notes).put('a', { text: 'there' }, { expiresAt: clock() + MINUTE });
      assert.equal((await store.ephemeral(notes).find('a'))?.value.text, 'there');
    } finally {
      await store.close();
    }
  };

  test('every eviction policy that may drop entries is refused by name, with the remedy (R174)', async () => {
    const server = await start();
    for (const policy of [
      'allkeys-lru',
      'volatile-lru',
      'allkeys-random',
      'volatile-ttl',
      'allkeys-lfu',
      'volatile-lfu',
    ]) {
      await server.cli('config', 'set', 'maxmemory-policy', policy);
      await assert.rejects(createRedisStore({ url: server.url, clock }), (error) => {
        assert.ok(error instanceof StoreUnavailable);
        return error.message.includes(policy) && error.message.includes('noeviction');
      });
    }
    await server.cli('config', 'set', 'maxmemory-policy', 'noeviction');
    await works({ url: server.url });
  });

  test('eviction policy: known even where CONFIG is forbidden (R174)', async () => {
    const server = await start({ config: ['rename-command CONFIG ""', 'maxmemory-policy allkeys-lru'] });
    await assert.rejects(createRedisStore({ url: server.url, clock }), /allkeys-lru/);
  });

  test('persistence: a Redis that may lose its last writes is logged, another is not (R177)', async () => {
    const server = await start();
    const warnings = async (...settings: [string, string][]): Promise<string[]> => {
      for (const [name, value] of settings) await server.cli('config', 'set', name, value);
      const said: string[] = [];
      const log = { warn: (_: object, message: string) => void said.push(message), info: () => undefined };
      await (await createRedisStore({ url: server.url, clock, log })).close();
      return said;
    };
    assert.deepEqual(await warnings(['save', '']), []);
    assert.match(String(await warnings(['save', '60 1'])), /appendfsync always/);
    assert.match(
      String(await warnings(['appendonly', 'yes'], ['appendfsync', 'everysec'])),
      /appendfsync always/,
    );
    assert.deepEqual(await warnings(['appendfsync', 'always']), []);
  });

  test('absent: refused in time, naming the address and not the password', async () => {
    const started = performance.now();
    const url = 'redis://someone:hunter2@127.0.0.1:1/0';
    await assert.rejects(createRedisStore({ url, clock }), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      return error.message.includes('127.0.0.1:1') && !error.message.includes('hunter2');
    });
    assert.ok(isWithin(performance.now() - started, 6000));
  });

  test('user, password and database number; a wrong password is refused and not printed', async () => {
    const server = await start({
      config: ['user latchkey on >p%40ss:w/rd ~* &* +@all', 'user default on >other ~* &* +@all'],
      cliOptions: ['-a', 'other', '--no-auth-warning'],
    });
    const at = `127.0.0.1:${server.port}`;
    await works({ url: `redis://latchkey:${encodeURIComponent('p%40ss:w/rd')}@${at}/3` });
    assert.match(await server.cli('-n', '3', 'keys', '*'), /latchkey:\{notes\}:d:a/);
    await works({ url: `redis://:other@${at}` });
    await assert.rejects(createRedisStore({ url: `redis://latchkey:guess@${at}`, clock }), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      return !error.message.includes('guess');
    });
  });

  test('protected mode: the server’s own message is quoted', async (t) => {
    const deny = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end('-DENIED Redis is running in protected mode\r\n');
    }).listen(0, '127.0.0.1');
    t.after(() => deny.close());
    await once(deny, 'listening');
    const { port } = deny.address() as AddressInfo;
    await assert.rejects(createRedisStore({ url: `redis://127.0.0.1:${port}`, clock }), {
      name: 'StoreUnavailable',
      message: `Redis (127.0.0.1:${port}) cannot be reached: DENIED Redis is running in protected mode`,
    });
  });

  test('TLS: the certificate is verified against the given authority', async (t) => {
    const { key, cert } = makeCertificate();
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-tls-'));
    t.after(() => rm(folder, { recursive: true }));
    await Promise.all([writeFile(join(folder, 'key.pem'), key), writeFile(join(folder, 'cert.pem'), cert)]);
    const server = await start({
      isTls: true,
      config: [`tls-cert-file ${folder}/cert.pem`, `tls-key-file ${folder}/key.pem`, 'tls-auth-clients no'],
      cliOptions: ['--tls', '--insecure'],
    });
    const url = `rediss://127.0.0.1:${server.port}`;
    await works({ url, ca: cert });
    await assert.rejects(createRedisStore({ url, clock }), StoreUnavailable);
    await assert.rejects(createRedisStore({ url: `redis://127.0.0.1:${server.port}`, clock }), {
      name: 'StoreUnavailable',
      message: /cannot be reached: the server closed the connection\. Does it need TLS/,
    });
  });

  test('Sentinel: the master is found, and its successor after a failover', async (t) => {
    const master = await start();
    const replica = await start({ config: [`replicaof 127.0.0.1 ${master.port}`] });
    const sentinel = await start({
      isSentinel: true,
      config: [
        `sentinel monitor main 127.0.0.1 ${master.port} 1`,
        'sentinel down-after-milliseconds main 500',
        'sentinel failover-timeout main 2000',
      ],
    });
    await until(async () => /state=online/.test(await master.cli('info', 'replication')));
    await until(async () => /slaves=1/.test(await sentinel.cli('info', 'sentinel')));
    const store = await createRedisStore({ url: `redis-sentinel://127.0.0.1:${sentinel.port}/main`, clock });
    t.after(() => store.close());
    const entries = store.ephemeral(notes);
    await entries.insert('a', { text: 'before' }, { expiresAt: clock() + MINUTE });
    await until(async () => (await replica.cli('exists', 'latchkey:{notes}:d:a')) === '1');
    assert.ok(store.ports?.().includes(master.port), 'which no application may have called');
    await master.kill();
    const died = performance.now();
    const ms = await unavailableIn(() => entries.find('a'));
    assert.ok(ms === undefined || isWithin(ms, 2000), `${ms} ms`);
    await until(
      async () =>
        (await unavailableIn(() => entries.put('a', { text: 'after' }, { expiresAt: clock() + MINUTE }))) ===
        undefined,
      30_000,
    );
    t.diagnostic(`writing again ${Math.round(performance.now() - died)} ms after the master's death`);
    assert.match(await replica.cli('info', 'replication'), /role:master/);
    assert.deepEqual(new Set(store.ports?.()), new Set([master.port, replica.port]));
    assert.equal((await entries.find('a'))?.value.text, 'after');
  });
});
