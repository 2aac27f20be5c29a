// Creates missing tables and indexes, adds columns that a definition has gained, and fills them for existing rows. Safe to
// run in several processes at once and to kill at any statement.
import { type Connection, isBusy, isUniqueClash } from './connection.ts';
import type { DerivedTable } from './sql.ts';
import type { Column, Table } from './table.ts';
import { type Upgrade, type UpgradeTold, watchUpgrade } from './upgrade.ts';

const BACK_FILL_ROWS = 500;
/** SQLite fills these in one go: so many take a moment. */
const DERIVED_ROWS = 5_000;
/** How long a process waits for another one that makes a large file ready. */
const OTHERS_MS = 3_600_000;

interface Catalog {
  /** `table.column` */
  readonly columns: ReadonlySet<string>;
  /** Names of indexes, triggers and search tables. */
  readonly indexes: ReadonlySet<string>;
}

function readCatalog(connection: Connection): Catalog {
  const columns = connection
    .statement(
      `SELECT m.name || '.' || c.name AS name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
       WHERE m.type = 'table'`,
    )
    .all();
  const indexes = connection.statement(`SELECT name FROM sqlite_schema`).all();
  return {
    columns: new Set(columns.map(({ name }) => String(name))),
    indexes: new Set(indexes.map(({ name }) => String(name))),
  };
}

const derivedOf = ({ search, furtherKeys }: Table): readonly DerivedTable[] =>
  search === undefined ? furtherKeys : [search, ...furtherKeys];

const isComplete = (table: Table, { columns, indexes }: Catalog): boolean =>
  columns.has(`${table.name}.id`) &&
  table.columns.every((column) => columns.has(`${table.name}.${column.name}`)) &&
  table.indexes.every((index) => indexes.has(index.name)) &&
  derivedOf(table).every(({ create }) => create.every(({ name }) => indexes.has(name))) &&
  !table.obsoleteIndexes.some((index) => indexes.has(index));

function createTable(connection: Connection, table: Table): void {
  const declared = table.columns.map(({ name, type }) => `, ${name} ${type}`).join('');
  connection.exec(
    `CREATE TABLE ${table.sql} (id TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, expires_at REAL,
     value TEXT NOT NULL${declared}) STRICT`,
  );
}

/**
 * Fills new columns of existing rows, in small steps, so that memory use does not grow with the table. Nothing else is set: an
 * update costs every index over a column that it names, and a new column mostly stays empty.
 */
function backFill(connection: Connection, table: Table, missing: readonly Column[], upgrade: Upgrade): void {
  const read = connection.statement(
    `SELECT rowid, value FROM ${table.sql} WHERE rowid > ? ORDER BY rowid LIMIT ${BACK_FILL_ROWS}`,
  );
  const write = connection.statement(
    `UPDATE ${table.sql} SET ${missing.map(({ name }) => `${name} = ?`).join(', ')} WHERE rowid = ?`,
  );
  const places = missing.map((column) => table.columns.indexOf(column));
  let last = 0;
  let done = 0;
  for (let rows = read.all(last); rows.length > 0; rows = read.all(last)) {
    for (const { rowid, value } of rows) {
      last = Number(rowid);
      const all = table.cellsOf(String(value));
      const cells = places.map((place) => all[place] ?? null);
      if (cells.some((cell) => cell !== null)) write.run(...cells, last);
    }
    done += rows.length;
    upgrade.reach(done);
  }
}

function createIndexes(connection: Connection, table: Table, upgrade: Upgrade): void {
  for (const index of table.obsoleteIndexes) connection.exec(`DROP INDEX IF EXISTS "${index}"`);
  for (const [at, index] of table.indexes.entries()) {
    upgrade.step('building its indexes', at, table.indexes.length);
    try {
      connection.exec(index.sql);
    } catch (error) {
      if (!isUniqueClash(error)) throw error;
      throw new Error(`${table.name}: ${index.name} cannot be unique, documents share a key`, {
        cause: error,
      });
    }
  }
}

const rowsOf = (connection: Connection, table: Table): number =>
  Number(connection.statement(`SELECT max(rowid) AS last FROM ${table.sql}`).get()?.last ?? 0);

interface Doing {
  readonly catalog: Catalog;
  readonly now: number;
  readonly upgrade: Upgrade;
}

/** Always rebuilt from scratch: an existing one may have missed writes. */
function createDerived(
  { connection, table }: { connection: Connection; table: Table },
  { create, fillSql }: DerivedTable,
  { catalog: { indexes }, upgrade }: Doing,
): void {
  if (create.every(({ name }) => indexes.has(name))) return;
  for (const { name, sql } of create.toReversed()) {
    connection.exec(`DROP ${sql.startsWith('CREATE TRIGGER') ? 'TRIGGER' : 'TABLE'} IF EXISTS "${name}"`);
  }
  for (const { sql } of create) connection.exec(sql);
  upgrade.step('building what searches need');
  const fill = connection.statement(fillSql);
  const last = rowsOf(connection, table);
  for (let from = 0; from < last; from += DERIVED_ROWS) {
    fill.run(from, from + DERIVED_ROWS);
    upgrade.reach(from + DERIVED_ROWS);
  }
}

function complete(connection: Connection, table: Table, doing: Doing): void {
  const { catalog, now, upgrade } = doing;
  const { columns } = catalog;
  const isNew = !columns.has(`${table.name}.id`);
  if (isNew) createTable(connection, table);
  const missing = isNew ? [] : table.columns.filter(({ name }) => !columns.has(`${table.name}.${name}`));
  // Before the columns: for each SQLite looks through the table.
  if (!isNew) upgrade.begin(table.name, rowsOf(connection, table));
  for (const [at, { name, type }] of missing.entries()) {
    upgrade.step('making room for what lists and searches need', at, missing.length);
    connection.exec(`ALTER TABLE ${table.sql} ADD COLUMN ${name} ${type}`);
  }
  // Expired documents own no unique key (C7), so they must not prevent a new unique index.
  if (!isNew) connection.statement(`DELETE FROM ${table.sql} WHERE expires_at <= ?`).run(now);
  if (missing.length > 0) upgrade.step('deriving what lists and searches need');
  if (missing.length > 0) backFill(connection, table, missing, upgrade);
  createIndexes(connection, table, upgrade);
  for (const derived of derivedOf(table)) createDerived({ connection, table }, derived, doing);
}

/** Waits longer than SQLite itself does: where several processes start, one of them may have minutes to do. */
function beginAlone(connection: Connection, upgrade: Upgrade): void {
  for (const until = performance.now() + OTHERS_MS; ; ) {
    try {
      connection.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      upgrade.wait();
    }
  }
}

/**
 * Migrates the file to the definitions. Blocks while another process does the same.
 * What a definition no longer declares stays in the file, for a process of the previous version.
 */
export function ensureTables(
  connection: Connection,
  tables: readonly Table[],
  { now, ...told }: UpgradeTold & { now: number },
): void {
  const upgrade = watchUpgrade(told);
  const isUpToDate = (): boolean => {
    const catalog = readCatalog(connection);
    return tables.every((table) => isComplete(table, catalog));
  };
  connection.withBusyWait(() => {
    if (isUpToDate()) return;
    beginAlone(connection, upgrade);
    try {
      const catalog = readCatalog(connection);
      for (const table of tables)
        if (!isComplete(table, catalog)) complete(connection, table, { catalog, now, upgrade });
      connection.exec('COMMIT');
    } catch (error) {
      if (connection.isInTransaction) connection.exec('ROLLBACK');
      throw error;
    } finally {
      upgrade.end();
    }
  });
}
