// What all backends must agree on: derived index keys and fields, when a document is live, how text is ordered and
// case-folded, which names and queries are valid.
import type { CollectionDefinition, FieldType, FieldValue, Query } from '../src/store/port.ts';

/** A value ready to be stored. `copy` shares no reference with the caller's value (C2). */
export interface Document<T> {
  readonly text: string;
  readonly copy: T;
  readonly keys: ReadonlyMap<string, string>;
  /** By index, besides that in `keys`; only where there are any, and each once. */
  readonly furtherKeys: ReadonlyMap<string, readonly string[]>;
  readonly fields: ReadonlyMap<string, FieldValue>;
}

const MAX_LIMIT = 1000;
const NAME = /^[a-z][a-z0-9_]*$/;

/** Names become identifiers of the database. @throws TypeError for others than lower-case ASCII ones */
export function checkNames({
  name,
  indexes,
  fields,
}: Pick<CollectionDefinition<never>, 'name' | 'indexes' | 'fields'>): void {
  for (const part of [name, ...Object.keys(indexes), ...Object.keys(fields)]) {
    if (!NAME.test(part))
      throw new TypeError(`${name}: ${part} is not a name of letters, digits and underscores`);
  }
}

/** @returns whether a document with this expiry exists for a reader at `now` (C1) */
export const isLive = (expiresAt: number | undefined, now: number): boolean =>
  expiresAt === undefined || expiresAt > now;

/** `contains` and `search` compare case-insensitively over all of Unicode. */
export const fold = (text: string): string => text.toLowerCase();

/** Order of ids and sorted text fields: by code point, which is how the databases compare UTF-8 bytes. */
export const compareText = (a: string, b: string): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b)) || (a < b ? -1 : Number(a > b));

/** @throws TypeError for a value that is not an instant: SQL would store NaN as NULL, "never expires" */
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
  const isValid = typeof value === type && !Number.isNaN(value);
  if (!isValid) throw new TypeError(`${where} must be a ${type}, not ${typeof value}`);
}

/** Index keys and fields of a value. @throws TypeError when a definition returns a value of the wrong type */
export function derive<T>(
  definition: CollectionDefinition<T>,
  value: T,
): Pick<Document<T>, 'keys' | 'furtherKeys' | 'fields'> {
  const keys = new Map<string, string>();
  const furtherKeys = new Map<string, readonly string[]>();
  for (const [name, index] of Object.entries(definition.indexes)) {
    const key = index.key(value);
    const further = index.furtherKeys === undefined ? [] : index.furtherKeys(value);
    if (further.length > 0) {
      for (const one of further) checkType(`${definition.name}: key ${name}`, 'string', one);
      const others = new Set(further);
      if (key !== undefined) others.delete(key);
      if (others.size > 0) furtherKeys.set(name, [...others]);
    }
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
  return { keys, furtherKeys, fields };
}

/** All keys of a document in one index. */
export const keysIn = (
  { keys, furtherKeys }: Pick<Document<unknown>, 'keys' | 'furtherKeys'>,
  index: string,
): readonly string[] => {
  const key = keys.get(index);
  const further = furtherKeys.get(index) ?? [];
  return key === undefined ? further : [key, ...further];
};

/** @returns the fields that a query may sort by and compare, each of which a database has an index for */
export const orderedFields = (fields: CollectionDefinition<never>['fields']): string[] =>
  Object.entries(fields)
    .filter(([, { isOnlySearched }]) => isOnlySearched !== true)
    .map(([field]) => field);

/** @throws TypeError when the value is not JSON */
export function toDocument<T>(definition: CollectionDefinition<T>, value: T): Document<T> {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${definition.name}: the value is not JSON`);
  // Derived from the JSON copy, not from the caller's object: a later back-fill sees only the copy.
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

function checkOrdered(definition: CollectionDefinition<never>, field: string): void {
  if (definition.fields[field]?.isOnlySearched === true)
    throw new TypeError(`${definition.name}: field ${field} is only searched`);
}

/** @throws TypeError for an undeclared field, a value of the wrong type, or an impossible page */
export function checkQuery(definition: CollectionDefinition<never>, query: Query): void {
  const { filters = [], search, sort, limit, offset, after } = query;
  for (const { field, op, value } of filters) {
    const type = typeOf(definition, field);
    if (op === 'contains') {
      checkText(definition, field, value);
      continue;
    }
    checkOrdered(definition, field);
    if (op !== 'absent' && op !== 'present') checkType(`${definition.name}: ${field}`, type, value);
  }
  for (const field of search?.fields ?? []) checkText(definition, field, search?.text);
  checkOrdered(definition, sort);
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
