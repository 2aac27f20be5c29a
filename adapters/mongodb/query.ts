// Turns a query into MongoDB conditions. Callers' text is only ever a compared value or an escaped literal.
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
  /** Collections up to this size are counted exactly; for larger ones see `countAll`. */
  readonly countUpTo: number;
}

type Condition = Filter<Row>;

// A search scans every document: with many of them that takes longer than a request's usual timeout.
const SEARCH_TIMEOUT_MS = 10_000;
const QUERY_TIMEOUT_MS = 1_200;

/** Matches text literally. NUL would end a pattern in BSON, so it is escaped by number. */
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

/** @returns the conditions; none means "everything" */
function conditionsOf({ filters = [], search }: Query): Condition[] {
  const conditions = filters.map(toCondition);
  if (search) {
    const anywhere = search.fields.map((field) => contains(field, search.text));
    // A search over no fields matches nothing.
    conditions.push(anywhere.length > 0 ? { $or: anywhere } : { _id: { $in: [] } });
  }
  return conditions;
}

/**
 * The ranges of the sort order after a position, in order; each is served by an index. Documents without the field come
 * first in ascending order.
 */
function rangesAfter({ sort, order, after }: Query): Condition[] {
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
  const following = [{ [path]: { $eq: value }, ...ids }, { [path]: { [than]: value } }];
  return order === 'asc' ? following : [...following, absent];
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
  for (const range of rangesAfter(query)) {
    const found = await rows
      .find(all([...conditions, isLiveAt(now), range]), { maxTimeMS, projection: readProjection })
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
 * How many documents are live. An exact count takes a second for a million, so above a bound it is MongoDB's estimate less
 * the few expired; after a crash of the database the estimate may miss the writes of the last minute.
 */
async function countAll({ rows, now, countUpTo }: QueryDeps): Promise<number> {
  const estimate = await rows.estimatedDocumentCount({ maxTimeMS: QUERY_TIMEOUT_MS });
  if (estimate <= countUpTo) return rows.countDocuments(isLiveAt(now), { maxTimeMS: QUERY_TIMEOUT_MS });
  return estimate - (await rows.countDocuments(isExpiredAt(now), { maxTimeMS: QUERY_TIMEOUT_MS }));
}

/** @returns undefined where the query needs no total: counting very many matches takes longer than reading the page */
async function countMatching(
  deps: QueryDeps,
  conditions: readonly Condition[],
  maxTimeMS: number,
): Promise<number | undefined> {
  if (deps.query.isCounted === false) return undefined;
  if (conditions.length === 0) return countAll(deps);
  return deps.rows.countDocuments(all([...conditions, isLiveAt(deps.now)]), { maxTimeMS });
}

/** @param deps.query validated: all its names are declared */
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
