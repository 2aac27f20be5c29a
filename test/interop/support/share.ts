// The share of successes that the handlers of src/oidc/plain/ answered in a run of the interop tests: node share.ts LIST. Ends
// with 1 where it is under 95 %; what the library answers on purpose (proofs, cookies, other grants) is told apart.
import { readFileSync } from 'node:fs';

interface Success {
  readonly endpoint: string;
  readonly isPlain: boolean;
  readonly reason: string;
}

const GOAL = 0.95;
const [, , list = ''] = process.argv;
const successes = readFileSync(list, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line): Success => JSON.parse(line));
const usual = successes.filter(({ isPlain, reason }) => isPlain || reason === '');

for (const endpoint of new Set(usual.map((success) => success.endpoint))) {
  const some = usual.filter((success) => success.endpoint === endpoint);
  console.log(`   ${endpoint}: ${some.filter(({ isPlain }) => isPlain).length} of ${some.length}`);
}
const plain = usual.filter(({ isPlain }) => isPlain).length;
const share = usual.length === 0 ? 1 : plain / usual.length;
console.log(
  `== plain answers: ${plain} of ${usual.length} successes (${(share * 100).toFixed(1)} %); ` +
    `${successes.length - usual.length} more are the library's (DPoP, cookies, other grants)`,
);
if (share < GOAL) process.exitCode = 1;
