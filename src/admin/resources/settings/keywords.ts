// What the OpenAPI document says about the body of a change of settings, from the list of all settings. src/settings validates.

import { isMembers } from '../../../json.ts';
import { settingKeys, settingRow } from '../../../model/settings/settings.ts';
import type { Keywords } from '../../api/schema-parts.ts';

/** @returns the same with null, which is the default */
function orNull({ type, ...keywords }: Keywords): Keywords {
  const { enum: values, anyOf } = keywords;
  return {
    ...(type !== undefined && { type: [type, 'null'] }),
    ...keywords,
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && {
      anyOf: anyOf.map((one) => (isMembers(one) && 'enum' in one ? orNull(one) : one)),
    }),
  };
}

const byName: Keywords = {
  type: 'object',
  description: 'Values by the names of the settings; null is the default.',
  properties: Object.fromEntries(
    settingKeys.map((key) => {
      const { description, absent, kind } = settingRow(key);
      return [key, { description, default: absent, ...orNull(kind.schema) }];
    }),
  ),
  additionalProperties: false,
};

/** @param item the schema of a setting as GET shows it */
const asShown = (item: object): Keywords => ({
  type: 'object',
  description: 'What GET shows, sent back: each `value` counts, the rest may be left out but not changed.',
  properties: {
    items: {
      type: 'array',
      description: 'Settings, each once.',
      items: { ...item, required: ['key', 'value'] },
    },
  },
  required: ['items'],
  additionalProperties: false,
});

// An object with any members is how it is declared.
const undeclared = { patternProperties: undefined };

export const documentedValues: Keywords = { ...undeclared, ...byName };
export const documentedChange = (item: object): Keywords => ({
  ...undeclared,
  anyOf: [byName, asShown(item)],
});
