// Reads and writes one collection's documents. Every write checks the row and its unique keys and then changes them inside
// one write transaction, so that no other process can write in between.
import type { SQLInputValue } from 'node:sqlite';
import type { Clock } from '../../src/clock.ts';
import {
  AlreadyExists,
  type Collection,
  type CollectionDefinition,
  type Stored,
  VersionConflict,
} from '../../src/store/port.ts';
import { checkExpiry, checkIndex, checkQuery, type Document, isLive, toDocument } from '../document.ts';
import { decodeText, encodeText } from '../text.ts';
import { type Connection, isUniqueClash, type Row } from './connection.ts';
import type { Counter } from './count.ts';
import { runQuery } from './query.ts';
import { keyColumn, type Table, toCells } from './table.ts';
import type { Writer } from './writer.ts';

export interface CollectionDeps<T> {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly definition: CollectionDefinition<T>;
  readonly table: Table;
  readonly counter: Counter;
}

const expiryOf = (row: Row): number | undefined =>
  typeof row.expires_at === 'number' ? row.expires_at : undefined;

const toStored = <T>(id: string, version: number, expiresAt: number | undefined, value: T): Stored<T> =>
  expiresAt === undefined ? { id, version, value } : { id, version, expiresAt, value };

/** @param row id, version, expires_at and value */
function fromRow<T>(row: Row): Stored<T> {
  const value: T = JSON.parse(String(row.value));
  return toStored(decodeText(String(row.id)), Number(row.version), expiryOf(row), value);
}

export function createSqliteCollection<T>(deps: CollectionDeps<T>): Collection<T> {
  const { connection, writer, clock, definition, table, counter } = deps;
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
  // Not `expires_at IS NULL OR …`: the planner would choose the index on expires_at, which is slower here.
  const liveSql = 'ifnull(expires_at > ?, 1)';

  const removeRow = (id: string): void => {
    connection.statement(removeSql).run(id);
  };

  /** The row without its value; undefined when there is no live document. Removes an expired row. */
  function liveHead(id: string): Row | undefined {
    const head = connection.statement(headSql).get(id);
    if (head === undefined || isLive(expiryOf(head), clock())) return head;
    removeRow(id);
    return undefined;
  }

  /** C6, and C7 for owners that have expired. */
  function claimKeys(id: string, document: Document<T>): void {
    for (const index of uniqueIndexes) {
      const key = document.keys.get(index);
      if (key === undefined) continue;
      const owner = connection
        .statement(`SELECT id, expires_at FROM ${table.sql} WHERE ${keyColumn(index)} = ?`)
        .get(encodeText(key));
      if (owner === undefined || owner.id === id) continue;
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

  /**
   * @param id encoded
   * @param head the existing live row; columns that do not change are not written, which saves updates of their SQL indexes
   */
  function write(
    id: string,
    head: Row | undefined,
    document: Document<T>,
    expiresAt: number | undefined,
  ): Stored<T> {
    claimKeys(id, document);
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
    return toStored(decodeText(id), version, expiresAt, document.copy);
  }

  const findRows = (sql: string, ...cells: SQLInputValue[]): Stored<T>[] =>
    connection
      .statement(sql)
      .all(...cells)
      .map(fromRow<T>);

  return {
    async find(id) {
      return connection.read(() => {
        const row = connection.statement(findSql).get(encodeText(id));
        return row && isLive(expiryOf(row), clock()) ? fromRow<T>(row) : undefined;
      });
    },

    async findBy(index, key) {
      checkIndex(definition, index);
      const sql = `SELECT ${documentColumns} FROM ${table.sql}
        WHERE ${keyColumn(index)} = ? AND ${liveSql} ORDER BY id`;
      return connection.read(() => findRows(sql, encodeText(key), clock()));
    },

    async insert(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const rowId = encodeText(id);
      return writer.write(() => {
        if (liveHead(rowId)) throw new AlreadyExists(name, 'id');
        return write(rowId, undefined, document, expiresAt);
      });
    },

    async put(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const rowId = encodeText(id);
      return writer.write(() => write(rowId, liveHead(rowId), document, expiresAt));
    },

    async replace(id, version, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const rowId = encodeText(id);
      return writer.write(() => {
        const head = liveHead(rowId);
        if (head?.version !== version) throw new VersionConflict(name, id, version);
        return write(
          rowId,
          head,
          document,
          expiresAt === undefined ? expiryOf(head) : (expiresAt ?? undefined),
        );
      });
    },

    async remove(id) {
      const rowId = encodeText(id);
      return writer.write(() => {
        const wasLive = liveHead(rowId) !== undefined;
        removeRow(rowId);
        return wasLive;
      });
    },

    async removeBy(index, key) {
      checkIndex(definition, index);
      const sql = `DELETE FROM ${table.sql} WHERE ${keyColumn(index)} = ? AND ${liveSql}`;
      return writer.write(() => Number(connection.statement(sql).run(encodeText(key), clock()).changes));
    },

    async query(query) {
      checkQuery(definition, query);
      const { rows, total } = await runQuery({ connection, counter, table, query, now: clock() });
      return { items: rows.map(fromRow<T>), total: query.isCounted === false ? rows.length : total };
    },
  };
}
