// Owns how a query becomes conditions of MongoDB. Callers' text is only ever a compared value or an escaped literal.
import type { Collection as DriverCollection, Filter } from 'mongodb';
import type { FieldFilter, FieldValue, Page, Query } from '../../src/store/port.ts';
import type { Connection } from './connection.ts';
import {
  fromRow,
  isExpiredAt,
  isLiveAt,
  type Row,
  readProjection,
  toCell,
  toSearchable,
} from './document.ts';
import { encodeOrdered } from './text.ts';

export interface QueryDeps {
  readonly connection: Connection;
  readonly rows: DriverCollection<Row>;
  readonly ready: () => Promise<void>;
  readonly query: Query;
  readonly now: number;
  /** Up to here a whole collection is counted one by one; above, see `countAll`. */
  readonly countUpTo: number;
}

type Condition = Filter<Row>;

// A search looks at every document: with many of them that takes longer than a request for one.
const SEARCH_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 1_200;

/** Matches text literally. NUL ends a pattern in BSON, so it is written as its number. */
const literal = (text: string): string =>
  text.replace(/[\\^$.|?*+()[\]{}/#-]/g, '\\$&').replaceAll('\0', '\\x{0}');

const contains = (field: string, text: FieldValue | undefined): Condition => ({
  [`s.${field}`]: { $regex: literal(toSearchable(String(text))) },
});

function toCondition({ field, op, value }: FieldFilter): Condition {
  const path = `f.${field}`;
  switch (op) {
    case 'eq':
      return { [path]: { $eq: toCell(value ?? '') } };
    case 'gte':
      return { [path]: { $gte: toCell(value ?? '') } };
    case 'lte':
      return { [path]: { $lte: toCell(value ?? '') } };
    case 'contains':
      return contains(field, value);
    case 'absent':
      return { [path]: { $exists: false } };
    case 'present':
      return { [path]: { $exists: true } };
  }
}

/** @returns what must hold; none for "everything" */
function conditionsOf({ filters = [], search }: Query): Condition[] {
  const conditions = filters.map(toCondition);
  if (search) {
    const anywhere = search.fields.map((field) => contains(field, search.text));
    // No field contains anything.
    conditions.push(anywhere.length > 0 ? { $or: anywhere } : { _id: { $in: [] } });
  }
  return conditions;
}

/**
 * The stretches of the sort order behind a position, in order: each one is a piece of an index. Documents without the
 * field come first in ascending order.
 */
function stretchesBehind({ sort, order, after }: Query): Condition[] {
  if (after === undefined) return [{}];
  const than = order === 'asc' ? '$gt' : '$lt';
  const ids: Condition = { _id: { [than]: encodeOrdered(after.id) } };
  if (sort === 'id') return [ids];
  const path = `f.${sort}`;
  const absent: Condition = { [path]: { $exists: false } };
  const present: Condition = { [path]: { $exists: true } };
  if (after.sortValue === undefined) {
    const rest = { ...absent, ...ids };
    return order === 'asc' ? [rest, present] : [rest];
  }
  const value = toCell(after.sortValue);
  const behind = [{ [path]: { $eq: value }, ...ids }, { [path]: { [than]: value } }];
  return order === 'asc' ? behind : [...behind, absent];
}

const all = (conditions: readonly Condition[]): Condition =>
  conditions.length > 0 ? { $and: [...conditions] } : {};

async function readPage(
  { rows, query, now }: QueryDeps,
  conditions: readonly Condition[],
  maxTimeMS: number,
) {
  const { sort, order, limit, offset = 0 } = query;
  const direction = order === 'asc' ? 1 : -1;
  const page: Row[] = [];
  for (const stretch of stretchesBehind(query)) {
    const found = await rows
      .find(all([...conditions, isLiveAt(now), stretch]), { maxTimeMS, projection: readProjection })
      .sort(sort === 'id' ? { _id: direction } : { [`f.${sort}`]: direction, _id: direction })
      .skip(offset)
      .limit(limit - page.length)
      .toArray();
    page.push(...found);
    if (page.length === limit) break;
  }
  return page;
}

/**
 * How many documents live. Counting one by one takes a second for a million, so beyond a bound it is MongoDB's own count
 * less the few expired; after a crash of the database that may be off by the writes of its last minute.
 */
async function countAll({ rows, now, countUpTo }: QueryDeps): Promise<number> {
  const estimate = await rows.estimatedDocumentCount({ maxTimeMS: QUERY_TIMEOUT_MS });
  if (estimate <= countUpTo) return rows.countDocuments(isLiveAt(now), { maxTimeMS: QUERY_TIMEOUT_MS });
  return estimate - (await rows.countDocuments(isExpiredAt(now), { maxTimeMS: QUERY_TIMEOUT_MS }));
}

/** @returns undefined where nobody asks: of very many, counting takes longer than there is time, and the page does not */
async function countMatching(
  deps: QueryDeps,
  conditions: readonly Condition[],
  maxTimeMS: number,
): Promise<number | undefined> {
  if (deps.query.isCounted === false) return undefined;
  if (conditions.length === 0) return countAll(deps);
  return deps.rows.countDocuments(all([...conditions, isLiveAt(deps.now)]), { maxTimeMS });
}

/** @param deps.query checked against the definition: its names are declared ones */
export async function runQuery<T>(deps: QueryDeps): Promise<Page<T>> {
  const { connection, ready, query } = deps;
  const isSearch = query.search !== undefined || query.filters?.some(({ op }) => op === 'contains') === true;
  const maxTimeMS = isSearch ? SEARCH_TIMEOUT_MS : QUERY_TIMEOUT_MS;
  const conditions = conditionsOf(query);
  const answer = async (): Promise<Page<T>> => {
    await ready();
    const [page, total] = await Promise.all([
      readPage(deps, conditions, maxTimeMS),
      countMatching(deps, conditions, maxTimeMS),
    ]);
    return { items: page.map(fromRow<T>), total: total ?? page.length };
  };
  return isSearch ? connection.run(answer, SEARCH_TIMEOUT_MS) : connection.run(answer);
}
