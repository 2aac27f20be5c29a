// Rows (src/model/row.ts) as schemas of the validator, whose types a view has by its rows.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
  type TProperties,
  type TSchema,
} from 'typebox';
import { type ApplicationFact, onlyOf } from '../../model/applications/row.ts';
import type { Schema } from '../../model/kind.ts';
import { DOCUMENTED, type Keywords, orNull } from './schema-parts.ts';

const isSchema = (given: unknown): given is Schema => typeof given === 'object' && given !== null;

function schemaOf({ type, enum: values, items, ...keywords }: Schema): TSchema {
  if (Array.isArray(values)) return Enum(values.map(String), keywords);
  switch (type) {
    case 'array':
      return ArraySchema(schemaOf(isSchema(items) ? items : {}), keywords);
    case 'boolean':
      return BooleanSchema(keywords);
    case 'integer':
      return Integer(keywords);
    case 'object':
      return ObjectSchema({}, keywords);
    default:
      return StringSchema(keywords);
  }
}

/** The JSON type alone, where a domain names which of its rules a value breaks. */
const WIDE: Readonly<Record<string, Schema>> = {
  string: {},
  array: { items: { type: 'string' }, maxItems: 50 },
  integer: { minimum: 0 },
};

export interface How {
  /** In a request: rules that the domain checks are documented; answers may hold what earlier versions accepted. */
  readonly isGiven: boolean;
  /** Null clears a field that may be missing. */
  readonly isCleared?: boolean;
  readonly documented?: Readonly<Record<string, Keywords>>;
}

function narrow(schema: Schema, documented: Keywords | undefined): Schema {
  if (documented === undefined || !isSchema(schema.items)) return { ...schema, ...documented };
  return { ...schema, items: { ...schema.items, [DOCUMENTED]: documented } };
}

function schemaOfRow(name: string, row: ApplicationFact, { isGiven, isCleared, documented }: How): TSchema {
  const { kind, absent, setBy } = row;
  const description = row.description + onlyOf(row);
  const { type, ...rule } = kind.schema;
  const isMissing = absent === undefined;
  const examples = Object.hasOwn(row, 'example') ? [row.example] : absent === null ? [null] : undefined;
  const about = { description, ...(examples && { examples }) };
  if (setBy === 'server') {
    const { format, enum: values } = rule;
    const own = schemaOf({
      type,
      ...(values ? { enum: values } : format ? { format } : {}),
      ...(absent !== null && about),
    });
    return absent === null ? orNull(own, { description }) : own;
  }
  if (isMissing) {
    const ruled = isGiven && Object.keys(rule).length > 0 ? { [DOCUMENTED]: rule } : {};
    const own = schemaOf({ type, ...WIDE[String(type)], ...about, ...ruled });
    return isCleared === true ? orNull(own, { description }) : own;
  }
  const ruled = narrow(kind.schema, isGiven ? documented?.[name] : undefined);
  return absent === null ? orNull(schemaOf(ruled), about) : schemaOf({ ...ruled, ...about });
}

/** @returns the members of a body or a view; what is set may be missing, what the server says never is */
export const propertiesOf = (rows: Readonly<Record<string, ApplicationFact>>, how: How): TProperties =>
  Object.fromEntries(
    Object.entries(rows).map(([name, row]) => {
      const schema = schemaOfRow(name, row, how);
      return [name, row.setBy === 'server' && onlyOf(row) === '' ? schema : Optional(schema)];
    }),
  );
