// How a document is stored in MongoDB: the value as JSON text (its keys never become BSON names) and, beside it, the derived
// keys and fields. All conditions with callers' values are built here or in query.ts.
import type { Document as Bson, Filter, UpdateFilter } from 'mongodb';
import type { CollectionDefinition, FieldValue, Stored } from '../../src/store/port.ts';
import { type Document, fold, keysIn } from '../document.ts';
import { encodeText } from '../text.ts';
import { decodeOrdered, encodeOrdered } from './text.ts';

export interface Row extends Bson {
  /** The id, encoded by encodeOrdered. */
  _id: string;
  version: number;
  /** The value as JSON text. */
  value: string;
  /** Secondary keys by index name, only those that are indexed; a list where a document has several in one index. */
  k?: Record<string, string | string[]>;
  /** Queryable fields by name. */
  f?: Record<string, FieldValue>;
  /** Folded text of the searchable string fields. */
  s?: Record<string, string>;
  /** The instant of expiry, for conditions and the TTL index; absent: never. */
  until?: Date;
  /** The exact expiry, where a Date cannot represent it. */
  expiresAt?: number;
  /** The version of the definition that `k`, `f` and `s` were derived by. */
  model?: string;
}

const MAX_DATE = 8.64e15;

/** @returns a description of the derived parts; when it changes, documents must be derived again */
export const modelOf = ({ indexes, fields }: CollectionDefinition<never>): string =>
  [
    ...Object.keys(indexes).map((index) => `k.${index}`),
    ...Object.entries(fields).map(([field, { type }]) => `f.${field}:${type}`),
  ]
    .sort()
    .join(' ');

const toDate = (expiresAt: number): Date =>
  new Date(Math.min(Math.max(Math.ceil(expiresAt), -MAX_DATE), MAX_DATE));

/** The derived parts that queries filter and sort by. */
export function derivedParts(
  definition: CollectionDefinition<never>,
  document: Pick<Document<unknown>, 'keys' | 'furtherKeys' | 'fields'>,
): Required<Pick<Row, 'k' | 'f' | 's' | 'model'>> {
  const { keys, furtherKeys, fields } = document;
  const texts = [...fields].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return {
    k: Object.fromEntries([
      ...[...keys].map(([index, key]) => [index, encodeOrdered(key)] as const),
      // Of a list, MongoDB enters each element into the index, unique ones too.
      ...[...furtherKeys.keys()].map((index) => [index, keysIn(document, index).map(encodeOrdered)] as const),
    ]),
    f: Object.fromEntries([...fields].map(([field, content]) => [field, toCell(content)])),
    s: Object.fromEntries(texts.map(([field, text]) => [field, toSearchable(text)])),
    model: modelOf(definition),
  };
}

/** @returns how a field's value is stored and compared */
export const toCell = (value: FieldValue): FieldValue =>
  typeof value === 'string' ? encodeOrdered(value) : value;

/** @returns the form in which text is stored and searched */
export const toSearchable = (text: string): string => encodeText(fold(text));

/** The expiry of a write; `undefined` leaves it unchanged. */
function expiryParts(expiresAt: number | null | undefined): UpdateFilter<Row> {
  if (expiresAt === undefined) return {};
  if (expiresAt === null) return { $unset: { until: 1, expiresAt: 1 } };
  const until = toDate(expiresAt);
  if (until.getTime() === expiresAt) return { $set: { until }, $unset: { expiresAt: 1 } };
  return { $set: { until, expiresAt } };
}

/** @param expiresAt null: never; undefined: unchanged */
export function toUpdate<T>(
  definition: CollectionDefinition<T>,
  document: Document<T>,
  expiresAt: number | null | undefined,
): UpdateFilter<Row> {
  const { $set, ...rest } = expiryParts(expiresAt);
  return {
    ...rest,
    $set: { value: document.text, ...derivedParts(definition, document), ...$set },
    $inc: { version: 1 },
  };
}

export function toRow<T>(
  definition: CollectionDefinition<T>,
  id: string,
  document: Document<T>,
  expiresAt: number | undefined,
): Row {
  return {
    _id: encodeOrdered(id),
    version: 1,
    value: document.text,
    ...derivedParts(definition, document),
    ...(expiresAt === undefined ? {} : expiryParts(expiresAt).$set),
  };
}

export const expiryOf = ({ until, expiresAt }: Pick<Row, 'until' | 'expiresAt'>): number | undefined =>
  expiresAt ?? until?.getTime();

export const toStored = <T>(
  id: string,
  version: number,
  expiresAt: number | undefined,
  value: T,
): Stored<T> => (expiresAt === undefined ? { id, version, value } : { id, version, expiresAt, value });

export function fromRow<T>(row: Row): Stored<T> {
  const value: T = JSON.parse(row.value);
  return toStored(decodeOrdered(row._id), row.version, expiryOf(row), value);
}

/** The parts of a row that a reader needs. */
export const readProjection = { version: 1, value: 1, until: 1, expiresAt: 1 } as const;

/** A bare value, not `$eq`: an upsert takes the new document's id from it. It is a string, whatever was passed. */
export const byId = (id: string): { _id: string } => ({ _id: encodeOrdered(id) });

/** Matches live documents (C1), including those without an expiry. */
export const isLiveAt = (now: number): Filter<Row> => ({ until: { $not: { $lte: new Date(now) } } });

export const isExpiredAt = (now: number): Filter<Row> => ({ until: { $lte: new Date(now) } });

export const hasKey = (index: string, key: string): Filter<Row> => ({
  [`k.${index}`]: { $eq: encodeOrdered(key) },
});
