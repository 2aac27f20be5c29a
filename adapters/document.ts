// Owns what every backend must agree on, written down once: what is derived from a value
// (index keys, queryable fields), when a document is live, how text is ordered and folded, which queries are valid.
import type { CollectionDefinition, FieldType, FieldValue, Query } from '../src/store/port.ts';

/** A value made ready for storing. `copy` shares nothing with what the caller holds (C2). */
export interface Document<T> {
  readonly text: string;
  readonly copy: T;
  readonly keys: ReadonlyMap<string, string>;
  readonly fields: ReadonlyMap<string, FieldValue>;
}

const MAX_LIMIT = 1000;

/** @returns whether a document with this expiry exists for a reader at `now` (C1) */
export const isLive = (expiresAt: number | undefined, now: number): boolean =>
  expiresAt === undefined || expiresAt > now;

/** How `contains` and `search` compare: case-insensitively over all of Unicode. */
export const fold = (text: string): string => text.toLowerCase();

/** The order of text in ids and sorted fields: by code point, as UTF-8 bytes compare in the databases. */
export const compareText = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b)) || (a < b ? -1 : Number(a > b));

/** @throws TypeError for what no backend could store as an instant; NaN would otherwise mean "for ever" in SQL */
export function checkExpiry(expiresAt: number | null | undefined): void {
  if (typeof expiresAt === 'number' && !Number.isFinite(expiresAt)) {
    throw new TypeError(`expiresAt is ${expiresAt}, not epoch milliseconds`);
  }
}

/** @throws TypeError for an undeclared index */
export function checkIndex(definition: CollectionDefinition<never>, index: string): void {
  if (!Object.hasOwn(definition.indexes, index))
    throw new TypeError(`${definition.name} has no index ${index}`);
}

function checkType(where: string, type: FieldType, value: unknown): void {
  const isRight = typeof value === type && !Number.isNaN(value);
  if (!isRight) throw new TypeError(`${where} must be a ${type}, not ${typeof value}`);
}

/** Index keys and fields of a value. @throws TypeError when a definition yields something of the wrong type */
export function derive<T>(
  definition: CollectionDefinition<T>,
  value: T,
): Pick<Document<T>, 'keys' | 'fields'> {
  const keys = new Map<string, string>();
  for (const [name, index] of Object.entries(definition.indexes)) {
    const key = index.key(value);
    if (key === undefined) continue;
    checkType(`${definition.name}: key ${name}`, 'string', key);
    keys.set(name, key);
  }
  const fields = new Map<string, FieldValue>();
  for (const [name, field] of Object.entries(definition.fields)) {
    const content = field.of(value);
    if (content === undefined) continue;
    checkType(`${definition.name}: field ${name}`, field.type, content);
    fields.set(name, content);
  }
  return { keys, fields };
}

/** @throws TypeError when the value is not JSON */
export function toDocument<T>(definition: CollectionDefinition<T>, value: T): Document<T> {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${definition.name}: the value is not JSON`);
  // Derived from the copy, not from the caller's object: what a later back-fill would see is what counts.
  const copy: T = JSON.parse(text);
  return { text, copy, ...derive(definition, copy) };
}

function typeOf(definition: CollectionDefinition<never>, field: string): FieldType {
  const declared = Object.hasOwn(definition.fields, field) ? definition.fields[field] : undefined;
  if (declared === undefined) throw new TypeError(`${definition.name} has no field ${field}`);
  return declared.type;
}

function checkText(definition: CollectionDefinition<never>, field: string, text: unknown): void {
  checkType(`${definition.name}: field ${field} with contains`, 'string', text);
  if (typeOf(definition, field) !== 'string') {
    throw new TypeError(`${definition.name}: field ${field} is not text, so it contains nothing`);
  }
}

/** @throws TypeError for an undeclared field, a value of the wrong type, or a page that cannot be */
export function checkQuery(definition: CollectionDefinition<never>, query: Query): void {
  const { filters = [], search, sort, limit, offset, after } = query;
  for (const { field, op, value } of filters) {
    const type = typeOf(definition, field);
    if (op === 'contains') checkText(definition, field, value);
    else if (op !== 'absent' && op !== 'present') checkType(`${definition.name}: ${field}`, type, value);
  }
  for (const field of search?.fields ?? []) checkText(definition, field, search?.text);
  const sortType = sort === 'id' ? undefined : typeOf(definition, sort);
  if (sortType !== undefined && after?.sortValue !== undefined) {
    checkType(`${definition.name}: after ${sort}`, sortType, after.sortValue);
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new TypeError(`limit is ${limit}, not 1–${MAX_LIMIT}`);
  }
  if (offset !== undefined && (!Number.isInteger(offset) || offset < 0)) {
    throw new TypeError(`offset is ${offset}, not 0 or more`);
  }
  if (offset !== undefined && after !== undefined) throw new TypeError('offset and after exclude each other');
}
