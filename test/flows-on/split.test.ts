// Owns the proof that the product works as production runs it: the whole HTTP flow suite with what is durable in MongoDB
// and what is short-lived in Redis. Pages of the Admin UI, which ask the API that is tried here anyway, and lists with what
// hostile people put into them, wait for LONG=1.
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { runFlows } from './run-flows.ts';

const isLong = process.env.LONG === '1';
const isWanted = (name: string): boolean => isLong || !/^admin-(?:ui|many|paging|injections)/.test(name);

test('every flow works with MongoDB and Redis', { timeout: 900_000 }, async () => {
  const [mongo, redis] = await Promise.all([startMongoServer(), startRedis()]);
  try {
    const env = { TEST_STORE: 'split', MONGODB_TEST_URI: mongo.freshUri(), REDIS_TEST_URL: redis.url };
    await runFlows(env, isWanted);
  } finally {
    await Promise.all([mongo.stop(), redis.stop()]);
  }
});
