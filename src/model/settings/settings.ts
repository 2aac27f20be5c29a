// All runtime settings, a row each. The types of their values, the API, its documents, the Admin UI, export and import, audit log,
// sealing and docs/configuration.md walk this list.
import type { Control } from '../kind.ts';
import { agentsSettings } from './agents.ts';
import { brandingSettings } from './branding.ts';
import { legacySettings } from './legacy.ts';
import { limitSettings } from './limits.ts';
import { mailSettings } from './mail.ts';
import { mailedLinksSettings } from './mailed-links.ts';
import { operationSettings } from './operation.ts';
import { ownAccountSettings } from './own-account.ts';
import { secondFactorSettings } from './second-factor.ts';
import { sessionsSettings } from './sessions.ts';
import type { SettingRow } from './setting.ts';
import { signInSettings } from './sign-in.ts';
import { signUpSettings } from './sign-up.ts';
import { tokensSettings } from './tokens.ts';

export const settingRows = {
  ...tokensSettings,
  ...sessionsSettings,
  ...signInSettings,
  ...secondFactorSettings,
  ...mailedLinksSettings,
  ...operationSettings,
  ...ownAccountSettings,
  ...signUpSettings,
  ...agentsSettings,
  ...legacySettings,
  ...limitSettings,
  ...mailSettings,
  ...brandingSettings,
};

export type SettingKey = keyof typeof settingRows;
type ValueOf<R> = R extends SettingRow<infer T> ? T : never;

/** The values that hold now. */
export type SettingValues = { readonly [Key in SettingKey]: ValueOf<(typeof settingRows)[Key]> };

export type SettingValue = number | boolean | string;

export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(settingRows, key);

export const settingKeys: readonly SettingKey[] = Object.keys(settingRows).filter(isSettingKey);

/** As the interface that all rows share, not as the union of the types in the list. */
export const settingRow = (key: SettingKey): SettingRow<SettingValue> => settingRows[key];

export const settingNamed = (name: string): SettingRow<SettingValue> | undefined =>
  isSettingKey(name) ? settingRow(name) : undefined;

export const isSecretSetting = (key: SettingKey): boolean => settingRow(key).shownTo === 'nobody';

export type SettingType = 'integer' | 'boolean' | 'choice' | 'text' | 'url' | 'color' | 'email';

const types: Partial<Record<Control, SettingType>> = {
  check: 'boolean',
  number: 'integer',
  select: 'choice',
  url: 'url',
  color: 'color',
  email: 'email',
};

/** What programs are told of it. Bounds are those of a number, or of the length of a text in characters. */
export function settingFacts({ kind: { schema, control } }: SettingRow<SettingValue>) {
  const { minimum, maximum, minLength, maxLength } = schema;
  return { type: types[control] ?? 'text', min: minimum ?? minLength, max: maximum ?? maxLength } as const;
}
