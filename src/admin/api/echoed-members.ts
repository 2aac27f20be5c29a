// What a script reads with GET it may send back with PUT or PATCH: members that are shown but cannot be changed are accepted
// as long as they say what is shown (as RFC 7592 §2.2 has it for client metadata).
import { isDeepStrictEqual } from 'node:util';
import { IsObject } from 'typebox';
import { AppError } from '../../errors.ts';
import { isMembers } from '../../json.ts';
import type { RawInput, Route } from './route.ts';

const namesIn = (schema: unknown): ReadonlySet<string> =>
  new Set(IsObject(schema) ? Object.keys(schema.properties) : []);

/**
 * @param reading the GET of the same address, if there is one
 * @returns of a PUT or PATCH: takes out of a body what the caller was shown and cannot change; undefined when there is nothing
 * @throws AppError request.invalid naming each such member that says something else
 */
export function createTakeEchoes(
  { method, body: schema }: Pick<Route, 'method' | 'body'>,
  reading: Route | undefined,
): ((input: RawInput) => Promise<unknown>) | undefined {
  if (reading === undefined || (method !== 'PUT' && method !== 'PATCH')) return undefined;
  const taken = namesIn(schema);
  const fixed = [...namesIn(reading.success.schema)].filter((name) => !taken.has(name));
  if (taken.size === 0 || fixed.length === 0) return undefined;

  return async ({ body, ...input }) => {
    const echoed = isMembers(body) ? fixed.filter((name) => Object.hasOwn(body, name)) : [];
    // Read only where there is something to compare.
    if (!isMembers(body) || echoed.length === 0) return body;
    const shown = (await reading.run({ ...input, query: {}, body: {}, ifVersion: undefined }))?.data;
    const known = isMembers(shown) ? shown : {};
    const changed = echoed.filter((name) => !isDeepStrictEqual(body[name], known[name]));
    if (changed.length > 0) {
      throw new AppError('request.invalid', {
        fields: Object.fromEntries(changed.map((name) => [name, 'This field cannot be changed.'])),
      });
    }
    return Object.fromEntries(Object.entries(body).filter(([name]) => !echoed.includes(name)));
  };
}
