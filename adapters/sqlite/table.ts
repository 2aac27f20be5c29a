// Owns how a collection definition becomes a table: names, columns, SQL indexes, and the row a value is stored as.
import type { SQLInputValue } from 'node:sqlite';
import type { CollectionDefinition, FieldType, FieldValue } from '../../src/store/port.ts';
import { type Document, derive } from '../document.ts';
import { encodeText } from '../text.ts';
import { type SearchIndex, toSearchIndex } from './search.ts';

export interface Column {
  readonly name: string;
  readonly type: 'TEXT' | 'REAL' | 'INTEGER';
}

export interface SqlIndex {
  readonly name: string;
  readonly sql: string;
}

export interface Table {
  /** Quoted, for use in SQL. */
  readonly sql: string;
  readonly name: string;
  /** One for each declared index and field, on top of id, version, expires_at and value. */
  readonly columns: readonly Column[];
  readonly indexes: readonly SqlIndex[];
  /** Over the text of the fields that are searched; undefined where none are. */
  readonly search: SearchIndex | undefined;
  /** What an earlier definition may have left that would now be wrong. */
  readonly obsoleteIndexes: readonly string[];
  /** The content of `columns` for a stored value. */
  cellsOf(text: string): SQLInputValue[];
}

const NAME = /^[a-z][a-z0-9_]*$/;
const columnTypes = { string: 'TEXT', number: 'REAL', boolean: 'INTEGER' } as const satisfies Record<
  FieldType,
  string
>;

export const keyColumn = (index: string): string => `k_${index}`;
export const fieldColumn = (field: string): string => `f_${field}`;

/** @returns the SQL index over what can expire */
export const expiryIndex = ({ name }: Pick<Table, 'name'>): string => `${name}__expires_at`;

/** @returns the SQL index that has the rows in the order of this field, or of the id (SQLite's own name for that) */
export const sortIndex = ({ name }: Pick<Table, 'name'>, sort: string): string =>
  sort === 'id' ? `sqlite_autoindex_${name}_1` : `${name}__${fieldColumn(sort)}`;

/** @returns what to bind for a key or field; absent becomes NULL, which no comparison matches */
export function toCell(value: FieldValue | undefined): SQLInputValue {
  if (typeof value === 'string') return encodeText(value);
  if (typeof value === 'boolean') return Number(value);
  return value ?? null;
}

/** @returns the declared columns' content, in their order */
export function toCells<T>(
  definition: CollectionDefinition<T>,
  { keys, fields }: Pick<Document<T>, 'keys' | 'fields'>,
): SQLInputValue[] {
  return [
    ...Object.keys(definition.indexes).map((index) => toCell(keys.get(index))),
    ...Object.keys(definition.fields).map((field) => toCell(fields.get(field))),
  ];
}

/** @throws TypeError for names that cannot be SQL identifiers */
export function toTable<T>(definition: CollectionDefinition<T>): Table {
  const { name, indexes, fields } = definition;
  for (const part of [name, ...Object.keys(indexes), ...Object.keys(fields)]) {
    if (!NAME.test(part))
      throw new TypeError(`${name}: ${part} is not a name of letters, digits and underscores`);
  }
  const create = (kind: string, indexName: string, over: string): SqlIndex => ({
    name: indexName,
    sql: `CREATE ${kind} IF NOT EXISTS "${indexName}" ON "${name}" ${over}`,
  });
  const keyIndex = (index: string, isUnique: boolean): string => `${name}__${isUnique ? 'u' : 'k'}_${index}`;
  return {
    name,
    sql: `"${name}"`,
    columns: [
      ...Object.keys(indexes).map((index) => ({ name: keyColumn(index), type: 'TEXT' as const })),
      ...Object.entries(fields).map(([field, { type }]) => ({
        name: fieldColumn(field),
        type: columnTypes[type],
      })),
    ],
    indexes: [
      create('INDEX', expiryIndex({ name }), '(expires_at) WHERE expires_at IS NOT NULL'),
      ...Object.entries(indexes).map(([index, { unique = false }]) =>
        create(unique ? 'UNIQUE INDEX' : 'INDEX', keyIndex(index, unique), `(${keyColumn(index)})`),
      ),
      // With expires_at inside, a scan skips the expired without touching the table.
      ...Object.keys(fields).map((field) =>
        create('INDEX', sortIndex({ name }, field), `(${fieldColumn(field)}, id, expires_at)`),
      ),
    ],
    search: toSearchIndex(
      name,
      new Map(
        Object.entries(fields)
          .filter(([, { isSearched }]) => isSearched === true)
          .map(([field]) => [field, fieldColumn(field)]),
      ),
    ),
    obsoleteIndexes: Object.entries(indexes).map(([index, { unique = false }]) => keyIndex(index, !unique)),
    cellsOf(text) {
      const value: T = JSON.parse(text);
      return toCells(definition, derive(definition, value));
    },
  };
}
