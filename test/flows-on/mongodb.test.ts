// Owns the proof that the product works on MongoDB alone: the whole HTTP flow suite runs on it.
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { runFlows } from './run-flows.ts';

test('every flow works with everything in MongoDB', { timeout: 900_000 }, async () => {
  const server = await startMongoServer();
  try {
    await runFlows({ TEST_STORE: 'mongodb', MONGODB_TEST_URI: server.freshUri() });
  } finally {
    await server.stop();
  }
});
