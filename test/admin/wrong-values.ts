// Values that violate a schema: of another type, too long, too short, out of bounds.
import {
  IsArray,
  IsBoolean,
  IsEnum,
  IsInteger,
  IsNumber,
  IsObject,
  IsString,
  IsUnion,
  type TSchema,
} from 'typebox';
import { Check } from 'typebox/value';

const numberIn = (schema: TSchema, name: string): number | undefined => {
  const value: unknown = Reflect.get(schema, name);
  return typeof value === 'number' ? value : undefined;
};

const others: readonly unknown[] = [null, true, 17, 'wrong', [], {}, { $gt: '' }, [{ $regex: '.*' }]];

function outside(schema: TSchema): unknown[] {
  if (IsUnion(schema)) return schema.anyOf.flatMap(outside);
  const found: unknown[] = [];
  const add = (name: string, make: (bound: number) => unknown): void => {
    const bound = numberIn(schema, name);
    if (bound !== undefined) found.push(make(bound));
  };
  if (IsEnum(schema)) found.push('', 'WRONG', `${schema.enum[0]} `);
  else if (IsString(schema)) {
    add('maxLength', (bound) => 'x'.repeat(bound + 1));
    add('minLength', (bound) => 'x'.repeat(bound - 1));
    if (Reflect.get(schema, 'format') === 'date-time') found.push('yesterday', '2026-02-31T00:00:00Z', '1');
  } else if (IsInteger(schema) || IsNumber(schema)) {
    add('minimum', (bound) => bound - 1);
    add('maximum', (bound) => bound + 1);
    if (IsInteger(schema)) found.push(1.5);
  } else if (IsArray(schema)) {
    add('maxItems', (bound) => Array.from({ length: bound + 1 }, () => 'x'));
    add('minItems', () => []);
    found.push([17], [null], [['x']]);
  } else if (IsBoolean(schema)) found.push('true', 0, 1);
  else if (IsObject(schema)) found.push('{}');
  return found;
}

/** @returns at least one for every schema; none of them fits it, and objects only where none is taken */
export function wrongValues(schema: TSchema): unknown[] {
  const takesObject = IsUnion(schema) ? schema.anyOf.some(IsObject) : IsObject(schema);
  return [...others, ...outside(schema)].filter(
    (value) =>
      !Check(schema, value) &&
      // What is wrong in an object is named there, not where the object is.
      !(takesObject && typeof value === 'object' && value !== null && !Array.isArray(value)),
  );
}
