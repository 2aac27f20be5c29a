// Owns how a query becomes SQL, and which way it is walked: along the sorted field's index when many documents match,
// from the few that match when they are few. SQLite's own choice is right for one of the two only.
import type { SQLInputValue } from 'node:sqlite';
import type { FieldFilter, FieldValue, Query } from '../src/store/port.ts';
import { fold } from './memory-document.ts';
import type { Connection, Row } from './sqlite-connection.ts';
import { expiryIndex, fieldColumn, sortIndex, type Table, toCell } from './sqlite-table.ts';
import { encodeText } from './sqlite-text.ts';

/** A piece of SQL with what is bound to it: text of callers is never part of the SQL. */
interface Condition {
  readonly sql: string;
  readonly cells: readonly SQLInputValue[];
}

// Sorting this many rows takes a few milliseconds, less than walking an index past all that don't match.
const FEW = 5_000;

const all = (conditions: readonly Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'TRUE',
  cells: conditions.flatMap(({ cells }) => cells),
});

/** SQLite's lower() knows ASCII alone and is fast; `fold` is ours and takes over for all other text. */
function contains(field: string, text: FieldValue | undefined): Condition {
  const column = fieldColumn(field);
  const wanted = encodeText(fold(String(text)));
  return {
    sql: `CASE WHEN length(${column}) = octet_length(${column}) THEN instr(lower(${column}), ?)
          ELSE instr(fold(${column}), ?) END > 0`,
    cells: [wanted, wanted],
  };
}

function toCondition({ field, op, value }: FieldFilter): Condition {
  const column = fieldColumn(field);
  const cells = [toCell(value)];
  switch (op) {
    case 'eq':
      return { sql: `${column} = ?`, cells };
    case 'gte':
      return { sql: `${column} >= ?`, cells };
    case 'lte':
      return { sql: `${column} <= ?`, cells };
    case 'contains':
      return contains(field, value);
    case 'absent':
      return { sql: `${column} IS NULL`, cells: [] };
    case 'present':
      return { sql: `${column} IS NOT NULL`, cells: [] };
  }
}

function filterOf({ filters = [], search }: Query): Condition | undefined {
  const conditions = filters.map(toCondition);
  if (search) {
    const anywhere = search.fields.map((field) => contains(field, search.text));
    const sql = anywhere.map((one) => one.sql).join(' OR ') || 'FALSE';
    conditions.push({ sql, cells: anywhere.flatMap(({ cells }) => cells) });
  }
  return conditions.length > 0 ? all(conditions) : undefined;
}

/**
 * The stretches of the sort order behind a position, in order. Documents without the field (NULL) come first in
 * ascending order; SQL compares NULL with nothing, so they are a stretch of their own.
 */
function stretchesBehind({ sort, order, after }: Query): Condition[] {
  if (after === undefined) return [{ sql: 'TRUE', cells: [] }];
  const than = order === 'asc' ? '>' : '<';
  const id = encodeText(after.id);
  if (sort === 'id') return [{ sql: `id ${than} ?`, cells: [id] }];
  const column = fieldColumn(sort);
  const cell = toCell(after.sortValue);
  const absent = `${column} IS NULL`;
  const valued: Condition = { sql: `(${column}, id) ${than} (?, ?)`, cells: [cell, id] };
  if (cell !== null) return order === 'asc' ? [valued] : [valued, { sql: absent, cells: [] }];
  const rest: Condition = { sql: `${absent} AND id ${than} ?`, cells: [id] };
  return order === 'asc' ? [rest, { sql: `${column} IS NOT NULL`, cells: [] }] : [rest];
}

/** @returns one page of the rows in `from` */
function readPage(connection: Connection, from: string, where: Condition, query: Query): Row[] {
  const { sort, order, limit, offset = 0 } = query;
  const columns = sort === 'id' ? ['id'] : [fieldColumn(sort), 'id'];
  const orderBy = columns.map((column) => `${column} ${order}`).join(', ');
  const rows: Row[] = [];
  for (const stretch of stretchesBehind(query)) {
    const { sql, cells } = all([where, stretch]);
    const page = connection.statement(
      `SELECT id, version, expires_at, value FROM ${from} WHERE ${sql} ORDER BY ${orderBy} LIMIT ? OFFSET ?`,
    );
    rows.push(...page.all(...cells, limit - rows.length, offset));
    if (rows.length === limit) break;
  }
  return rows;
}

function count(connection: Connection, from: string, where: Condition): number {
  const row = connection
    .statement(`SELECT count(*) AS n FROM ${from} WHERE ${where.sql}`)
    .get(...where.cells);
  return Number(row?.n);
}

/** @returns the table, bound to one of its SQL indexes; an unknown one is an error, never a slow answer */
const along = (table: Table, index: string): string => `${table.sql} INDEXED BY "${index}"`;

function runInSnapshot(
  connection: Connection,
  table: Table,
  query: Query,
  now: number,
): { rows: Row[]; total: number } {
  const filter = filterOf(query);
  // `ifnull`: an OR would tempt the planner to the index on expires_at, away from the one that sorts.
  const live: Condition = { sql: 'ifnull(expires_at > ?, 1)', cells: [now] };

  if (filter) {
    const where = all([filter, live]);
    const few = connection
      .statement(`SELECT rowid FROM ${table.sql} WHERE ${where.sql} LIMIT ${FEW + 1}`)
      .all(...where.cells);
    if (few.length <= FEW) {
      const ids = JSON.stringify(few.map(({ rowid }) => rowid));
      const isOne: Condition = { sql: 'rowid IN (SELECT value FROM json_each(?))', cells: [ids] };
      return { rows: readPage(connection, `${table.sql} NOT INDEXED`, isOne, query), total: few.length };
    }
  }
  // Counting everything is nearly free in SQLite, counting the live is not: so, everything less the few expired.
  const some = filter ?? { sql: 'TRUE', cells: [] };
  const expired = all([{ sql: 'expires_at <= ?', cells: [now] }, some]);
  const total =
    count(connection, table.sql, some) - count(connection, along(table, expiryIndex(table)), expired);
  const from = along(table, sortIndex(table, query.sort));
  return { rows: readPage(connection, from, all([some, live]), query), total };
}

/** Page and total are of the same moment. */
export function runQuery(
  connection: Connection,
  table: Table,
  query: Query,
  now: number,
): { rows: Row[]; total: number } {
  connection.exec('BEGIN');
  try {
    return runInSnapshot(connection, table, query, now);
  } finally {
    connection.exec('COMMIT');
  }
}
