// The rows of one table, as a write transaction changes them: it checks the row and its unique keys and then writes, so that no
// other process can write in between.
import type { SQLInputValue } from 'node:sqlite';
import type { Clock } from '../../src/clock.ts';
import { AlreadyExists, type CollectionDefinition, VersionConflict } from '../../src/store/port.ts';
import { type Document, isLive, keysIn } from '../document.ts';
import { decodeText, encodeText } from '../text.ts';
import { type Connection, isUniqueClash } from './connection.ts';
import { keyColumn, type Row } from './sql.ts';
import { type Table, toCells } from './table.ts';

/** Ids and keys are encoded. Everything but the finds runs inside a write transaction. */
export interface Rows {
  readonly table: Table;
  readonly clock: Clock;
  /** Live or expired. */
  find(id: string): Row | undefined;
  /** Live ones, in id order. */
  findBy(index: string, key: string): Row[];
  /** @returns the version. @throws AlreadyExists */
  insert(id: string, document: Document<unknown>, expiresAt: number | undefined): number;
  put(id: string, document: Document<unknown>, expiresAt: number | undefined): number;
  /** @param expiresAt as in ReplaceOptions. @returns the expiry. @throws VersionConflict, AlreadyExists */
  replace(
    id: string,
    version: number,
    document: Document<unknown>,
    expiresAt: number | null | undefined,
  ): number | undefined;
  /** @returns whether a live one was removed */
  remove(id: string): boolean;
  removeBy(index: string, key: string): number;
}

interface Deps {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly definition: CollectionDefinition<never>;
  readonly table: Table;
}

export const expiryOf = (row: Row): number | undefined =>
  typeof row.expires_at === 'number' ? row.expires_at : undefined;

// Not `expires_at IS NULL OR …`: the planner would choose the index on expires_at, which is slower here.
const liveSql = 'ifnull(expires_at > ?2, 1)';

export function createRows({ connection, clock, definition, table }: Deps): Rows {
  const { name } = definition;
  const uniqueIndexes = Object.keys(definition.indexes).filter(
    (index) => definition.indexes[index]?.unique === true,
  );
  const columns = ['version', 'expires_at', 'value', ...table.columns.map((column) => column.name)];
  const documentColumns = 'id, version, expires_at, value';
  const findSql = `SELECT ${documentColumns} FROM ${table.sql} WHERE id = ?`;
  const headSql = `SELECT ${columns.filter((column) => column !== 'value')} FROM ${table.sql} WHERE id = ?`;
  const insertSql = `INSERT INTO ${table.sql} (id, ${columns}) VALUES (?${', ?'.repeat(columns.length)})`;
  const removeSql = `DELETE FROM ${table.sql} WHERE id = ?`;

  const removeRow = (id: string): void => {
    connection.rows.forget(name, id);
    connection.statement(removeSql).run(id);
  };

  /** The row without its value; undefined when there is no live document. Removes an expired row. */
  function liveHead(id: string): Row | undefined {
    const head = connection.statement(headSql).get(id);
    if (head === undefined || isLive(expiryOf(head), clock())) return head;
    removeRow(id);
    return undefined;
  }

  /**
   * C6, and C7 for owners that have expired. A key that is the document's own already, and unique in its column, is not claimed again: an
   * older process, which knows no further keys, may have taken it from another document's (src/store/yielded-keys.ts).
   */
  function claimKeys(id: string, document: Document<unknown>, head: Row | undefined): void {
    for (const index of uniqueIndexes)
      for (const key of keysIn(document, index)) {
        const encoded = encodeText(key);
        if (key === document.keys.get(index) && head?.[keyColumn(index)] === encoded) continue;
        const owner = connection
          .statement(`SELECT id, expires_at FROM ${table.sql} WHERE ${table.lookup(index)} AND id <> ?2`)
          .get(encoded, id);
        if (owner === undefined) continue;
        if (isLive(expiryOf(owner), clock())) throw new AlreadyExists(name, index);
        removeRow(String(owner.id));
      }
  }

  function runChange(sql: string, ...cells: SQLInputValue[]): void {
    try {
      connection.statement(sql).run(...cells);
    } catch (error) {
      // Our declared keys are free at this point; a newer version, running beside this one, may have added a unique key.
      if (isUniqueClash(error)) throw new AlreadyExists(name, 'an index of a later version');
      throw error;
    }
  }

  /** @param head the existing live row; columns that do not change are not written, which saves updates of their SQL indexes */
  function write(
    id: string,
    head: Row | undefined,
    document: Document<unknown>,
    expiresAt: number | undefined,
  ): number {
    claimKeys(id, document, head);
    connection.rows.forget(name, id);
    const version = Number(head?.version ?? 0) + 1;
    const cells = [version, expiresAt ?? null, document.text, ...toCells(definition, document)];
    if (head === undefined) {
      runChange(insertSql, id, ...cells);
    } else {
      const changes = columns
        .map((column, at) => ({ column, cell: cells[at] ?? null }))
        .filter(({ column, cell }) => head[column] !== cell);
      const sets = changes.map(({ column }) => `${column} = ?`);
      const sql = `UPDATE ${table.sql} SET ${sets} WHERE id = ?`;
      runChange(sql, ...changes.map(({ cell }) => cell), id);
    }
    return version;
  }

  return {
    table,
    clock,

    find: (id) => connection.rows.find(name, id, () => connection.statement(findSql).get(id)),

    findBy(index, key) {
      const sql = `SELECT ${documentColumns} FROM ${table.sql} WHERE ${table.lookup(index)} AND ${liveSql} ORDER BY id`;
      return connection.statement(sql).all(key, clock());
    },

    insert(id, document, expiresAt) {
      if (liveHead(id)) throw new AlreadyExists(name, 'id');
      return write(id, undefined, document, expiresAt);
    },

    put: (id, document, expiresAt) => write(id, liveHead(id), document, expiresAt),

    replace(id, version, document, expiresAt) {
      const head = liveHead(id);
      if (head?.version !== version) throw new VersionConflict(name, decodeText(id), version);
      const until = expiresAt === undefined ? expiryOf(head) : (expiresAt ?? undefined);
      write(id, head, document, until);
      return until;
    },

    remove(id) {
      const wasLive = liveHead(id) !== undefined;
      removeRow(id);
      return wasLive;
    },

    removeBy(index, key) {
      connection.rows.clear();
      const sql = `DELETE FROM ${table.sql} WHERE ${table.lookup(index)} AND ${liveSql}`;
      return Number(connection.statement(sql).run(key, clock()).changes);
    },
  };
}
