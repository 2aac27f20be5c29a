// Pages of lists: turns a validated request into storage queries, and their results into the envelope
// { items, total, limit, offset, next } (decision 0010).
import { Null, type TSchema, Union } from 'typebox';
import { invalid } from '../../errors.ts';
import type { FieldValue, Query } from '../../store/port.ts';
import type { Cursors, Position } from './cursor.ts';
import { type ListDefinition, type ListRequest, MAX_LIMIT } from './list-query.ts';
import type { Listing } from './ports.ts';
import { array, integer, object, string } from './schema-parts.ts';

export interface ListPage<Item> {
  items: Item[];
  total: number;
  limit: number;
  /** Number of items before this page. */
  offset: number;
  /** Cursor of the next page; null on the last. */
  next: string | null;
}

/** @returns the schema of a page of such items */
export const pageSchema = <S extends TSchema>(item: S) =>
  object(
    {
      items: array(item, 'The items of this page.'),
      total: integer('Matching items on all pages.'),
      limit: integer('The most items that a page has.'),
      offset: integer('Items before this page.'),
      next: Union([string(), Null()], {
        description: 'Pass it as `cursor` to continue; null: this is the last page.',
      }),
    },
    'A page of the list.',
  );

interface Source<Record, Item> {
  readonly list: ListDefinition<Record>;
  readonly request: ListRequest;
  readonly cursors: Cursors;
  readonly query: (query: Query) => Promise<Listing<Item>>;
  readonly recordOf: (item: Item) => Record;
  readonly idOf: (item: Item) => string;
}

/** @returns one page of stored items. @throws AppError request.invalid for a cursor of another list */
export async function readPage<Record, Item>(source: Source<Record, Item>): Promise<ListPage<Item>> {
  const { list, request, cursors } = source;
  const { limit, sort, order, search, groups, scope } = request;
  const start = request.cursor === undefined ? undefined : cursors.open(request.cursor, scope);
  const offset = start?.offset ?? request.offset ?? 0;
  const base: Omit<Query, 'limit'> = {
    sort,
    order,
    ...(search !== undefined && { search: { text: search, fields: list.searches ?? [] } }),
    ...(start && { after: { id: start.id, sortValue: start.sortValue } }),
  };
  // One extra item shows whether there is a next page; a count would be wrong under concurrent writes.
  const window = Math.min(limit + 1, MAX_LIMIT);
  const skipped = start === undefined ? offset : 0;
  const positionOf = (item: Item): Omit<Position, 'offset'> => ({
    id: source.idOf(item),
    sortValue: sort === 'id' ? undefined : list.collection.fields[sort]?.of(source.recordOf(item)),
  });

  const [only, ...more] = groups;
  const found =
    only !== undefined && more.length === 0
      ? await source.query({ ...base, filters: only, limit: window, ...(skipped > 0 && { offset: skipped }) })
      : await readUnion(source, base, skipped, window, positionOf);

  const items = found.items.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.items.length > limit || (limit === MAX_LIMIT && items.length === limit);
  const next =
    last === undefined || !hasMore
      ? null
      : cursors.seal({ ...positionOf(last), offset: offset + items.length }, scope);
  return { items, total: found.total, limit, offset, next };
}

/** Each document matches one group only, so pages can be merged and totals added. */
async function readUnion<Record, Item>(
  { request: { groups, order }, query }: Source<Record, Item>,
  base: Omit<Query, 'limit'>,
  skipped: number,
  window: number,
  positionOf: (item: Item) => Omit<Position, 'offset'>,
): Promise<Listing<Item>> {
  const limit = skipped + window;
  if (limit > MAX_LIMIT) {
    const problem = `With this filter offset and limit together must stay below ${MAX_LIMIT}; continue with the cursor.`;
    throw invalid({ offset: problem });
  }
  const pages = await Promise.all(groups.map((filters) => query({ ...base, filters, limit })));
  const direction = order === 'asc' ? 1 : -1;
  const items = pages
    .flatMap((page) => page.items.map((item) => ({ item, position: positionOf(item) })))
    .sort((a, b) => direction * compare(a.position, b.position))
    .slice(skipped, skipped + window)
    .map(({ item }) => item);
  return { items, total: pages.reduce((sum, page) => sum + page.total, 0) };
}

// The storage's order (C13): absent values first, text by code point, ties by id.
const compare = (a: Omit<Position, 'offset'>, b: Omit<Position, 'offset'>): number =>
  compareValues(a.sortValue, b.sortValue) || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));

function compareValues(a: FieldValue | undefined, b: FieldValue | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}
