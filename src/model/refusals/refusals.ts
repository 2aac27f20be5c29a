// Why a request of an application was refused, in words, and what its developer does about it: one row per cause. The first row
// that fits counts.
import { authenticationCauses, redirectCauses } from './client.ts';
import type { RefusalRow } from './refusal-row.ts';
import { ruleCauses } from './rules.ts';
import { codeCauses, scopeCauses, tokenCauses } from './token.ts';

export const refusalRows: readonly RefusalRow[] = [
  ...redirectCauses,
  ...authenticationCauses,
  ...codeCauses,
  ...tokenCauses,
  ...scopeCauses,
  ...ruleCauses,
  {
    cause: 'other',
    words: 'The request is not valid.',
    remedy: 'The error and the reason beside it say what was refused; compare the request with them.',
  },
];

const details = new Set(refusalRows.flatMap(({ details = [] }) => details));

/** @returns the `error_detail` of a refusal, where it may be written down */
export const knownDetail = (detail: string | undefined): string | undefined =>
  detail !== undefined && details.has(detail) ? detail : undefined;
