// Maps a collection definition to a table: names, columns, SQL indexes, and the row of a value.
import type { SQLInputValue } from 'node:sqlite';
import type { CollectionDefinition, FieldType, FieldValue } from '../../src/store/port.ts';
import { checkNames, type Document, derive, orderedFields } from '../document.ts';
import { encodeText } from '../text.ts';
import { furtherColumn, hasAnyKey, toFurtherKeys, toList, withFurtherKeys } from './further-keys.ts';
import { type SearchIndex, toSearchIndex } from './search.ts';
import { type DerivedTable, keyColumn } from './sql.ts';

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
  /** One per declared index and field, besides id, version, expires_at and value. */
  readonly columns: readonly Column[];
  readonly indexes: readonly SqlIndex[];
  /** Over the text of the searched fields; undefined where there are none. */
  readonly search: SearchIndex | undefined;
  /** Of the indexes whose documents can have further keys. */
  readonly furtherKeys: readonly DerivedTable[];
  /** Indexes that an earlier version or definition may have created and that are wrong or useless now. */
  readonly obsoleteIndexes: readonly string[];
  /** The condition that finds the documents with the key ?1: by a field's column, where the field is the key. */
  lookup(index: string): string;
  /** The content of `columns` for a stored value. */
  cellsOf(text: string): SQLInputValue[];
}

const columnTypes = { string: 'TEXT', number: 'REAL', boolean: 'INTEGER' } as const satisfies Record<
  FieldType,
  string
>;

export const fieldColumn = (field: string): string => `f_${field}`;

/** @returns the name of the SQL index over expires_at */
export const expiryIndex = ({ name }: Pick<Table, 'name'>): string => `${name}__expires_at`;

/** @returns the name of the SQL index with the rows in this order (for ids, the one that SQLite creates itself) */
export const sortIndex = ({ name }: Pick<Table, 'name'>, sort: string): string =>
  sort === 'id' ? `sqlite_autoindex_${name}_1` : `${name}__${fieldColumn(sort)}`;

/** @returns the value to bind; a missing one becomes NULL, which no comparison matches */
export function toCell(value: FieldValue | undefined): SQLInputValue {
  if (typeof value === 'string') return encodeText(value);
  if (typeof value === 'boolean') return Number(value);
  return value ?? null;
}

/** @returns the declared columns' values, in their order */
export function toCells<T>(
  definition: CollectionDefinition<T>,
  { keys, furtherKeys, fields }: Pick<Document<T>, 'keys' | 'furtherKeys' | 'fields'>,
): SQLInputValue[] {
  return [
    ...Object.keys(definition.indexes).map((index) => toCell(keys.get(index))),
    ...withFurtherKeys(definition).map((index) => toList(furtherKeys.get(index))),
    ...Object.keys(definition.fields).map((field) => toCell(fields.get(field))),
  ];
}

/** @throws TypeError for names that cannot be SQL identifiers */
export function toTable<T>(definition: CollectionDefinition<T>): Table {
  const { name, indexes, fields } = definition;
  checkNames(definition);
  const create = (kind: string, indexName: string, over: string): SqlIndex => ({
    name: indexName,
    sql: `CREATE ${kind} IF NOT EXISTS "${indexName}" ON "${name}" ${over}`,
  });
  /** A common key that is also a field has that field's index, which begins with it. */
  const fieldOf = (index: string): string | undefined => {
    const { key, unique = false } = indexes[index] ?? {};
    return unique ? undefined : Object.keys(fields).find((field) => fields[field]?.of === key);
  };
  const partialIndex = (index: string): string => `${name}__p_${index}`;
  const further = withFurtherKeys(definition);
  const ownKeys = Object.entries(indexes).filter(([index]) => fieldOf(index) === undefined);
  return {
    name,
    sql: `"${name}"`,
    columns: [
      ...Object.keys(indexes).map((index) => ({ name: keyColumn(index), type: 'TEXT' as const })),
      ...further.map((index) => ({ name: furtherColumn(index), type: 'TEXT' as const })),
      ...Object.entries(fields).map(([field, { type }]) => ({
        name: fieldColumn(field),
        type: columnTypes[type],
      })),
    ],
    indexes: [
      create('INDEX', expiryIndex({ name }), '(expires_at) WHERE expires_at IS NOT NULL'),
      ...ownKeys.map(([index, { unique = false }]) =>
        unique
          ? create('UNIQUE INDEX', `${name}__u_${index}`, `(${keyColumn(index)})`)
          : // A document without the key costs nothing.
            create(
              'INDEX',
              partialIndex(index),
              `(${keyColumn(index)}) WHERE ${keyColumn(index)} IS NOT NULL`,
            ),
      ),
      // Includes expires_at, so that a scan skips expired rows without reading the table.
      ...orderedFields(fields).map((field) =>
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
    furtherKeys: further.map((index) => toFurtherKeys(name, index)),
    // `__k_` was the index of a common key, with every document in it.
    obsoleteIndexes: Object.entries(indexes).flatMap(([index, { unique = false }]) => [
      `${name}__k_${index}`,
      ...(unique ? [] : [`${name}__u_${index}`]),
      ...(unique || fieldOf(index) !== undefined ? [partialIndex(index)] : []),
    ]),
    lookup(index) {
      const field = fieldOf(index);
      if (field !== undefined) return `${fieldColumn(field)} = ?1`;
      return further.includes(index) ? hasAnyKey(name, index) : `${keyColumn(index)} = ?1`;
    },
    cellsOf(text) {
      const value: T = JSON.parse(text);
      return toCells(definition, derive(definition, value));
    },
  };
}
