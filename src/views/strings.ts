// The languages of the pages: one string file per language, choosing the language of a request, and filling `{name}`
// placeholders. Escaping is left to the templates.
import { readFileSync } from 'node:fs';

/** The first is the fallback. */
export const languages = ['en', 'de', 'es', 'fr', 'pt', 'ja', 'ar'] as const;
export type Language = (typeof languages)[number];

/** Each in its own words, so that who reads no other finds it. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
};

export interface Strings {
  /** @returns the string, or undefined where no such key exists */
  find(language: Language, key: string): string | undefined;
  /** @returns what an error says of a field in English (`problem.…`), in this language; undefined where it is none of them */
  problem(language: Language, text: string): string | undefined;
}

/** Limit for lists of BCP 47 tags from outside. */
const MAX_LIST = 200;
const mostTags = 10;

export const isLanguage = (tag: string): tag is Language => languages.some((language) => language === tag);

/** `pt-BR` -> `pt`: strings exist per language, not per region. */
export const matchLanguage = (tag: string | undefined): Language | undefined => {
  const [primary = ''] = (tag ?? '').trim().toLowerCase().split(/[-_]/, 1);
  return isLanguage(primary) ? primary : undefined;
};

const weighted = (range: string): { tag: string; weight: number } => {
  const [tag = '', ...parameters] = range.split(';');
  const quality = parameters
    .map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(parameter)?.[1])
    .find(Boolean);
  return { tag, weight: quality === undefined ? 1 : Number(quality) };
};

/**
 * @param uiLocales the request parameter: tags separated by spaces, best first (OpenID Connect Core §3.1.2.1)
 * @param acceptLanguage the request header (RFC 9110 §12.5.4)
 * @returns the language of the page; English when nothing matches
 */
export const chooseLanguage = (
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): Language => {
  const asked = (uiLocales ?? '').slice(0, MAX_LIST).split(/\s+/).slice(0, mostTags);
  const accepted = (acceptLanguage ?? '')
    .slice(0, MAX_LIST)
    .split(',')
    .slice(0, mostTags)
    .map(weighted)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag);
  return [...asked, ...accepted].map(matchLanguage).find((language) => language !== undefined) ?? 'en';
};

/** Of a request that became no interaction: a refusal, a sign-out (RP-Initiated Logout 1.0 §2). */
export const localesIn = (address: string): string | undefined =>
  URL.parse(address, 'http://here')?.searchParams.get('ui_locales') ?? undefined;

export const direction = (language: Language): 'ltr' | 'rtl' => (language === 'ar' ? 'rtl' : 'ltr');

/** @param put returns the text for a placeholder's name */
export const fill = (text: string, put: (name: string) => string): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => put(name));

const readFile = (file: URL): Catalogue => {
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const entries = Object.entries(parsed ?? {});
  return new Map(
    entries.map(([key, text]) => {
      if (typeof text !== 'string') throw new TypeError(`${file.pathname}: ${key} is not a string`);
      return [key, text];
    }),
  );
};

type Catalogue = ReadonlyMap<string, string>;

/** The sentences of errors, as one finds them again by what they say in English. Their placeholders are numbers. */
function readProblems(
  english: Catalogue,
): (text: string) => readonly [key: string, found: RegExpExecArray] | undefined {
  const sentences = [...english].flatMap(([key, text]): [string, RegExp][] => {
    if (!key.startsWith('problem.')) return [];
    const pattern = RegExp.escape(text).replace(/\\\{(\w+)\\\}/g, '(?<$1>\\d+)');
    return [[key, new RegExp(`^${pattern}$`)]];
  });
  return (text) => {
    for (const [key, pattern] of sentences) {
      const found = pattern.exec(text);
      if (found !== null) return [key, found];
    }
    return undefined;
  };
}

/** @param directory of the `<language>.json` files; each is read once, when it is first needed */
export const loadStrings = (directory: URL): Strings => {
  const all = new Map<Language, Catalogue>();
  const find = (language: Language, key: string): string | undefined => {
    const catalogue = all.get(language) ?? readFile(new URL(`${language}.json`, directory));
    all.set(language, catalogue);
    return catalogue.get(key);
  };
  const read = readProblems(readFile(new URL('en.json', directory)));
  const translate = (language: Language, text: string): string | undefined => {
    const [key = '', found] = read(text) ?? [];
    return found && fill(find(language, key) ?? text, (name) => found.groups?.[name] ?? '');
  };
  return {
    find,
    problem: (language, text) => {
      const whole = translate(language, text);
      if (whole !== undefined) return whole;
      // A password can have several.
      const each = text.split(/(?<=\.) (?=[A-Z])/).map((sentence) => translate(language, sentence));
      return each.includes(undefined) ? undefined : each.join(language === 'ja' ? '' : ' ');
    },
  };
};
