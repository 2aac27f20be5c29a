// The HTTP flow tests on MongoDB alone, with LONG=1. In each run test/store has its contract, test/faults/two-webs.test.ts codes,
// refreshes, revocations and settings on it, and split.test.ts the flows with Redis beside it.
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { runFlows } from './run-flows.ts';

if (process.env.LONG === '1')
  test('flows with everything in MongoDB', { timeout: 1_800_000 }, async () => {
    const server = await startMongoServer();
    try {
      await runFlows({ TEST_STORE: 'mongodb', MONGODB_TEST_URI: server.freshUri() });
    } finally {
      await server.stop();
    }
  });
