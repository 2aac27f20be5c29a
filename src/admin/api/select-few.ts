// Pages of a list that has only a few entries per user: all of them are in memory, so they are sorted and cut here, in
// the storage's order (C13).
import type { CollectionDefinition, Query } from '../../store/port.ts';
import type { Listing } from './ports.ts';

interface Position {
  readonly id: string;
  readonly sortValue: number;
}

/** @param fields the sortable fields, all of them numbers */
export function selectFew<T extends { readonly id: string }>(
  all: readonly T[],
  fields: CollectionDefinition<T>['fields'],
  { sort, order, after, offset = 0, limit }: Query,
): Listing<T> {
  const direction = order === 'asc' ? 1 : -1;
  const positionOf = (item: T): Position => ({ id: item.id, sortValue: Number(fields[sort]?.of(item) ?? 0) });
  const compare = (a: Position, b: Position): number =>
    direction * (a.sortValue - b.sortValue || (a.id < b.id ? -1 : Number(a.id > b.id)));
  const start = after && { id: after.id, sortValue: Number(after.sortValue ?? 0) };
  const items = all
    .toSorted((a, b) => compare(positionOf(a), positionOf(b)))
    .filter((item) => start === undefined || compare(positionOf(item), start) > 0)
    .slice(offset, offset + limit);
  return { items, total: all.length };
}
