// Runs a query: along the sorted field's index when many documents match, from the matches when there are few.

import type { SQLInputValue } from 'node:sqlite';
import { setImmediate as letOthersThrough } from 'node:timers/promises';
import type { Query } from '../../src/store/port.ts';
import { encodeText } from '../text.ts';
import { all, byField } from './condition.ts';
import type { Connection } from './connection.ts';
import type { Counter } from './count.ts';
import { candidateRows, countExpired, hasRowId, indexedBy, type Plan, planOf, rowsOf } from './plan.ts';
import type { Condition, Row } from './sql.ts';
import { fieldColumn, sortIndex, type Table, toCell } from './table.ts';

export interface Answer {
  readonly rows: Row[];
  readonly total: number;
}

interface Deps {
  readonly connection: Connection;
  readonly counter: Counter;
  readonly table: Table;
  readonly query: Query;
  readonly now: number;
}

/** A position in the sort order, in stored form. */
interface Place {
  readonly cell: SQLInputValue;
  readonly id: SQLInputValue;
}

const columnsOf = ({ sort }: Query): string[] => (sort === 'id' ? ['id'] : [fieldColumn(sort), 'id']);
const orderOf = (query: Query): string =>
  columnsOf(query)
    .map((column) => `${column} ${query.order}`)
    .join(', ');

/**
 * The ranges of the sort order after a position, in order. Documents without the field (NULL) come first in ascending
 * order; SQL comparisons never match NULL, so they are a range of their own.
 */
function rangesAfter({ sort, order }: Query, after: Place | undefined): Condition[] {
  if (after === undefined) return [{ sql: 'TRUE', cells: [] }];
  const { cell, id } = after;
  const than = order === 'asc' ? '>' : '<';
  if (sort === 'id') return [{ sql: `id ${than} ?`, cells: [id] }];
  const column = fieldColumn(sort);
  const absent = `${column} IS NULL`;
  const valued: Condition = { sql: `(${column}, id) ${than} (?, ?)`, cells: [cell, id] };
  if (cell !== null) return order === 'asc' ? [valued] : [valued, { sql: absent, cells: [] }];
  const rest: Condition = { sql: `${absent} AND id ${than} ?`, cells: [id] };
  return order === 'asc' ? [rest, { sql: `${column} IS NOT NULL`, cells: [] }] : [rest];
}

const placeOf = ({ after }: Query): Place | undefined =>
  after && { cell: toCell(after.sortValue), id: encodeText(after.id) };

/** @returns one page of the rows in `from` */
function readPage(connection: Connection, from: string, where: Condition, query: Query): Row[] {
  const { limit, offset = 0 } = query;
  const rows: Row[] = [];
  for (const range of rangesAfter(query, placeOf(query))) {
    const { sql, cells } = all([where, range]);
    const page = connection.statement(
      `SELECT id, version, expires_at, value FROM ${from} WHERE ${sql} ORDER BY ${orderOf(query)} LIMIT ? OFFSET ?`,
    );
    rows.push(...page.all(...cells, limit - rows.length, offset));
    if (rows.length === limit) break;
  }
  return rows;
}

/**
 * Reads the matches among the next rows of the sorted index.
 * @returns also the position to continue from; undefined at the end
 */
function readWindow({ connection, table, query, counter }: Deps, where: Condition, at: Walk) {
  const { slice } = counter.sizes;
  const index = indexedBy(table, sortIndex(table, query.sort));
  const rows: Row[] = [];
  let { skip } = at;
  for (const { sql, cells } of rangesAfter(query, at.after)) {
    const range = `FROM ${index} WHERE ${sql} ORDER BY ${orderOf(query)}`;
    const from = `(SELECT rowid AS row ${range} LIMIT ${slice}) AS next CROSS JOIN ${table.sql} AS found
      ON found.rowid = next.row WHERE ${where.sql}`;
    const page = connection.statement(`SELECT id, version, expires_at, value FROM ${from} LIMIT ? OFFSET ?`);
    rows.push(...page.all(...cells, ...where.cells, at.wanted - rows.length, skip));
    if (rows.length === at.wanted) return { rows, skip: 0, after: undefined };
    if (skip > 0) {
      const passed = connection.statement(`SELECT count(*) AS n FROM ${from}`).get(...cells, ...where.cells);
      skip = Math.max(0, skip - Number(passed?.n));
    }
    const last = connection
      .statement(`SELECT ${columnsOf(query)[0]} AS cell, id ${range} LIMIT 1 OFFSET ${slice - 1}`)
      .get(...cells);
    if (last !== undefined) return { rows, skip, after: { cell: last.cell ?? null, id: last.id ?? null } };
  }
  return { rows, skip, after: undefined };
}

