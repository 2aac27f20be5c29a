// The HTTP flow tests with durable data in MongoDB and ephemeral data in Redis, as in production, and the attacks on stored data
// (trust-files.ts). Each run has one flow or two of each way in which they depend on stored data. All of them run with LONG=1, and
// where MONGODB_TEST_URI names a real server (CI).
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { redisToShare } from '../support/redis-server.ts';
import { runFlows } from './run-flows.ts';
import { trustFiles } from './trust-files.ts';

const isWhole = process.env.LONG === '1' || Boolean(process.env.MONGODB_TEST_URI);
const EACH_RUN: ReadonlySet<string> = new Set([
  // Used once, by whoever is first.
  'codes',
  // A chain of which each replaces the one before.
  'refresh',
  // Ended with all that belongs to it.
  'sessions',
  // Told to others after the answer.
  'backchannel-logout',
]);
const isWanted = (name: string): boolean => isWhole || EACH_RUN.has(name.slice(0, -'.test.ts'.length));

test(`${isWhole ? 'every flow works' : 'flows that depend on stored state work'} with MongoDB and Redis`, {
  timeout: 900_000,
}, async () => {
  const [mongo, redis] = await Promise.all([startMongoServer(), redisToShare()]);
  try {
    const env = { TEST_STORE: 'split', MONGODB_TEST_URI: mongo.freshUri(), REDIS_TEST_URL: redis.url };
    await runFlows(env, isWanted, trustFiles(isWhole));
  } finally {
    await Promise.all([mongo.stop(), redis.stop()]);
  }
});
