// Counts, before a query runs, how many documents match each filter. That decides whether to start from the fewest matches
// or to scan the sorted index. SQLite's own planner would only estimate.
import type { Query } from '../../src/store/port.ts';
import { all, anyOf, byField, contains, type FieldCondition, searchable } from './condition.ts';
import type { Connection } from './connection.ts';
import { candidatesOf } from './search.ts';
import type { Condition } from './sql.ts';
import { expiryIndex, sortIndex, type Table } from './table.ts';

export interface Sizes {
  /** Sorting this many rows takes a few milliseconds, less than scanning an index past all rows that do not match. */
  readonly few: number;
  /** Rows scanned before yielding to the event loop: about ten milliseconds. */
  readonly slice: number;
  /** Row ids taken from an index at once. */
  readonly many: number;
}

export const defaultSizes: Sizes = { few: 5_000, slice: 5_000, many: 50_000 };

interface Narrowing extends FieldCondition {
  /** How many rows match; Infinity: more than another condition's. */
  readonly count: number;
}

export interface PlanDeps {
  readonly connection: Connection;
  readonly sizes: Sizes;
}

export interface Plan {
  /** Of all rows, including expired ones. */
  rowCount(): number;
  /** All conditions that do not match every row anyway; undefined: there are none. */
  readonly wanted: Condition | undefined;
  /** Conditions with an index, most selective first. */
  readonly narrowings: readonly Narrowing[];
  readonly hasText: boolean;
  /** A SELECT of the row ids that may contain the searched text, where an index can tell. */
  readonly candidates: Condition | undefined;
}

/** @returns the table with a forced SQL index (INDEXED BY); an unknown index is an error instead of a slow query */
export const indexedBy = (table: Table, index: string): string => `${table.sql} INDEXED BY "${index}"`;

export function count(connection: Connection, from: string, where: Condition): number {
  const row = connection
    .statement(`SELECT count(*) AS n FROM ${from} WHERE ${where.sql}`)
    .get(...where.cells);
  return Number(row?.n);
}

/** Stops counting at `limit`. */
const countTo = (connection: Connection, from: string, { sql, cells }: Condition, limit: number): number =>
  count(connection, `(SELECT 1 FROM ${from} WHERE ${sql} LIMIT ${limit})`, { sql: 'TRUE', cells });

/**
 * Counts the matches of each condition by the indexes alone: at most some 30 ms for a million rows. Counts in growing steps,
 * matches and non-matches alternately, and stops when the most selective condition is known.
 */
function narrow(
  { connection, sizes }: PlanDeps,
  table: Table,
  conditions: readonly FieldCondition[],
  rowCount: () => number,
): Narrowing[] {
  const indexOf = ({ field }: FieldCondition): string => indexedBy(table, sortIndex(table, field));
  const known = new Map<FieldCondition, number>();
  const metByAll = new Set<FieldCondition>();
  for (const step of [sizes.few, 10 * sizes.few, 50 * sizes.few]) {
    for (const condition of conditions.filter((one) => !known.has(one))) {
      const from = indexOf(condition);
      const found = countTo(connection, from, condition, step + 1);
      if (found <= step) known.set(condition, found);
      if (found <= step || condition.others === undefined) continue;
      const rest = condition.others.map((other) => countTo(connection, from, other, step + 1));
      if (rest.some((one) => one > step)) continue;
      const others = rest.reduce((sum, one) => sum + one, 0);
      if (others === 0) metByAll.add(condition);
      // How many all are, a list with a narrower condition never asks.
      known.set(condition, others === 0 ? Number.POSITIVE_INFINITY : rowCount() - others);
    }
    if ([...known.values()].some((found) => found <= step)) break;
  }
  const left = conditions.filter((one) => !metByAll.has(one));
  return left
    .map((one) => {
      const exactly = () =>
        left.length === 1 ? count(connection, indexOf(one), one) : Number.POSITIVE_INFINITY;
      return { ...one, count: known.get(one) ?? exactly() };
    })
    .toSorted((a, b) => a.count - b.count);
}

/** @returns how many rows that match `where` are expired; fast, since few rows are expired at any time */
export const countExpired = (connection: Connection, table: Table, where: Condition, now: number): number =>
  count(
    connection,
    indexedBy(table, expiryIndex(table)),
    all([{ sql: 'expires_at <= ?', cells: [now] }, where]),
  );

export function planOf(deps: PlanDeps, table: Table, { filters = [], search }: Query): Plan {
  const { connection } = deps;
  let counted: number | undefined;
  const rowCount = (): number => {
    // Without a condition, even a true one, SQLite counts entries by the page: in half the time.
    counted ??= Number(connection.statement(`SELECT count(*) AS n FROM ${table.sql}`).get()?.n);
    return counted;
  };
  const withText = filters.filter(({ op }) => op === 'contains');
  const conditionsOfFields = byField(filters.filter(({ op }) => op !== 'contains'));
  const narrowings = narrow(deps, table, conditionsOfFields, rowCount);
  const texts: Condition[] = withText.map(({ field, value }) => contains(field, value));
  if (search) texts.push(anyOf(search.fields.map((field) => contains(field, search.text))));
  const isIndexed = (field: string): boolean => table.search?.fields.has(field) === true;
  const indexed = withText.filter(({ field }) => isIndexed(field)).map(({ value }) => searchable(value));
  // A search over no fields matches nothing, and has no index to use.
  if (search && search.fields.length > 0 && search.fields.every(isIndexed)) {
    indexed.push(searchable(search.text));
  }
  const conditions = [...narrowings, ...texts];
  return {
    rowCount,
    wanted: conditions.length > 0 ? all(conditions) : undefined,
    narrowings,
    hasText: texts.length > 0,
    candidates: candidatesOf(table.search, indexed),
  };
}

/** @returns ids of the rows that may match, from the most selective index; undefined: too many */
export function candidateRows(deps: PlanDeps, table: Table, plan: Plan, limit: number): number[] | undefined {
  const [fewest] = plan.narrowings;
  const select = ({ sql, cells }: Condition): number[] | undefined => {
    const found = deps.connection.statement(`${sql} LIMIT ${limit + 1}`).all(...cells);
    return found.length <= limit ? found.map(({ rowid }) => Number(rowid)) : undefined;
  };
  if (fewest !== undefined && fewest.count <= limit) {
    const from = indexedBy(table, sortIndex(table, fewest.field));
    return select({ sql: `SELECT rowid FROM ${from} WHERE ${fewest.sql}`, cells: fewest.cells });
  }
  return plan.candidates && select(plan.candidates);
}

/** Restricts a query to these row ids. */
export const hasRowId = (ids: readonly number[]): Condition => ({
  sql: 'rowid IN (SELECT value FROM json_each(?))',
  cells: [JSON.stringify(ids)],
});

export const rowsOf = (connection: Connection, table: Table, { sql, cells }: Condition): number[] =>
  connection
    .statement(`SELECT rowid FROM ${table.sql} NOT INDEXED WHERE ${sql}`)
    .all(...cells)
    .map(({ rowid }) => Number(rowid));
