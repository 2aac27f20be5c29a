// Settings in a person's words: labels, units, and what each choice means. The keys stay as they are in the API.
import { isSettingKey, settingNamed } from '../../../model/settings/settings.ts';
import type { SettingView } from './resource.ts';

export const labelOf = (key: string): string => settingNamed(key)?.label ?? key;

/** @param value as the form has it */
export function inWords(key: string, value: string): string {
  const { control, words = {} } = settingNamed(key)?.kind ?? {};
  return (control === 'select' && Object.hasOwn(words, value) ? words[value] : undefined) ?? value;
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
