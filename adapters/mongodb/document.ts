// Owns how a document lies in MongoDB: the value as JSON text (its keys are never names in BSON), and beside it what is
// found and sorted by. Every condition that callers have a part in is built here or in query.ts.
import type { Document as Bson, Filter, UpdateFilter } from 'mongodb';
import type { CollectionDefinition, FieldValue, Stored } from '../../src/store/port.ts';
import { type Document, fold } from '../document.ts';
import { encodeText } from '../text.ts';
import { decodeOrdered, encodeOrdered } from './text.ts';

export interface Row extends Bson {
  /** The id, by encodeOrdered. */
  _id: string;
  version: number;
  /** The value as JSON text. */
  value: string;
  /** Secondary keys by index name; what is not indexed is not there. */
  k?: Record<string, string>;
  /** Queryable fields by name. */
  f?: Record<string, FieldValue>;
  /** Folded text of the string fields: what searches look into. */
  s?: Record<string, string>;
  /** The first millisecond at which it does not exist; absent: never. For conditions, and for the TTL index. */
  until?: Date;
  /** The expiry as it was given, where a date is not the same. */
  expiresAt?: number;
  /** Of the definition that `k`, `f` and `s` were derived by. */
  model?: string;
}

const NAME = /^[a-z][a-z0-9_]*$/;
const MAX_DATE = 8.64e15;

/** @throws TypeError for names that could mean something to the database */
export function checkNames({ name, indexes, fields }: CollectionDefinition<never>): void {
  for (const part of [name, ...Object.keys(indexes), ...Object.keys(fields)]) {
    if (!NAME.test(part))
      throw new TypeError(`${name}: ${part} is not a name of letters, digits and underscores`);
  }
}

/** @returns what the definition says about the form of documents; differs when they must be derived again */
export const modelOf = ({ indexes, fields }: CollectionDefinition<never>): string =>
  [
    ...Object.keys(indexes).map((index) => `k.${index}`),
    ...Object.entries(fields).map(([field, { type }]) => `f.${field}:${type}`),
  ]
    .sort()
    .join(' ');

const toDate = (expiresAt: number): Date =>
  new Date(Math.min(Math.max(Math.ceil(expiresAt), -MAX_DATE), MAX_DATE));

/** What finds or sorts a document: everything that is derived from its value. */
export function derivedParts(
  definition: CollectionDefinition<never>,
  { keys, fields }: Pick<Document<unknown>, 'keys' | 'fields'>,
): Required<Pick<Row, 'k' | 'f' | 's' | 'model'>> {
  const texts = [...fields].filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return {
    k: Object.fromEntries([...keys].map(([index, key]) => [index, encodeOrdered(key)])),
    f: Object.fromEntries([...fields].map(([field, content]) => [field, toCell(content)])),
    s: Object.fromEntries(texts.map(([field, text]) => [field, toSearchable(text)])),
    model: modelOf(definition),
  };
}

/** @returns how a field's value is stored and compared */
export const toCell = (value: FieldValue): FieldValue =>
  typeof value === 'string' ? encodeOrdered(value) : value;

/** @returns the form in which text is searched, and searched for */
export const toSearchable = (text: string): string => encodeText(fold(text));

/** The expiry of a write; `undefined` leaves what is there. */
function expiryParts(expiresAt: number | null | undefined): UpdateFilter<Row> {
  if (expiresAt === undefined) return {};
  if (expiresAt === null) return { $unset: { until: 1, expiresAt: 1 } };
  const until = toDate(expiresAt);
  if (until.getTime() === expiresAt) return { $set: { until }, $unset: { expiresAt: 1 } };
  return { $set: { until, expiresAt } };
}

/** @param expiresAt null: never; undefined: as it is */
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

/** What a reader needs of a row. */
export const readProjection = { version: 1, value: 1, until: 1, expiresAt: 1 } as const;

/** A bare value, not `$eq`: an upsert takes the new document's id from it. It is a string, whatever was passed. */
export const byId = (id: string): { _id: string } => ({ _id: encodeOrdered(id) });

/** Matches what exists for a reader at `now` (C1); also what has no expiry. */
export const isLiveAt = (now: number): Filter<Row> => ({ until: { $not: { $lte: new Date(now) } } });

export const isExpiredAt = (now: number): Filter<Row> => ({ until: { $lte: new Date(now) } });

export const hasKey = (index: string, key: string): Filter<Row> => ({
  [`k.${index}`]: { $eq: encodeOrdered(key) },
});
