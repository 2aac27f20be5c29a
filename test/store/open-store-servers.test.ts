// The store of a deployment with servers: everything in MongoDB, or split between MongoDB and Redis, and a half that is down is
// named, at the start and later.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openStore } from '../../adapters/index.ts';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { facts, settings } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { accessTokens } from '../../src/store/protocol-collections.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { isWithin } from '../support/patience.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { temporaryDirectory } from './sqlite-support.ts';

const fact = { at: 1, value: 'yes' };

describe('openStore with servers', () => {
  let mongo: MongoServer;
  let redis: RedisServer;
  let mongodbUri: string;
  let dataDir: string;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  before(async () => {
    directory = await temporaryDirectory();
    dataDir = `${directory.path}/never-made`;
    [mongo, redis] = await Promise.all([startMongoServer(), startRedis()]);
  });
  after(async () => {
    await Promise.all([mongo.stop(), redis.stop(), directory.remove()]);
  });
  beforeEach(() => {
    mongodbUri = mongo.freshUri();
  });
  const clock = Date.now;
  const isIn = async (definition: typeof accessTokens, id: string): Promise<boolean> => {
    const store = await createMongoStore({ uri: mongodbUri, clock });
    const found = await store.collection(definition).find(id);
    await store.close();
    return found !== undefined;
  };

  test('MongoDB alone: holds both halves, and no folder is created', async () => {
    const store = await openStore({ config: { dataDir, mongodbUri }, clock });
    await store.collection(facts).insert('installed', fact);
    await store.ephemeral(accessTokens).insert('token', {}, { expiresAt: clock() + 60_000 });
    await store.close();
    assert.equal(await isIn(accessTokens, 'token'), true);
    assert.equal(existsSync(dataDir), false);
  });

  test('with Redis: ephemeral data is there and nothing else', async () => {
    const store = await openStore({ config: { dataDir, mongodbUri, redisUrl: redis.url }, clock });
    await store.collection(facts).insert('installed', fact);
    await store.ephemeral(accessTokens).insert('token', {}, { expiresAt: clock() + 60_000 });
    assert.equal((await store.ephemeral(accessTokens).find('token'))?.version, 1);
    assert.equal(await isIn(accessTokens, 'token'), false);
    assert.match(await redis.cli('keys', '*'), /access_tokens/);
    await store.ping();
    await store.close();
  });

  test('a settings change in one process reaches the other within a second', async () => {
    const open = () => openStore({ config: { dataDir, mongodbUri, redisUrl: redis.url }, clock });
    const [one, two] = await Promise.all([open(), open()]);
    const before = two.stamp();
    assert.notEqual(before, undefined);
    await one.collection(settings).put('current', { values: {}, updatedAt: 1, updatedBy: 'x' });
    const started = performance.now();
    while (two.stamp() === before) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(isWithin(performance.now() - started, 1_000));
    await Promise.all([one.close(), two.close()]);
  });

  test('Redis down: named by ping, durable data works; a start is refused without a password', async () => {
    const away = await startRedis();
    const store = await openStore({ config: { dataDir, mongodbUri, redisUrl: away.url }, clock });
    await away.kill();
    await assert.rejects(store.ping(), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.deepEqual(error.down, ['redis']);
      return true;
    });
    await store.collection(facts).insert('meanwhile', fact);
    await assert.rejects(store.ephemeral(accessTokens).find('token'), StoreUnavailable);
    await store.close();
    const redisUrl = away.url.replace('redis://', 'redis://:hunter2@');
    await assert.rejects(openStore({ config: { dataDir, mongodbUri, redisUrl }, clock }), (error) => {
      assert.ok(error instanceof StoreUnavailable, String(error));
      assert.doesNotMatch(String(error.stack), /hunter2/);
      return true;
    });
    await away.stop();
  });
});
