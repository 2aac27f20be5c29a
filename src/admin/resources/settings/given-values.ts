// A change of settings is either values by name, or what GET shows, sent back with some values changed (echoed-members.ts has the
// same rule for other resources).

import { isDeepStrictEqual } from 'node:util';
import { invalid } from '../../../errors.ts';
import { isMembers } from '../../../json.ts';
import type { SettingDescription } from '../../../settings/index.ts';

type Members = Readonly<Record<string, unknown>>;

/** Whether the body has the form that GET shows: no setting has this name. */
export const isShownForm = (body: Members): boolean => Array.isArray(body.items);

/**
 * @param body `{ items }`, each item as GET shows it; what only describes a setting may be left out
 * @returns the values by name, unvalidated, and the secrets that come back as they are shown, which stay
 * @throws AppError request.invalid naming each member that cannot be changed and says something else
 */
export function valuesOfItems(
  body: Members,
  shown: readonly SettingDescription[],
): { readonly values: Record<string, unknown>; readonly kept: ReadonlySet<string> } {
  const { items, ...others } = body;
  const fields = new Map<string, string>();
  const values = new Map<string, unknown>();
  const kept = new Set<string>();
  for (const name of Object.keys(others)) fields.set(name, 'Cannot be given together with items.');
  for (const [at, item] of (Array.isArray(items) ? items : []).entries()) {
    const within = `items.${at}`;
    if (!isMembers(item) || typeof item.key !== 'string') {
      fields.set(within, 'Must be a setting as it is shown: an object with key and value.');
      continue;
    }
    const { key, value, ...described } = item;
    if (values.has(key) || kept.has(key)) fields.set(`${within}.key`, 'Must be given once.');
    if (!Object.hasOwn(item, 'value')) fields.set(`${within}.value`, 'This field is required.');
    const known: Members = { ...shown.find((one) => one.key === key) };
    if (known.is_secret === true && value === null) kept.add(key);
    else values.set(key, value);
    // An unknown setting is named with the invalid values.
    if (known.key === undefined) continue;
    for (const [name, said] of Object.entries(described)) {
      if (!Object.hasOwn(known, name)) fields.set(`${within}.${name}`, 'Unknown field.');
      else if (!isDeepStrictEqual(said, known[name]))
        fields.set(`${within}.${name}`, 'This field cannot be changed.');
    }
  }
  if (fields.size > 0) throw invalid(Object.fromEntries(fields));
  return { values: Object.fromEntries(values), kept };
}
