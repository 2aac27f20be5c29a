// Owns looking, before a query is answered, at how many documents meet each of its filters: that decides whether to begin
// with the few, or to walk the sorted index past those that don't match. SQLite itself would guess.
import type { Query } from '../../src/store/port.ts';
import { all, anyOf, byField, contains, type FieldCondition, searchable } from './condition.ts';
import type { Connection } from './connection.ts';
import { candidatesOf } from './search.ts';
import type { Condition } from './sql.ts';
import { expiryIndex, sortIndex, type Table } from './table.ts';

export interface Sizes {
  /** Sorting so many rows takes a few milliseconds, less than walking an index past all that don't match. */
  readonly few: number;
  /** So many rows are looked at before others get their turn: ten milliseconds. */
  readonly slice: number;
  /** So many row ids are taken from an index at once. */
  readonly many: number;
}

export const defaultSizes: Sizes = { few: 5_000, slice: 5_000, many: 50_000 };

interface Narrowing extends FieldCondition {
  /** How many rows meet it; infinite: more than another's. */
  readonly count: number;
}

export interface PlanDeps {
  readonly connection: Connection;
  readonly sizes: Sizes;
}

export interface Plan {
  /** Of all rows, the expired among them. */
  rowCount(): number;
  /** Everything that must hold, without what holds for every row; undefined: nothing. */
  readonly wanted: Condition | undefined;
  /** What must hold and has an index, the fewest first. */
  readonly narrowings: readonly Narrowing[];
  readonly hasText: boolean;
  /** A SELECT of the row ids among which are all with that text, where an index knows. */
  readonly candidates: Condition | undefined;
}

/** @returns the table, bound to one of its SQL indexes; an unknown one is an error, never a slow answer */
export const along = (table: Table, index: string): string => `${table.sql} INDEXED BY "${index}"`;

export function count(connection: Connection, from: string, where: Condition): number {
  const row = connection
    .statement(`SELECT count(*) AS n FROM ${from} WHERE ${where.sql}`)
    .get(...where.cells);
  return Number(row?.n);
}

/** Counts no further than `limit`. */
const countTo = (connection: Connection, from: string, { sql, cells }: Condition, limit: number): number =>
  count(connection, `(SELECT 1 FROM ${from} WHERE ${sql} LIMIT ${limit})`, { sql: 'TRUE', cells });

/**
 * How many rows meet each condition, by the indexes alone: of a million in some 30 ms at worst. In steps, each from both
 * ends of the index, as the fewer are found sooner; it ends when the fewest are known.
 */
function narrow(
  { connection, sizes }: PlanDeps,
  table: Table,
  conditions: readonly FieldCondition[],
  rowCount: () => number,
): Narrowing[] {
  const indexOf = ({ field }: FieldCondition): string => along(table, sortIndex(table, field));
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
      known.set(condition, rowCount() - others);
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

/** So few are expired that looking at each is nearly free. @returns how many of those that meet `where` */
export const countExpired = (connection: Connection, table: Table, where: Condition, now: number): number =>
  count(connection, along(table, expiryIndex(table)), all([{ sql: 'expires_at <= ?', cells: [now] }, where]));

export function planOf(deps: PlanDeps, table: Table, { filters = [], search }: Query): Plan {
  const { connection } = deps;
  let counted: number | undefined;
  const rowCount = (): number => {
    counted ??= count(connection, table.sql, all([]));
    return counted;
  };
  const withText = filters.filter(({ op }) => op === 'contains');
  const conditionsOfFields = byField(filters.filter(({ op }) => op !== 'contains'));
  const narrowings = narrow(deps, table, conditionsOfFields, rowCount);
  const texts: Condition[] = withText.map(({ field, value }) => contains(field, value));
  if (search) texts.push(anyOf(search.fields.map((field) => contains(field, search.text))));
  const isIndexed = (field: string): boolean => table.search?.fields.has(field) === true;
  const indexed = withText.filter(({ field }) => isIndexed(field)).map(({ value }) => searchable(value));
  // Of no field: nothing contains it, and the index must not be asked.
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

/** @returns ids of rows among which are all that match, from the index that knows the fewest; undefined: too many */
export function candidateRows(deps: PlanDeps, table: Table, plan: Plan, limit: number): number[] | undefined {
  const [fewest] = plan.narrowings;
  const select = ({ sql, cells }: Condition): number[] | undefined => {
    const found = deps.connection.statement(`${sql} LIMIT ${limit + 1}`).all(...cells);
    return found.length <= limit ? found.map(({ rowid }) => Number(rowid)) : undefined;
  };
  if (fewest !== undefined && fewest.count <= limit) {
    const from = along(table, sortIndex(table, fewest.field));
    return select({ sql: `SELECT rowid FROM ${from} WHERE ${fewest.sql}`, cells: fewest.cells });
  }
  return plan.candidates && select(plan.candidates);
}

/** A table's rows of these ids. */
export const amongRows = (ids: readonly number[]): Condition => ({
  sql: 'rowid IN (SELECT value FROM json_each(?))',
  cells: [JSON.stringify(ids)],
});

export const rowsOf = (connection: Connection, table: Table, { sql, cells }: Condition): number[] =>
  connection
    .statement(`SELECT rowid FROM ${table.sql} NOT INDEXED WHERE ${sql}`)
    .all(...cells)
    .map(({ rowid }) => Number(rowid));
