// JSON schema parts that all resources share.
import { Null, String as StringSchema, type TSchema, type TSchemaOptions, Union } from 'typebox';

/** Objects are closed: unknown members are refused. */
export const strict = { additionalProperties: false } as const;

export const timestamp = () => StringSchema({ format: 'date-time' });

/** @param at epoch milliseconds @returns what `timestamp` describes */
export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | undefined): string | null => (at === undefined ? null : iso(at));

export const nullable = <S extends TSchema>(schema: S, options: TSchemaOptions = {}) =>
  Union([schema, Null()], options);
