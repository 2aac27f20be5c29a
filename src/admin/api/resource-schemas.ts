// What JSON looks like by rows (src/model/row.ts), for the validator and the OpenAPI document: what is shown, and what is given.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Optional,
  Record as RecordSchema,
  String as StringSchema,
  type TObject,
  type TSchema,
  Union,
} from 'typebox';
import { isMembers } from '../../json.ts';
import type { Schema } from '../../model/kind.ts';
import type { Row } from '../../model/row.ts';
import { EXPECTED } from './expected.ts';
import { DOCUMENTED, orNull, strict } from './schema-parts.ts';

type Direction = 'shown' | 'given';
type Described = Row<unknown> & { readonly example?: unknown };
type Table = Readonly<Record<string, Described>>;

const schemasIn = (members: unknown): [string, Schema][] =>
  Object.entries(isMembers(members) ? members : {}).flatMap(([name, one]) =>
    isMembers(one) ? [[name, one]] : [],
  );

/** Of what is shown only its type is said. */
function schemaOf(
  { type, enum: values, items, properties, anyOf, required, additionalProperties: each, ...keywords }: Schema,
  to: Direction,
): TSchema {
  const { description, examples, format, [EXPECTED]: said, ...rules } = keywords;
  const about = {
    ...(description !== undefined && { description: String(description) }),
    ...(Array.isArray(examples) && { examples }),
    ...(typeof said === 'string' && { [EXPECTED]: said }),
  };
  const [either, ...others] = Array.isArray(anyOf) ? anyOf.filter(isMembers) : [];
  if (either !== undefined && others.some((one) => one.type === 'null'))
    return orNull(schemaOf(either, to), about);
  if (either !== undefined && type === undefined)
    return Union(
      [either, ...others].map((one) => schemaOf(one, to)),
      about,
    );
  const bounds = to === 'given' ? rules : {};
  if (Array.isArray(values)) return Enum(values.map(String), about);
  if (type === 'boolean') return BooleanSchema(about);
  if (type === 'integer') return Integer({ ...bounds, ...about });
  if (type === 'array')
    return ArraySchema(schemaOf(isMembers(items) ? items : {}, to), { ...bounds, ...about });
  if (isMembers(each)) return RecordSchema(StringSchema(), schemaOf(each, to), about);
  if (type === 'object') {
    const isNeeded = (name: string) => to === 'shown' || (Array.isArray(required) && required.includes(name));
    const members = schemasIn(properties).map(([name, one]) => [name, schemaOf(one, to)] as const);
    return ObjectSchema(
      Object.fromEntries(members.map(([name, one]) => [name, isNeeded(name) ? one : Optional(one)])),
      { ...strict, ...about },
    );
  }
  if (format === 'date-time') return StringSchema({ format, ...bounds, ...about });
  if (to === 'shown') return StringSchema(about);
  const documented = {
    ...rules,
    ...(format !== undefined && { format }),
    ...(anyOf !== undefined && { anyOf }),
  };
  return StringSchema({
    ...about,
    ...(Object.keys(documented).length > 0 && { [DOCUMENTED]: documented }),
  });
}

function memberOf({ kind, absent, description, example }: Described, to: Direction): TSchema {
  const examples = example === undefined ? {} : { examples: [example] };
  if (absent !== null) return schemaOf({ ...kind.schema, description, ...examples }, to);
  const inner = { ...kind.schema, ...examples, ...(to === 'given' && { description }) };
  return orNull(schemaOf(inner, to), { description });
}

/** @returns what administrators see */
export const viewSchema = (
  rows: Table,
  about: { readonly description: string },
): TObject<Record<string, TSchema>> =>
  ObjectSchema(
    Object.fromEntries(
      Object.entries(rows)
        .filter(([, { shownTo }]) => shownTo !== 'nobody')
        .map(([name, one]) => [name, memberOf(one, 'shown')]),
    ),
    { ...strict, ...about },
  );

/** @returns what administrators give; what is not among `required` may be absent */
export const bodySchema = (rows: Table, required: readonly string[]): TObject<Record<string, TSchema>> =>
  ObjectSchema(
    Object.fromEntries(
      Object.entries(rows)
        .filter(([, { setBy }]) => setBy !== 'server')
        .map(([name, one]) => {
          const schema = memberOf(one, 'given');
          return [name, required.includes(name) ? schema : Optional(schema)];
        }),
    ),
    strict,
  );
