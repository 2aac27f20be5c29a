// The SQLite store: one file, one connection in each process, any number of processes.
import type { Clock } from '../../src/clock.ts';
import {
  type Collection,
  type CollectionDefinition,
  type Store,
  StoreUnavailable,
} from '../../src/store/port.ts';
import { gather } from '../together.ts';
import { createSqliteCollection, prepareWrites } from './collection.ts';
import { type Connection, openConnection, toOutcome } from './connection.ts';
import { createCounter } from './count.ts';
import type { Sizes } from './plan.ts';
import { createRows, type Rows } from './rows.ts';
import { ensureTables } from './schema.ts';
import { type Table, toTable } from './table.ts';
import type { UpgradeTold } from './upgrade.ts';
import { createWriter, type WriterOptions } from './writer.ts';

/** `log` and `line` are told while a large file is made ready. */
export interface SqliteStoreOptions extends Omit<WriterOptions, 'connection'>, UpgradeTold {
  /** Created with mode 0600 if missing. Its directory must exist. */
  readonly file: string;
  readonly clock: Clock;
  /** Tables to prepare now, in one transaction; others are prepared when their collection is first used. */
  readonly definitions?: readonly CollectionDefinition<never>[] | undefined;
  /** Row counts at which the query strategy changes; tests set small ones. */
  readonly sizes?: Sizes | undefined;
}

/**
 * Opens the file and blocks until the schema is ready, so call it at the start of a process only.
 * @throws StoreUnavailable when it cannot be opened
 */
export function createSqliteStore({ file, ...options }: SqliteStoreOptions): Store {
  const connection = openConnection(file);
  try {
    return createSqliteStoreOn({ connection, ...options });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The same on an open connection, which the store then closes. */
export function createSqliteStoreOn(
  options: Omit<SqliteStoreOptions, 'file'> & { readonly connection: Connection },
): Store {
  const { connection, clock, definitions = [], lockTimeoutMs, maxPending, sizes, log, line } = options;
  const writer = createWriter({ connection, lockTimeoutMs, maxPending });
  const counter = createCounter(connection, sizes);
  const tables = new Map<string, Table>();
  const known = new WeakMap<CollectionDefinition<never>, Rows>();
  let closing: Promise<void> | undefined;

  function register(added: readonly Table[]): void {
    try {
      ensureTables(connection, added, { now: clock(), log, line });
    } catch (error) {
      throw toOutcome(error);
    }
    for (const table of added) tables.set(table.name, table);
    connection.rows.clear();
  }

  function rowsOf<T>(definition: CollectionDefinition<T>): Rows {
    const found = known.get(definition);
    if (found) return found;
    const table = toTable(definition);
    if (!tables.has(table.name)) register([table]);
    const rows = createRows({ connection, clock, definition, table });
    known.set(definition, rows);
    return rows;
  }

  function collection<T>(definition: CollectionDefinition<T>): Collection<T> {
    return createSqliteCollection({ connection, writer, definition, rows: rowsOf(definition), counter });
  }

  function sweepTable({ sql }: Table, limit: number): number {
    connection.rows.clear();
    const expired = `SELECT rowid FROM ${sql} WHERE expires_at <= ? LIMIT ?`;
    const { changes } = connection
      .statement(`DELETE FROM ${sql} WHERE rowid IN (${expired})`)
      .run(clock(), limit);
    return Number(changes);
  }

  register(definitions.map(toTable));

  return {
    collection,
    ephemeral: collection,

    async writeTogether(fill) {
      const acts = gather<() => unknown>(fill, (definition) => prepareWrites(definition, rowsOf(definition)));
      await writer.write(() => {
        connection.nested(() => {
          for (const act of acts) act();
        });
      });
    },

    sweep(limit) {
      return writer.write(() => {
        let removed = 0;
        for (const table of tables.values()) {
          if (removed < limit) removed += sweepTable(table, limit - removed);
        }
        return removed;
      });
    },

    stamp() {
      try {
        return connection.dataVersion();
      } catch {
        // Locked for a moment, or closed: undefined means "unknown" (port.ts).
        return undefined;
      }
    },

    async ping() {
      if (closing) throw new StoreUnavailable('the store is closed');
      await connection.read(() => connection.statement('SELECT count(*) FROM sqlite_schema').get());
      await writer.check();
    },

    close() {
      closing ??= writer.drain().then(() => connection.close());
      return closing;
    },
  };
}
