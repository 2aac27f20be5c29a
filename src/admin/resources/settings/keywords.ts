// What the OpenAPI document says about the body of a change of settings, from the list of all settings. src/settings validates.

import { oneLine } from '../../../model/text-kinds.ts';
import { definitionOf, isSecretSetting, settingKeys } from '../../../settings/index.ts';
import type { Keywords } from '../../api/schema-parts.ts';

/** Of addresses, as far as a pattern can say it. */
const link = '^(?:[Hh][Tt][Tt][Pp][Ss]?://[!#$%&()*+./0-9:=?@A-Z\\[\\]^_a-z{|}~-]+)?$';

const orEmpty = (keywords: Keywords): Keywords => ({ anyOf: [keywords, { enum: ['', null] }] });

function valueKeywords(key: (typeof settingKeys)[number]): Keywords {
  const { type, min, max, choices = [] } = definitionOf(key);
  // Null is the default.
  switch (type) {
    case 'integer':
      return { type: ['integer', 'null'], minimum: min, maximum: max };
    case 'boolean':
      return { type: ['boolean', 'null'] };
    case 'choice':
      return { type: ['string', 'null'], enum: [...choices, null] };
    case 'color':
      return { type: ['string', 'null'], pattern: '^#[0-9A-Fa-f]{6}$' };
    case 'email':
      return { type: ['string', 'null'], ...orEmpty({ format: 'email', maxLength: 254 }) };
    default: {
      const pattern = type === 'url' && !isSecretSetting(key) ? link : oneLine;
      return { type: ['string', 'null'], pattern, minLength: min, maxLength: max };
    }
  }
}

const byName: Keywords = {
  type: 'object',
  description: 'Values by the names of the settings; null is the default.',
  properties: Object.fromEntries(
    settingKeys.map((key) => {
      const { description, default: standard } = definitionOf(key);
      return [key, { description, default: standard, ...valueKeywords(key) }];
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
