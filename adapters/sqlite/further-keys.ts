// Further keys of one document in a unique index. The row lists them; a table beside it, kept in step by triggers in every
// process, has an entry for each. The first key stays in its own column, where a process of an earlier version looks.
import type { SQLInputValue } from 'node:sqlite';
import type { CollectionDefinition } from '../../src/store/port.ts';
import { encodeText } from '../text.ts';
import { type DerivedTable, keyColumn } from './sql.ts';

const tableOf = (table: string, index: string): string => `${table}__m_${index}`;

/** Holds the list, as JSON; NULL: there are none. */
export const furtherColumn = (index: string): string => `m_${index}`;

/** @returns the indexes whose documents can have several keys */
export const withFurtherKeys = ({ indexes }: CollectionDefinition<never>): string[] =>
  Object.keys(indexes).filter((index) => indexes[index]?.furtherKeys !== undefined);

export const toList = (keys: readonly string[] | undefined): SQLInputValue =>
  keys === undefined ? null : JSON.stringify(keys.map(encodeText));

/** The condition that ?1 is one of a document's keys. */
export const hasAnyKey = (table: string, index: string): string =>
  `id IN (SELECT id FROM "${table}" WHERE ${keyColumn(index)} = ?1
          UNION ALL SELECT id FROM "${tableOf(table, index)}" WHERE key = ?1)`;

export function toFurtherKeys(table: string, index: string): DerivedTable {
  const name = tableOf(table, index);
  const column = furtherColumn(index);
  const add = `INSERT INTO "${name}" (key, id) SELECT value, new.id FROM json_each(new.${column});`;
  const drop = `DELETE FROM "${name}" WHERE key IN (SELECT value FROM json_each(old.${column}));`;
  const trigger = (kind: string, when: string, act: string) => ({
    name: `${name}_${kind}`,
    sql: `CREATE TRIGGER "${name}_${kind}" AFTER ${when} BEGIN ${act} END`,
  });
  return {
    create: [
      {
        name,
        sql: `CREATE TABLE "${name}" (key TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID`,
      },
      trigger('added', `INSERT ON "${table}" WHEN new.${column} IS NOT NULL`, add),
      trigger('removed', `DELETE ON "${table}" WHEN old.${column} IS NOT NULL`, drop),
      trigger(
        'changed',
        `UPDATE OF ${column} ON "${table}" WHEN old.${column} IS NOT new.${column}`,
        `${drop} ${add}`,
      ),
    ],
    fillSql: `INSERT INTO "${name}" (key, id)
              SELECT entry.value, held.id FROM "${table}" AS held, json_each(held.${column}) AS entry
              WHERE held.rowid > ? AND held.rowid <= ?`,
  };
}
