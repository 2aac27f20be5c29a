// The HTTP flow tests and the attacks without plain answers (src/oidc/plain/), with LONG=1: everywhere else they are on. In each run
// test/flows/plain-*.test.ts send the same requests to twins with and without and compare what they answer, write and log.
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { runFlows } from './run-flows.ts';

if (process.env.LONG === '1')
  test('flows and attacks without plain answers', { timeout: 3_000_000 }, async () => {
    const attacks = globSync('test/attacks/*.test.ts').filter((file) => !file.includes('soak'));
    // At their usual size: their long runs are those with plain answers. What is about the difference has both.
    await runFlows({ TEST_PLAIN_ANSWERS: 'off', LONG: '' }, (name) => !name.startsWith('plain-'), attacks);
  });
