// Which accounts are locked, as it is asked of the store. A lock that ends later than the longest can is of a clock that was set
// back since, and holds no longer (decision 0012).
import { SKEW_MS } from '../clock.ts';
import { MAX_LOCKOUT_SECONDS } from '../model/settings/sign-in.ts';
import type { FieldFilter } from './port.ts';

export const MAX_LOCK_MS = MAX_LOCKOUT_SECONDS * 1000;

const field = 'locked_until';
const latest = (now: number): number => now + MAX_LOCK_MS + SKEW_MS;

/** All of them hold of an account that is locked. @param now epoch milliseconds */
export const lockedFilters = (now: number): FieldFilter[] => [
  { field, op: 'gte', value: now + 1 },
  { field, op: 'lte', value: latest(now) },
];

/** One of them holds of an account that is not. @param now epoch milliseconds */
export const unlockedFilters = (now: number): FieldFilter[] => [
  { field, op: 'absent' },
  { field, op: 'lte', value: now },
  { field, op: 'gte', value: latest(now) + 1 },
];
