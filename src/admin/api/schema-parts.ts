// JSON schema parts that all resources share.
import {
  Array as ArraySchema,
  Boolean as BooleanSchema,
  Enum,
  Integer,
  Null,
  Object as ObjectSchema,
  Optional,
  String as StringSchema,
  type TEnumValue,
  type TProperties,
  type TSchema,
  type TSchemaOptions,
  Union,
} from 'typebox';
import { time } from '../../model/time-kinds.ts';
import { EXPECTED } from './expected.ts';

/** Objects are closed: unknown members are refused. */
export const strict = { additionalProperties: false } as const;

/** What a schema says of its values; a text alone is the description. */
type About = string | TSchemaOptions;

const said = (about: About = {}): TSchemaOptions =>
  typeof about === 'string' ? { description: about } : about;

export const string = (about?: About) => StringSchema(said(about));
export const integer = (about?: About) => Integer(said(about));
export const boolean = (about?: About) => BooleanSchema(said(about));
export const oneOf = <Values extends TEnumValue[]>(values: readonly [...Values], about?: About) =>
  Enum(values, said(about));
export const array = <S extends TSchema>(items: S, about?: About) => ArraySchema(items, said(about));
export const object = <P extends TProperties>(members: P, about?: About) =>
  ObjectSchema(members, { ...strict, ...said(about) });
export const orNull = <S extends TSchema>(schema: S, about?: About) => Union([schema, Null()], said(about));
export const optional = Optional;

export const timestamp = (description?: string) =>
  StringSchema({ format: 'date-time', ...(description !== undefined && { description }) });
export const stringOrNull = (about: About) => orNull(string(), about);
export const timestampOrNull = (about: About) => orNull(timestamp(), about);
export const createdAt = () => timestamp('When it was created.');
export const expiresAt = () => timestamp('When it expires.');

/** A time that is sent; `description` says what for. */
export const timeGiven = (options: TSchemaOptions = {}) => StringSchema({ ...time.schema, ...options });

/** @param at epoch milliseconds @returns what `timestamp` describes */
export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | undefined): string | null => (at === undefined ? null : iso(at));

/**
 * Extension keyword: what the OpenAPI document says about a value beside the schema. For rules that the domain checks, because it
 * names which of them a value breaks; validation ignores it, so that no rule has two messages.
 */
export const DOCUMENTED = 'x-documented';

/** JSON Schema keywords (OpenAPI 3.1). */
export type Keywords = Readonly<Record<string, unknown>>;

/** @returns the schema as the document shows it */
export function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(documented);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { [DOCUMENTED]: added, [EXPECTED]: _, ...members }: Record<string, unknown> = { ...schema };
  const all = Object.entries({ ...members, ...(typeof added === 'object' && added) });
  return Object.fromEntries(all.map(([name, value]) => [name, documented(value)]));
}

/** As src/model/users/email-address.ts has it; internationalized domains included. */
export const emailKeywords = { format: 'idn-email', maxLength: 254 } as const;
