// Tests that need a real MongoDB: the server for tests lets two findAndModify commands on one document pass of which the second
// should see the first, so that races over it are lost by the server, and checks no unique key in a list. They run where MONGODB_TEST_URI names a real one (CI);
// elsewhere they are listed as not run, here and at the end of `npm test`.
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';

const isReal = Boolean(process.env.MONGODB_TEST_URI);

export const testOnRealMongo = (name: string, act: () => Promise<void>): void => testWhere(isReal, name, act);

/**
 * For a flow that the server for tests cannot hold, because it needs unique keys in lists or of two writes of one document exactly one
 * to succeed: on every other store (test/flows-on/run-flows.ts).
 */
export function testOnSoundStore(name: string, act: () => Promise<void>): void {
  const { TEST_STORE, TEST_MONGODB_IS_REAL } = process.env;
  const isOnMongo = TEST_STORE === 'mongodb' || TEST_STORE === 'split';
  testWhere(!isOnMongo || TEST_MONGODB_IS_REAL === '1', name, act);
}

function testWhere(canRun: boolean, name: string, act: () => Promise<void>): void {
  if (canRun) {
    test(name, act);
    return;
  }
  const { NOT_RUN_LIST: list } = process.env;
  if (list) appendFileSync(list, `${name}\n`);
  process.stderr.write(`NOT RUN, needs a real MongoDB (MONGODB_TEST_URI): ${name}\n`);
}
