// Parses a query string for a schema: each name once, whole numbers and booleans converted. A value that cannot be
// converted stays text, so that schema validation names it.
import { IsBoolean, IsInteger, type TObject } from 'typebox';
import { invalid } from '../../errors.ts';

const integer = /^-?\d{1,15}$/;

/**
 * @param query without the question mark
 * @throws AppError request.invalid naming every parameter that is given more than once
 */
export function readQueryString(query: string, schema: TObject | undefined): object {
  const fields = new Map<string, string>();
  const values = new Map<string, unknown>();
  for (const [name, text] of new URLSearchParams(query)) {
    if (values.has(name)) fields.set(name, 'Must be given once.');
    const of = schema && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (IsInteger(of) && integer.test(text)) values.set(name, Number(text));
    else if (IsBoolean(of) && (text === 'true' || text === 'false')) values.set(name, text === 'true');
    else values.set(name, text);
  }
  if (fields.size > 0) throw invalid(Object.fromEntries(fields));
  // fromEntries defines own properties: `__proto__` is treated as any other unknown parameter.
  return Object.fromEntries(values);
}
