// Text search over millions of documents: SQLite's FTS5 trigram index over the searched fields. It finds candidates; the
// caller must check each one. It stores no text itself, and triggers keep it in step with the table in every process.
import type { Condition, DerivedTable } from './sql.ts';

export interface SearchIndex extends DerivedTable {
  /** Of the virtual table. The name includes the searched fields, so that a change of them creates a new table. */
  readonly name: string;
  readonly fields: ReadonlySet<string>;
}

const GRAM = 3;
// More trigrams than this no longer narrow the result.
const MAX_GRAMS = 24;

/** @param columns of the searched fields, by their names */
export function toSearchIndex(table: string, columns: ReadonlyMap<string, string>): SearchIndex | undefined {
  if (columns.size === 0) return undefined;
  const name = `${table}__text_${[...columns.keys()].join('_')}`;
  const quoted = [...columns.values()];
  const textOf = (row: string): string =>
    `fold(${quoted.map((column) => `ifnull(${row}${column}, '')`).join(' || char(10) || ')})`;
  const add = (row: string): string =>
    `INSERT INTO "${name}" (rowid, text) VALUES (${row}rowid, ${textOf(row)});`;
  const drop = `DELETE FROM "${name}" WHERE rowid = old.rowid;`;
  const hasChanged = quoted.map((column) => `old.${column} IS NOT new.${column}`).join(' OR ');
  const trigger = (kind: string, when: string, act: string) => ({
    name: `${name}_${kind}`,
    sql: `CREATE TRIGGER "${name}_${kind}" AFTER ${when} BEGIN ${act} END`,
  });
  return {
    name,
    fields: new Set(columns.keys()),
    create: [
      {
        name,
        sql: `CREATE VIRTUAL TABLE "${name}" USING fts5(text, content='', contentless_delete=1, detail=none,
          tokenize='trigram case_sensitive 1')`,
      },
      trigger('added', `INSERT ON "${table}"`, add('new.')),
      trigger('removed', `DELETE ON "${table}"`, drop),
      trigger('changed', `UPDATE OF ${quoted} ON "${table}" WHEN ${hasChanged}`, `${drop} ${add('new.')}`),
    ],
    fillSql: `INSERT INTO "${name}" (rowid, text) SELECT rowid, ${textOf('')} FROM "${table}"
              WHERE rowid > ? AND rowid <= ?`,
  };
}

function gramsOf(text: string): string[] {
  const characters = [...text];
  const grams = characters.slice(0, 1 - GRAM).map((_, at) => characters.slice(at, at + GRAM).join(''));
  return [...new Set(grams)].slice(0, MAX_GRAMS);
}

/**
 * @param texts folded; a candidate contains all of them, in any field
 * @returns a SELECT of candidates' row ids; undefined when the index cannot help
 */
export function candidatesOf(
  index: SearchIndex | undefined,
  texts: readonly string[],
): Condition | undefined {
  if (index === undefined || texts.some((text) => text.includes('\0'))) return undefined;
  const grams = [...new Set(texts.flatMap((text) => ([...text].length < GRAM ? [] : gramsOf(text))))];
  if (grams.length === 0) return undefined;
  const wanted = grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(' AND ');
  return { sql: `SELECT rowid FROM "${index.name}" WHERE "${index.name}" MATCH ?`, cells: [wanted] };
}
