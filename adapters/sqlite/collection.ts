// Reads and writes one collection's documents. What a write does inside its transaction is in rows.ts.
import { deepFreeze } from '../../src/deep-freeze.ts';
import type { Collection, CollectionDefinition, Stored } from '../../src/store/port.ts';
import { checkExpiry, checkIndex, checkQuery, isLive, toDocument } from '../document.ts';
import { decodeText, encodeText } from '../text.ts';
import type { Preparations } from '../together.ts';
import type { Connection } from './connection.ts';
import type { Counter } from './count.ts';
import { runQuery } from './query.ts';
import { expiryOf, type Rows } from './rows.ts';
import type { Row } from './sql.ts';
import type { Writer } from './writer.ts';

export interface CollectionDeps<T> {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly definition: CollectionDefinition<T>;
  readonly rows: Rows;
  readonly counter: Counter;
}

const toStored = <T>(id: string, version: number, expiresAt: number | undefined, value: T): Stored<T> =>
  expiresAt === undefined ? { id, version, value } : { id, version, expiresAt, value };

/** @param row id, version, expires_at and value */
function fromRow<T>(row: Row): Stored<T> {
  const value: T = JSON.parse(String(row.value));
  return toStored(decodeText(String(row.id)), Number(row.version), expiryOf(row), value);
}

type Act<R = unknown> = () => R;

interface SqliteWrites<T> extends Preparations<T, Act> {
  insert(...args: Parameters<Preparations<T, Act>['insert']>): Act<Stored<T>>;
  replace(...args: Parameters<Preparations<T, Act>['replace']>): Act<Stored<T>>;
  remove(id: string): Act<boolean>;
}

/** @returns acts for a write transaction; what can be prepared before it is */
export function prepareWrites<T>(definition: CollectionDefinition<T>, rows: Rows): SqliteWrites<T> {
  return {
    insert(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const rowId = encodeText(id);
      return () => toStored(id, rows.insert(rowId, document, expiresAt), expiresAt, document.copy);
    },

    replace(id, version, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const rowId = encodeText(id);
      return () => {
        const until = rows.replace(rowId, version, document, expiresAt);
        return toStored(id, version + 1, until, document.copy);
      };
    },

    remove(id) {
      const rowId = encodeText(id);
      return () => rows.remove(rowId);
    },
  };
}

export function createSqliteCollection<T>(deps: CollectionDeps<T>): Collection<T> {
  const { connection, writer, definition, rows, counter } = deps;
  const { table, clock } = rows;
  const writes = prepareWrites(definition, rows);
  const shared = new WeakMap<Row, Stored<T>>();

  return {
    async find(id) {
      return connection.read(() => {
        const row = rows.find(encodeText(id));
        return row && isLive(expiryOf(row), clock()) ? fromRow<T>(row) : undefined;
      });
    },

    async findShared(id) {
      return connection.read(() => {
        const row = rows.find(encodeText(id));
        if (!row || !isLive(expiryOf(row), clock())) return undefined;
        return connection.rows.keepWith(shared, row, () => deepFreeze(fromRow<T>(row)));
      });
    },

    async findBy(index, key) {
      checkIndex(definition, index);
      const found = await connection.read(() => rows.findBy(index, encodeText(key)));
      return found.map(fromRow<T>);
    },

    insert: async (...args) => writer.write(writes.insert(...args)),
    replace: async (...args) => writer.write(writes.replace(...args)),
    remove: async (id) => writer.write(writes.remove(id)),

    async put(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const rowId = encodeText(id);
      return writer.write(() => toStored(id, rows.put(rowId, document, expiresAt), expiresAt, document.copy));
    },

    async removeBy(index, key) {
      checkIndex(definition, index);
      return writer.write(() => rows.removeBy(index, encodeText(key)));
    },

    async query(query) {
      checkQuery(definition, query);
      const { rows: found, total } = await runQuery({ connection, counter, table, query, now: clock() });
      return { items: found.map(fromRow<T>), total: query.isCounted === false ? found.length : total };
    },
  };
}