interface Walk {
  readonly after: Place | undefined;
  readonly skip: number;
  readonly wanted: number;
}

/** Scans along the sorted index in slices; matches may be far apart. */
async function walk(deps: Deps, where: Condition): Promise<Row[]> {
  const { connection, query } = deps;
  const rows: Row[] = [];
  let at: Walk = { after: placeOf(query), skip: query.offset ?? 0, wanted: query.limit };
  for (;;) {
    const window = await connection.read(() => inSnapshot(connection, () => readWindow(deps, where, at)));
    rows.push(...window.rows);
    if (window.after === undefined) return rows;
    at = { after: window.after, skip: window.skip, wanted: query.limit - rows.length };
    await letOthersThrough();
  }
}

const pageOf = ({ connection, table, query }: Deps, where: Condition): Row[] =>
  readPage(connection, `${table.sql} NOT INDEXED`, where, query);

type Step = Answer | { readonly plan: Plan; readonly wanted: Condition };

function answerAtOnce(deps: Deps, live: Condition): Step {
  const { connection, counter, table, query, now } = deps;
  const planning = { connection, sizes: counter.sizes };
  const plan = planOf(planning, table, query);
  const { wanted } = plan;
  if (wanted === undefined) {
    // Counting all rows is nearly free in SQLite, counting live ones is not: subtract the few expired ones instead.
    const total = plan.rowCount() - countExpired(connection, table, all([]), now);
    return { rows: readPage(connection, indexedBy(table, sortIndex(table, query.sort)), live, query), total };
  }
  const candidates = candidateRows(planning, table, plan, counter.sizes.few);
  if (candidates === undefined && plan.rowCount() > counter.sizes.few) return { plan, wanted };
  const among = candidates ? [hasRowId(candidates)] : [];
  const few = rowsOf(connection, table, all([...among, wanted, live]));
  return { rows: pageOf(deps, hasRowId(few)), total: few.length };
}

/** All reads inside see the same snapshot. */
function inSnapshot<R>(connection: Connection, act: () => R): R {
  connection.exec('BEGIN');
  try {
    return act();
  } finally {
    connection.exec('COMMIT');
  }
}

/** Whether the sorted field's index alone gives the page: no filter is on another field. */
const isAlongIndex = ({ filters = [], search, sort }: Query): boolean =>
  search === undefined && filters.every(({ field, op }) => field === sort && op !== 'contains');

/** Page and total come from one snapshot, unless counting takes many slices. */
export async function runQuery(deps: Deps): Promise<Answer> {
  const { connection, counter, table, query, now } = deps;
  // `ifnull`: with OR the planner would choose the index on expires_at instead of the sorting one.
  const live: Condition = { sql: 'ifnull(expires_at > ?, 1)', cells: [now] };
  if (query.isCounted === false && isAlongIndex(query)) {
    const from = indexedBy(table, sortIndex(table, query.sort));
    const where = all([...byField(query.filters ?? []), live]);
    const rows = await connection.read(() =>
      inSnapshot(connection, () => readPage(connection, from, where, query)),
    );
    return { rows, total: rows.length };
  }
  const step = await connection.read(() => inSnapshot(connection, () => answerAtOnce(deps, live)));
  if ('rows' in step) return step;
  const { plan, wanted } = step;
  const where = all([wanted, live]);
  const { total, rows: few } = await counter.countMatching(table, plan, wanted, now);
  if (few === undefined) return { rows: await walk(deps, where), total };
  return { rows: await connection.read(() => pageOf(deps, all([hasRowId(few), where]))), total };
}
