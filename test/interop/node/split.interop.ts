// The quick set with durable data in MongoDB and ephemeral data in Redis, as in production.
import { test } from 'node:test';
import { runFlows } from '../../flows-on/run-flows.ts';
import { startMongoServer } from '../../support/mongodb-server.ts';
import { redisToShare } from '../../support/redis-server.ts';
import { need } from '../support/toolchain.ts';

const QUICK = ['test/interop/node/clients.test.ts', 'test/interop/browser/oidc-client-ts.test.ts'];

test('the quick set on MongoDB and Redis', need('redis-server', 'chromium'), async () => {
  const [mongo, redis] = await Promise.all([startMongoServer(), redisToShare()]);
  try {
    const env = { TEST_STORE: 'split', MONGODB_TEST_URI: mongo.freshUri(), REDIS_TEST_URL: redis.url };
    await runFlows(env, () => false, QUICK);
  } finally {
    await Promise.all([mongo.stop(), redis.stop()]);
  }
});
