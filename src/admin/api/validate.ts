// Validates input against a schema and names every invalid, missing and unknown field at once. TypeBox checks; its own errors
// are not used: they stop at eight by a setting of the whole process, and name each branch of a union instead of the field.

import { IsObject, IsUnion, type Static, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../errors.ts';
import { ours } from '../../phrase.ts';
import { expected } from './expected.ts';

export interface Validator<Value> {
  /** @throws AppError request.invalid with `fields` by name (nested ones as `address.country`) */
  parse(value: unknown): Value;
  isValid(value: unknown): value is Value;
}

// A map, because a field may be called __proto__.
type Problems = Map<string, string>;
type Check = (value: unknown, name: string, problems: Problems) => void;

// Limits the response: a request can contain thousands of unknown fields.
const MAX_PROBLEMS = 50;
const MAX_NAME_LENGTH = 100;

/** @param root name of the whole value, for when it has the wrong type itself */
export function createValidator<S extends TSchema>(schema: S, root = 'body'): Validator<Static<S>> {
  // Compiled on first use: a server start creates hundreds of validators and needs none of them.
  const whole = once(() => Compile(schema));
  const check = once(() => createCheck(schema));
  const isValid = (value: unknown): value is Static<S> => whole().Check(value);
  return {
    isValid,
    parse(value) {
      if (isValid(value)) return value;
      const problems: Problems = new Map();
      check()(value, '', problems);
      const named = [...problems].slice(0, MAX_PROBLEMS);
      throw new AppError('request.invalid', {
        fields: Object.fromEntries(named.map(([name, problem]) => [name === '' ? root : name, problem])),
      });
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function createCheck(schema: TSchema): Check {
  const within = IsUnion(schema) ? schema.anyOf.find(IsObject) : undefined;
  if (within !== undefined) {
    // An object or null: errors inside the object name their own field.
    const [checkObject, checkUnion] = [createCheck(within), createLeafCheck(schema)];
    return (value, name, problems) =>
      (typeof value === 'object' && value !== null ? checkObject : checkUnion)(value, name, problems);
  }
  return IsObject(schema) ? createObjectCheck(schema) : createLeafCheck(schema);
}

function createLeafCheck(schema: TSchema): Check {
  const compiled = Compile(schema);
  const problem = `Must be ${ours(expected(schema))}.`;
  return (value, name, problems) => {
    if (!compiled.Check(value)) problems.set(name, problem);
  };
}

function createObjectCheck(schema: TObject): Check {
  const required = new Set<string>(schema.required ?? []);
  const properties = new Map(Object.entries(schema.properties).map(([name, of]) => [name, createCheck(of)]));
  return (value, name, problems) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      problems.set(name, 'Must be an object.');
      return;
    }
    const within = (field: string): string =>
      (name === '' ? field : `${name}.${field}`).slice(0, MAX_NAME_LENGTH);
    for (const field of required) {
      if (!Object.hasOwn(value, field)) problems.set(within(field), 'This field is required.');
    }
    for (const [field, content] of Object.entries(value)) {
      const checkProperty = properties.get(field);
      if (checkProperty === undefined) problems.set(within(field), 'Unknown field.');
      else checkProperty(content, within(field), problems);
    }
  };
}
