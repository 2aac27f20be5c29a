// Which words belong to a language, by the catalogues that pages are written from.
import { readFileSync } from 'node:fs';
import { bare, keyOf } from '../../src/views/translate/words.ts';

export type Language = 'de' | 'es' | 'fr' | 'pt' | 'ja' | 'ar';

export interface Vocabulary {
  isForeign(word: string): boolean;
  /** Whether a whole text is one of ours that has a translation, and stands there in English. */
  isLeftInEnglish(text: string): boolean;
}

/** Names of products, protocols, formats and units that no language translates, as they are written. */
export const NAMES: readonly string[] = readFileSync(new URL('names.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .flatMap((line) => line.split(',').map((name) => name.trim()))
  .filter(Boolean);

/** Words that a language has from English, and that its catalogue therefore leaves as they are. */
const LOANS: Readonly<Partial<Record<Language, readonly string[]>>> = {
  de: ['Desktop', 'Discovery', 'Old', 'Style', 'Zoom'],
  es: ['Zoom'],
  fr: ['Administration', 'Grotesque', 'Interaction', 'Protection', 'Signatures', 'Zoom'],
  pt: ['Zoom'],
  ja: ['Web'],
};

const STRINGS = new URL('../../templates/strings/', import.meta.url);
type Entry = readonly [english: string, own: string];

const formsOf = (translation: unknown): string[] =>
  typeof translation === 'object' && translation !== null
    ? Object.values(translation).map(String)
    : [String(translation)];

function read(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(name, STRINGS), 'utf8'));
}

/** Of sign-in and account by their keys, of the Admin UI by their English. */
function entriesOf(language: Language): Entry[] {
  const english = read('en.json');
  return [
    ...Object.entries(read(`${language}.json`)).map(([key, own]) => [String(english[key]), own] as const),
    ...Object.entries(read(`admin/${language}.json`)),
  ].flatMap(([key, own]) => formsOf(own).map((form) => [key, form] as const));
}

const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/\{\w+\}|<\/?\d+>/g, ' ')
    .match(/\p{Script=Latin}[\p{Script=Latin}’'-]+/gu)
    ?.map((word) => word.toLowerCase()) ?? [];

/** Months, and how long ago. */
function timesOf(language: Language): string[] {
  const dates = (['medium', 'long'] as const).flatMap((dateStyle) => {
    const format = new Intl.DateTimeFormat(language, { dateStyle, timeZone: 'UTC' });
    return Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2026, month, 1)));
  });
  const spans = (['short', 'long'] as const).flatMap((style) => {
    const format = new Intl.RelativeTimeFormat(language, { style });
    const units = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;
    return units.flatMap((unit) => [format.format(-1, unit), format.format(-2, unit)]);
  });
  return [...dates, ...spans].flatMap(wordsOf);
}

const known = new Map<Language, Vocabulary>();

export function vocabularyOf(language: Language): Vocabulary {
  const before = known.get(language);
  if (before !== undefined) return before;
  const entries = entriesOf(language);
  // What a catalogue leaves as it is says nothing about its language.
  const translated = entries.filter(([key, form]) => wordsOf(form).join(' ') !== wordsOf(key).join(' '));
  const own = new Set([...translated.flatMap(([, form]) => wordsOf(form)), ...timesOf(language)]);
  const english = new Set(entries.flatMap(([key]) => wordsOf(key)));
  const texts = new Set(translated.map(([, form]) => keyOf(form)));
  const translations = new Set(translated.map(([key]) => keyOf(key)));
  const isLatin = language !== 'ar' && language !== 'ja';
  const made: Vocabulary = {
    isForeign(word) {
      if (LOANS[language]?.includes(word)) return false;
      return !isLatin || (english.has(word.toLowerCase()) && !own.has(word.toLowerCase()));
    },
    isLeftInEnglish(text) {
      const [, inner] = bare(text);
      // A word can be the same in two languages, and mean something else there: “Name”, “Information”.
      return translations.has(keyOf(inner)) && /\p{Ll}{2}/u.test(inner) && !texts.has(keyOf(inner));
    },
  };
  known.set(language, made);
  return made;
}
