// The process that reads a finished backup from end to end: whether it is whole, and what is in it. SQLite does not say how far a
// check is, so each table is one of its own, the smallest first; in the end the file as a whole, which takes a moment.
import { DatabaseSync } from 'node:sqlite';

/** In entries of tables and indexes, each of which is looked up. */
export interface CheckBegins {
  readonly done: number;
  /** Of the table that is checked now. */
  readonly next: number;
  readonly total: number;
}

export interface CheckEnds {
  /** Number of documents in the copy, by collection. */
  readonly documents: Readonly<Record<string, number>>;
}

export interface CheckFails {
  readonly problem: string;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function assertWhole(copy: DatabaseSync, pragma: string): void {
  const [problem] = copy.prepare(`PRAGMA ${pragma}`).all();
  const said = String(Object.values(problem ?? {})[0]);
  if (said !== 'ok') throw new Error(said);
}

function tablesOf(copy: DatabaseSync) {
  const indexes = copy.prepare(
    `SELECT count(*) AS n FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?`,
  );
  const all = copy.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
  return all.map(({ name }) => {
    const table = String(name);
    // Tables derived from a collection's table are named <table>__<suffix>.
    const isCollection = !table.includes('__');
    const count = isCollection ? `SELECT count(*) AS n FROM ${quoted(table)}` : 'SELECT 0 AS n';
    const documents = Number(copy.prepare(count).get()?.n);
    return { table, isCollection, documents, entries: documents * (1 + Number(indexes.get(table)?.n)) };
  });
}

function check(file: string, tell: (begins: CheckBegins) => void): CheckEnds {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = tablesOf(copy);
    const total = tables.reduce((sum, { entries }) => sum + entries, 0);
    let done = 0;
    for (const { table, entries } of tables.toSorted((a, b) => a.entries - b.entries)) {
      tell({ done, next: entries, total });
      assertWhole(copy, `integrity_check(${quoted(table)})`);
      done += entries;
    }
    assertWhole(copy, 'quick_check');
    const collections = tables.filter(({ isCollection }) => isCollection);
    return { documents: Object.fromEntries(collections.map(({ table, documents }) => [table, documents])) };
  } finally {
    copy.close();
  }
}

const tell = (said: CheckBegins | CheckEnds | CheckFails): void => void process.send?.(said);

// Ctrl-C is for who started it, and ends this one; whose death ends it, too.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
// It stays until it is ended: what it told has arrived then.
process.on('message', () => undefined);
try {
  tell(check(process.argv[2] ?? '', tell));
} catch (error) {
  tell({ problem: error instanceof Error ? error.message : String(error) });
}
