// The HTTP flow tests without plain answers (src/oidc/plain/), so that both ways stay tested: everywhere else they are on. Each
// run has those that are about such answers and quick; all of them run with LONG=1, and all attacks.
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { runFlows } from './run-flows.ts';

const isLong = process.env.LONG === '1';

const EACH_RUN: ReadonlySet<string> = new Set([
  'client-authentication',
  'forged-tokens',
  'introspection',
  'revocation',
  'userinfo',
]);

/** They are about the difference. */
const isAboutBoth = (name: string): boolean => name.startsWith('plain-');

const isWanted = (name: string): boolean =>
  !isAboutBoth(name) && (isLong || EACH_RUN.has(name.slice(0, -'.test.ts'.length)));

test(`flows without plain answers${isLong ? ', all, and attacks' : ''}`, { timeout: 3_000_000 }, async () => {
  const attacks = isLong ? globSync('test/attacks/*.test.ts').filter((file) => !file.includes('soak')) : [];
  // At their usual size: their long runs are those with plain answers.
  await runFlows({ TEST_PLAIN_ANSWERS: 'off', LONG: '' }, isWanted, attacks);
});
