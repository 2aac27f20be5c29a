// Filters, sorts and pages in memory. Simple and slow on purpose: it is the reference for the other backends.
import type { FieldFilter, FieldValue, Query } from '../../src/store/port.ts';
import { compareText, fold } from '../document.ts';

/** What a query can refer to. */
export interface Candidate {
  readonly id: string;
  readonly fields: ReadonlyMap<string, FieldValue>;
}

type Position = { readonly id: string; readonly sortValue: FieldValue | undefined };

/** All values of a field have one type; a missing value sorts first. */
function compareValues(a: FieldValue | undefined, b: FieldValue | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return Number(a) - Number(b);
}

const comparePositions = (a: Position, b: Position): number =>
  compareValues(a.sortValue, b.sortValue) || compareText(a.id, b.id);

const contains = (value: FieldValue | undefined, text: FieldValue | undefined): boolean =>
  typeof value === 'string' && typeof text === 'string' && fold(value).includes(fold(text));

function passes({ field, op, value }: FieldFilter, { fields }: Candidate): boolean {
  const actual = fields.get(field);
  if (op === 'absent') return actual === undefined;
  if (actual === undefined) return false;
  if (op === 'present') return true;
  if (op === 'contains') return contains(actual, value);
  const order = compareValues(actual, value);
  if (op === 'eq') return order === 0;
  return op === 'gte' ? order >= 0 : order <= 0;
}

/** @returns the page and how many candidates match over all pages */
export function select<C extends Candidate>(
  candidates: readonly C[],
  query: Query,
): { page: C[]; total: number } {
  const { filters = [], search, sort, order, limit, offset = 0, after } = query;
  const position = (candidate: C): Position => ({
    id: candidate.id,
    sortValue: sort === 'id' ? undefined : candidate.fields.get(sort),
  });
  // `desc` is the exact reverse of `asc`, ids included, so that one index serves both.
  const direction = order === 'asc' ? 1 : -1;
  const matching = candidates
    .filter((candidate) => filters.every((filter) => passes(filter, candidate)))
    .filter(({ fields }) => search?.fields.some((field) => contains(fields.get(field), search.text)) ?? true)
    .sort((a, b) => direction * comparePositions(position(a), position(b)));
  const start = after && { id: after.id, sortValue: sort === 'id' ? undefined : after.sortValue };
  const behind = start
    ? matching.filter((candidate) => direction * comparePositions(position(candidate), start) > 0)
    : matching;
  return { page: behind.slice(offset, offset + limit), total: matching.length };
}
