// Describes what a schema expects, so that every validation error says how to fix the value ("must be …").

import {
  IsArray,
  IsBoolean,
  IsEnum,
  IsInteger,
  IsLiteral,
  IsNull,
  IsObject,
  IsString,
  IsUnion,
  type TSchema,
} from 'typebox';
import { memberOf } from '../../json.ts';

/** Extension keyword (OpenAPI 3.1 allows `x-`): completes the sentence "must be …" where the type is not specific enough. */
export const EXPECTED = 'x-expected';

const range = (low: unknown, high: unknown): string => {
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  if (low !== undefined) return ` of at least ${low}`;
  return high === undefined ? '' : ` of at most ${high}`;
};

/** @returns for example "a string of 1 to 200 characters or null" */
export function expected(schema: TSchema): string {
  const said = memberOf(schema, EXPECTED);
  if (typeof said === 'string') return said;
  if (IsUnion(schema)) return schema.anyOf.map(expected).join(' or ');
  if (IsNull(schema)) return 'null';
  if (IsEnum(schema)) return `one of ${schema.enum.join(', ')}`;
  if (IsLiteral(schema)) return String(schema.const);
  if (IsBoolean(schema)) return 'true or false';
  if (IsInteger(schema)) {
    return `a whole number${range(memberOf(schema, 'minimum'), memberOf(schema, 'maximum'))}`;
  }
  if (IsString(schema)) {
    const length = range(memberOf(schema, 'minLength') ?? 0, memberOf(schema, 'maxLength'));
    return memberOf(schema, 'maxLength') === undefined ? 'a string' : `a string${length} characters`;
  }
  if (IsArray(schema)) return `an array, each item ${expected(schema.items)}`;
  return IsObject(schema) ? 'an object' : 'something else';
}
