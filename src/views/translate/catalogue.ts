// The texts of the Admin UI in one language, by their English: what templates are compiled with, and what is looked up while
// a page is rendered. Whatever is not found stays English.
import { readFileSync } from 'node:fs';
import { Phrase } from '../../phrase.ts';
import { bare, type Forms, keyOf, type Translation } from './words.ts';

export interface AdminTexts {
  find(key: string): Translation | undefined;
  /** A text of this product in the language; everything else as it is. */
  said(value: unknown): unknown;
  /** The right form for a number of them. */
  numbered(count: unknown, one: string, many: string): string;
  formOf(count: unknown): string;
}

/** A text longer than this is none of ours with a value in it. */
const MAX_TEXT = 600;

interface Pattern {
  /** What stands around the values. */
  readonly parts: readonly string[];
  /** The name of each value in the text. */
  readonly names: readonly string[];
  readonly translation: Translation;
}

/** `{a}` is a value that stays as it is; `{A}` is a text of ours (`ours` in src/phrase.ts). */
const VALUE = /\{([a-z])\}/i;
const VALUES = /\{([a-z])\}/gi;
const isOurs = (name: string): boolean => /[A-Z]/.test(name);

function patternOf([key, translation]: readonly [string, Translation]): Pattern {
  const pieces = key.split(VALUE);
  return {
    parts: pieces.filter((_, place) => place % 2 === 0),
    names: pieces.filter((_, place) => place % 2 === 1),
    translation,
  };
}

/** @returns the values by their names; every part is sought from the left, so the time is linear */
export function valuesIn(
  { parts, names }: Pick<Pattern, 'parts' | 'names'>,
  text: string,
): Map<string, string> | undefined {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return undefined;
  const values: string[] = [];
  let from = first.length;
  const end = text.length - last.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return undefined;
    values.push(text.slice(from, at));
    from = at + part.length;
  }
  values.push(text.slice(from, end));
  return values.some((value) => value === '')
    ? undefined
    : new Map(names.map((name, place) => [name, values[place] ?? '']));
}

const numberIn = (text: unknown): number => Number(String(text).replaceAll(',', ''));

export function createAdminTexts(
  entries: Readonly<Record<string, Translation>>,
  language: string,
): AdminTexts {
  const texts = new Map(Object.entries(entries));
  const rules = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  // What says most besides its values is tried first.
  const patterns = [...texts]
    .filter(([key]) => VALUE.test(key))
    .map(patternOf)
    .sort((one, other) => other.parts.join('').length - one.parts.join('').length);

  const formOf = (count: unknown): Intl.LDMLPluralRule => rules.select(numberIn(count));
  const pick = (translation: Translation, count: unknown): string =>
    typeof translation === 'string' ? translation : pickForm(translation, count);
  const pickForm = (forms: Forms, count: unknown): string =>
    (Number.isNaN(numberIn(count)) ? undefined : forms[formOf(count)]) ?? forms.other ?? '';

  const exactly = (text: string): string | undefined => {
    const found = texts.get(keyOf(text));
    return found === undefined ? undefined : pick(found, undefined);
  };
  /** A number is written as the language does. */
  const inside = (name: string, value: string): string =>
    (isOurs(name) ? exactly(value) : undefined) ??
    (/^\d{1,3}(?:,\d{3})+$/.test(value) ? numbers.format(numberIn(value)) : value);

  /** Names and codes keep their own direction within a sentence that runs from right to left. */
  const isolated = (value: string): string => (language === 'ar' ? `\u2068${value}\u2069` : value);

  /** Nothing of it is sought: its values are known by their places. */
  function phrased(phrase: Phrase): string {
    const { key, values } = phrase;
    // A name alone has nothing around it to be isolated from.
    if (key === '{a}' && typeof values[0] === 'string') return values[0];
    const count = values.find((value) => typeof value === 'number');
    const [before, inner, after] = bare(key);
    const text = `${before}${pick(texts.get(keyOf(inner)) ?? inner, count)}${after}`;
    return text.replace(VALUES, (mark, name: string) => {
      const value = values[name.charCodeAt(0) - 97];
      if (value === undefined) return mark;
      if (value instanceof Phrase) return isolated(phrased(value));
      return isolated(typeof value === 'number' ? numbers.format(value) : value);
    });
  }

  function byPattern(text: string): string | undefined {
    for (const pattern of patterns) {
      const values = valuesIn(pattern, text);
      if (values === undefined) continue;
      const count = [...values.values()].find((value) => /^[\d,]+$/.test(value));
      return pick(pattern.translation, count).replace(VALUES, (mark, name: string) => {
        const value = values.get(name);
        return value === undefined ? mark : isolated(inside(name, value));
      });
    }
    return undefined;
  }

  /** Problems are predicates ("must be …"), which stand alone as sentences where only one thing can be meant. */
  function asSentence(text: string, find: (predicate: string) => string | undefined): string | undefined {
    if (!/^Must .*\.$/s.test(text)) return undefined;
    const found = find(`m${text.slice(1, -1)}`);
    return found === undefined ? undefined : `${found}${language === 'ja' ? '。' : '.'}`;
  }

  const byPatterns = (text: string): string | undefined =>
    text.length <= MAX_TEXT ? (byPattern(text) ?? asSentence(text, byPattern)) : undefined;

  function translated(text: string): string | undefined {
    if (!/\p{L}/u.test(text)) return undefined;
    const [before, inner, after] = bare(text);
    const found = exactly(inner) ?? asSentence(inner, exactly) ?? byPatterns(inner);
    return found === undefined ? undefined : `${before}${found}${after}`;
  }

  return {
    find: (key) => texts.get(key),
    said(value) {
      if (value instanceof Phrase) return phrased(value);
      return typeof value === 'string' ? (translated(value) ?? value) : value;
    },
    numbered(count, one, many) {
      const [before, inner, after] = bare(numberIn(count) === 1 ? one : many);
      const forms = texts.get(keyOf(many));
      const text = typeof forms === 'object' ? pickForm(forms, count) : (exactly(inner) ?? inner);
      return `${before}${text}${after}`;
    },
    formOf,
  };
}

const isForms = (value: object): value is Forms =>
  Object.values(value).every((form) => typeof form === 'string');

/** @returns no entries where the language has no file yet */
export function readAdminTexts(file: URL): Readonly<Record<string, Translation>> {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const entries = Object.entries(parsed ?? {}).map(([key, value]): [string, Translation] => {
    if (typeof value === 'string' || (typeof value === 'object' && value !== null && isForms(value)))
      return [key, value];
    throw new TypeError(`${file.pathname}: ${key} is neither a text nor plural forms`);
  });
  return Object.fromEntries(entries);
}
