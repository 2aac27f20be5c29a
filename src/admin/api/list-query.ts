// The parameters of every list (decision 0010): limit, offset or cursor, sort, order, search, filters and time ranges.
// One declaration per list gives the schema, the validation errors and the storage query.
import type { TObject, TProperties, TSchema } from 'typebox';
import { invalid } from '../../errors.ts';
import { epochOf } from '../../model/time-kinds.ts';
import type { CollectionDefinition, FieldFilter, FieldValue } from '../../store/port.ts';
import { EXPECTED } from './expected.ts';
import { integer, object, oneOf, optional, string, timeGiven } from './schema-parts.ts';

/** Filters that must all match. */
export type FilterGroup = readonly FieldFilter[];

export interface ListFilter {
  readonly schema: TSchema;
  /**
   * What the value means: one filter group, or several disjoint ones, because the storage has no "or".
   * Absent: equality with the field of the same name.
   */
  readonly toGroups?: (value: FieldValue, now: number) => readonly FilterGroup[];
}

export interface ListDefinition<Record> {
  /** Binds cursors to this list. */
  readonly name: string;
  readonly collection: CollectionDefinition<Record>;
  /** Fields of the collection; the first one is the default. */
  readonly sorts: readonly [string, ...string[]];
  readonly defaultOrder: 'asc' | 'desc';
  /** Fields that `search` matches. */
  readonly searches?: readonly string[];
  /** Where one field of the collection holds the text of all those: what it has to contain, each of them. */
  readonly searchedBy?: { readonly field: string; readonly wordsOf: (text: string) => readonly string[] };
  readonly filters?: Readonly<{ [name: string]: ListFilter }>;
  /** Time fields: each adds the parameters `<name>_from` and `<name>_to`. */
  readonly times: readonly string[];
}

/** The validated parameters of one request. */
export interface ListRequest {
  readonly limit: number;
  readonly offset: number | undefined;
  readonly cursor: string | undefined;
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  readonly search: string | undefined;
  /** Disjoint: a document matches at most one of them. */
  readonly groups: readonly FilterGroup[];
  /** Distinguishes this list from others, for its cursors. */
  readonly scope: unknown;
}

export const MAX_LIMIT = 1000;
const MAX_OFFSET = 1_000_000;
const DEFAULT_LIMIT = 50;

const timeSchema = (description: string) =>
  timeGiven({ description, [EXPECTED]: 'a time as RFC 3339 has it, such as 2026-01-31T12:00:00Z' });

/** @returns the schema of the list's query string */
export function listQuerySchema<Record>(list: ListDefinition<Record>): TObject {
  const properties: TProperties = {
    limit: optional(
      integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'Items per page.' }),
    ),
    offset: optional(
      integer({ minimum: 0, maximum: MAX_OFFSET, description: 'Items to skip; not together with `cursor`.' }),
    ),
    cursor: optional(
      string({ minLength: 1, maxLength: 4096, description: 'The `next` of the previous page.' }),
    ),
    sort: optional(
      oneOf([...list.sorts], {
        default: list.sorts[0],
        description: 'The field that the items are sorted by.',
      }),
    ),
    order: optional(
      oneOf(['asc', 'desc'], { default: list.defaultOrder, description: 'Ascending or descending.' }),
    ),
  };
  if (list.searches) {
    const fields = list.searches.map((name) => `\`${name}\``).join(' or ');
    const description = list.searchedBy
      ? `Only items in which every word of this text is a part of ${fields}, ignoring case and accents.`
      : `Only items in which a part of ${fields} is this text, ignoring case.`;
    properties.search = optional(string({ maxLength: 200, description }));
  }
  for (const [name, { schema }] of Object.entries(list.filters ?? {})) properties[name] = optional(schema);
  for (const name of list.times) {
    properties[`${name}_from`] = optional(
      timeSchema(`Only items whose \`${name}\` is at this time or later.`),
    );
    properties[`${name}_to`] = optional(
      timeSchema(`Only items whose \`${name}\` is at this time or earlier.`),
    );
  }
  return object(properties);
}

/** @param query fits listQuerySchema(list). @throws AppError request.invalid */
export function readListQuery<Record>(list: ListDefinition<Record>, query: object, now: number): ListRequest {
  const given = new Map<string, unknown>(Object.entries(query));
  const text = (name: string): string | undefined => {
    const value = given.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  const number = (name: string): number | undefined => {
    const value = given.get(name);
    return typeof value === 'number' ? value : undefined;
  };
  const { cursor, offset } = { cursor: text('cursor'), offset: number('offset') };
  if (cursor !== undefined && offset !== undefined) {
    throw invalid({ offset: 'Cannot be given together with a cursor.' });
  }
  const sort = text('sort') ?? list.sorts[0];
  const order = text('order') === 'asc' ? 'asc' : text('order') === 'desc' ? 'desc' : list.defaultOrder;
  const search = text('search') ?? '';
  const words = list.searchedBy?.wordsOf(search).map((value) => containsIn(list.searchedBy?.field, value));
  const wanted = [...given].filter(([name]) => !positional.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    limit: number('limit') ?? DEFAULT_LIMIT,
    offset,
    cursor,
    sort,
    order,
    search: search === '' || words !== undefined ? undefined : search,
    groups: groupsOf(list, given, now).map((group) => [...group, ...(words ?? [])]),
    scope: [list.name, sort, order, wanted],
  };
}

const containsIn = (field = '', value = ''): FieldFilter => ({ field, op: 'contains', value });

// These parameters select a position in the list, not the list.
const positional: ReadonlySet<string> = new Set(['limit', 'offset', 'cursor', 'sort', 'order']);

function groupsOf<Record>(
  list: ListDefinition<Record>,
  given: ReadonlyMap<string, unknown>,
  now: number,
): readonly FilterGroup[] {
  let groups: readonly FilterGroup[] = [[]];
  const also = (more: readonly FilterGroup[]): void => {
    groups = groups.flatMap((group) => more.map((filters) => [...group, ...filters]));
  };
  for (const [name, { toGroups }] of Object.entries(list.filters ?? {})) {
    const value = given.get(name);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    also(toGroups?.(value, now) ?? [[{ field: name, op: 'eq', value }]]);
  }
  for (const field of list.times) {
    const bounds = [['gte', given.get(`${field}_from`)] as const, ['lte', given.get(`${field}_to`)] as const];
    for (const [op, value] of bounds) {
      if (typeof value === 'string') also([[{ field, op, value: epochOf(value) }]]);
    }
  }
  return groups;
}
