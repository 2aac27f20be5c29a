// Owns the proof that the product works as production runs it: the whole HTTP flow suite with what is durable in MongoDB
// and what is short-lived in Redis.
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { runFlows } from './run-flows.ts';

test('every flow works with MongoDB and Redis', { timeout: 900_000 }, async () => {
  const [mongo, redis] = await Promise.all([startMongoServer(), startRedis()]);
  try {
    await runFlows({
      TEST_STORE: 'split',
      MONGODB_TEST_URI: mongo.freshUri(),
      REDIS_TEST_URL: redis.url,
    });
  } finally {
    await Promise.all([mongo.stop(), redis.stop()]);
  }
});
