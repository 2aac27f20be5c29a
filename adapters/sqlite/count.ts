// Finds and counts matches that need a scan of very many rows: in slices, yielding to the event loop after each, so that an
// administrator's search does not delay sign-ins. Counts are cached for the following pages of the same list.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { all } from './condition.ts';
import type { Connection } from './connection.ts';
import {
  candidateRows,
  count,
  countExpired,
  defaultSizes,
  hasRowId,
  type Plan,
  rowsOf,
  type Sizes,
} from './plan.ts';
import type { Condition } from './sql.ts';
import type { Table } from './table.ts';

export interface Found {
  readonly total: number;
  /** Row ids, when there are few. */
  readonly rows: readonly number[] | undefined;
}

export interface Counter {
  readonly sizes: Sizes;
  /** @returns how many documents match; a count above some thousands may be some seconds old */
  countMatching(table: Table, plan: Plan, wanted: Condition, now: number): Promise<Found>;
}

/** A count is cached for this many times the time it took: one that took a second, for a minute. */
const REST_FACTOR = 60;
const MAX_KNOWN = 100;

export function createCounter(connection: Connection, sizes: Sizes = defaultSizes): Counter {
  const known = new Map<string, { readonly total: number; readonly until: number }>();

  /** Conditions that together match each candidate exactly once. */
  async function slicesOf(table: Table, plan: Plan): Promise<Condition[]> {
    const ids = await connection.read(() => candidateRows({ connection, sizes }, table, plan, sizes.many));
    const slices: Condition[] = [];
    if (ids) {
      for (let at = 0; at < ids.length; at += sizes.slice)
        slices.push(hasRowId(ids.slice(at, at + sizes.slice)));
      return slices;
    }
    const last = await connection.read(() =>
      Number(connection.statement(`SELECT max(rowid) AS n FROM ${table.sql}`).get()?.n ?? 0),
    );
    for (let from = 0; from < last; from += sizes.slice) {
      slices.push({ sql: 'rowid > ? AND rowid <= ?', cells: [from, from + sizes.slice] });
    }
    return slices;
  }

  async function lookThrough(table: Table, slices: readonly Condition[], where: Condition): Promise<Found> {
    const rows: number[] = [];
    let total = 0;
    for (const slice of slices) {
      const matching = all([slice, where]);
      await connection.read(() => {
        if (total > sizes.few) {
          total += count(connection, `${table.sql} NOT INDEXED`, matching);
          return;
        }
        const found = rowsOf(connection, table, matching);
        total += found.length;
        for (const row of found) rows.push(row);
      });
      await yieldToEventLoop();
    }
    return { total, rows: total <= sizes.few ? rows : undefined };
  }

  function remember(key: string, total: number, tookMs: number): void {
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= MAX_KNOWN) known.delete(oldest);
    known.delete(key);
    known.set(key, { total, until: performance.now() + REST_FACTOR * tookMs });
  }

  return {
    sizes,
    async countMatching(table, plan, wanted, now) {
      const [only, ...more] = plan.narrowings;
      if (only !== undefined && more.length === 0 && !plan.hasText) {
        const expired = await connection.read(() => countExpired(connection, table, wanted, now));
        return { total: only.count - expired, rows: undefined };
      }
      const key = JSON.stringify([table.name, wanted.sql, wanted.cells]);
      const before = known.get(key);
      if (before !== undefined && before.until > performance.now()) {
        return { total: before.total, rows: undefined };
      }
      const startedAt = performance.now();
      const live: Condition = { sql: 'ifnull(expires_at > ?, 1)', cells: [now] };
      const slices = await slicesOf(table, plan);
      const found = await lookThrough(table, slices, all([wanted, live]));
      // A count that needed only a few slices is not cached.
      if (found.rows === undefined && slices.length > 2) {
        remember(key, found.total, performance.now() - startedAt);
      }
      return found;
    },
  };
}
