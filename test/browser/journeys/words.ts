// What pages say in a language, by the catalogues that they are written from: a person looks for these words.

import { loadStrings } from '../../../src/views/strings.ts';
import { type AdminTexts, createAdminTexts, readAdminTexts } from '../../../src/views/translate/catalogue.ts';
import type { Condition } from './conditions.ts';

const STRINGS = new URL('../../../templates/strings/', import.meta.url);
const strings = loadStrings(STRINGS);

type Values = Readonly<Record<string, string | number>>;

export interface Words {
  /** Of sign-in and account, by its key. */
  t(key: string, values?: Values): string;
  /** Of the Admin UI, by its English. */
  say(english: string, values?: Values): string;
}

/** Values are marked, since pages may isolate them. */
const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (mark, name: string) =>
    Object.hasOwn(values, name) ? `\u2068${values[name]}\u2069` : mark,
  );

function adminTexts(language: Condition['language']): AdminTexts | undefined {
  if (language === 'en') return undefined;
  return createAdminTexts(readAdminTexts(new URL(`admin/${language}.json`, STRINGS)), language);
}

export function wordsOf(language: Condition['language']): Words {
  const texts = adminTexts(language);
  const plural = new Intl.PluralRules(language);
  return {
    t(key, values = {}) {
      const text = strings.find(language, key);
      if (text === undefined) throw new Error(`${language} has no ${key}`);
      return fill(text, values);
    },
    say(english, values = {}) {
      const found = texts?.find(english);
      if (texts !== undefined && found === undefined) throw new Error(`${language} has no “${english}”`);
      if (found === undefined || typeof found === 'string') return fill(found ?? english, values);
      return fill(found[plural.select(Number(values.a))] ?? found.other ?? '', values);
    },
  };
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Finds the text however its spaces and its values are set; `more` may follow it. */
export function patternOf(text: string, more = ''): RegExp {
  const source = literally(text.trim())
    .replaceAll(/[\u2068\u2069]/g, '[\u2066-\u2069]?')
    .replaceAll(/\s+/g, String.raw`\s+`);
  return new RegExp(String.raw`^\s*${source}${more}\s*$`);
}
