// Why a request of an application was refused, in words, and what its developer does about it: one row per cause, in three
// parts. The first row that fits counts.
import { authenticationCauses, redirectCauses } from './refusal-client-causes.ts';
import type { RefusalRow } from './refusal-row.ts';
import { ruleCauses } from './refusal-rule-causes.ts';
import { codeCauses, scopeCauses, tokenCauses } from './refusal-token-causes.ts';

const table: readonly RefusalRow[] = [
  ...redirectCauses,
  ...authenticationCauses,
  ...codeCauses,
  ...tokenCauses,
  ...scopeCauses,
  ...ruleCauses,
];

const other: RefusalRow = {
  cause: 'other',
  words: 'The request is not valid.',
  remedy: 'The error and the reason beside it say what was refused; compare the request with them.',
};

interface Explanation {
  readonly cause: string;
  readonly message: string;
  readonly remedy: string;
}

export function explainRefusal({
  error,
  reason = '',
}: {
  readonly error: string;
  readonly reason?: string | undefined;
}): Explanation {
  for (const { cause, errors, reason: pattern, words, remedy } of table) {
    if (errors !== undefined && !errors.includes(error)) continue;
    const match = pattern === undefined ? undefined : pattern.exec(reason);
    if (match === null) continue;
    return { cause, message: words.replace('$1', () => match?.[1] ?? '').trim(), remedy };
  }
  return { cause: other.cause, message: other.words, remedy: other.remedy };
}
