// The HTTP flow tests on MongoDB alone. With Redis beside it they run each time (split.test.ts); here only those about ephemeral
// data, which is stored elsewhere than there, run each time, and all with LONG=1.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { runFlows } from './run-flows.ts';

const isLong = process.env.LONG === '1';
const SHORT_LIVED = /^(?:codes|refresh|sessions)\.test\.ts$/;

test(`flows with everything in MongoDB${isLong ? ', all' : ''}`, { timeout: 900_000 }, async () => {
  const server = await startMongoServer();
  let count = 0;
  const isWanted = (name: string): boolean => {
    const isOne = isLong || SHORT_LIVED.test(name);
    if (isOne) count += 1;
    return isOne;
  };
  try {
    await runFlows({ TEST_STORE: 'mongodb', MONGODB_TEST_URI: server.freshUri() }, isWanted);
    assert.ok(count >= 3, `only ${count} files`);
  } finally {
    await server.stop();
  }
});
