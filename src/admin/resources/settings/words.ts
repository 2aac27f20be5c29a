// Settings in a person's words: labels, units, and what each choice means. The keys stay as they are in the API.
import { isSettingKey } from '../../../settings/index.ts';
import type { SettingView } from './resource.ts';
import { settingNames } from './setting-names.ts';

export const labelOf = (key: string): string => (isSettingKey(key) ? settingNames[key] : key);

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_days$/, 'days'],
  [/_(?:min|max)?_?length$|_length_/, 'characters'],
];

/** @returns what a number counts; '' where its label says it */
export const unitOf = (key: string): string => UNITS.find(([ending]) => ending.test(key))?.[1] ?? '';

const ASKED = { hidden: 'Not asked for', optional: 'Asked for, may stay empty', required: 'Required' };

const CHOICES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  auth_mode: {
    password: 'Password',
    password_and_passkey: 'Password or passkey',
    passkey_only: 'Passkey only',
  },
  mfa_mode: {
    off: 'Never',
    optional: 'For users who have one',
    required: 'For everyone',
  },
  admin_mfa: { offered: 'Offered', required: 'Required' },
};

/** @param value as the form has it */
export function inWords(key: string, value: string): string {
  const own = CHOICES[key] ?? (key.startsWith('signup_') ? ASKED : {});
  return Object.entries(own).find(([choice]) => choice === value)?.[1] ?? value;
}

/**
 * @returns the description with the choices and other settings that it quotes as the page names them, without the unit of the API:
 * a page has one beside the number
 */
export const sentence = ({ key, description }: Pick<SettingView, 'key' | 'description'>): string =>
  description
    .replace(/, in seconds(?=[.;:])/, '')
    .replace(/`([^`]+)`(?: `([^`]+)`)?/g, (_, quoted: string, choice?: string) => {
      if (!isSettingKey(quoted)) return `“${inWords(key, quoted)}”`;
      const name = `“${labelOf(quoted)}”`;
      return choice === undefined ? name : `${name} set to “${inWords(quoted, choice)}”`;
    });

const fold = (text: string): string => text.toLowerCase().replaceAll(/[_-]/g, ' ');

/** Whether every word of the search is in its label, key, group, description or choices. */
export function matches({ key, group, description }: SettingView, searched: string): boolean {
  const text = fold([labelOf(key), key, group, description, sentence({ key, description })].join(' '));
  return fold(searched)
    .split(/\s+/)
    .every((word) => text.includes(word));
}
