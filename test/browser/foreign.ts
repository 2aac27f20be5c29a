// What a page says that is not in its language, word by word: in its text, its tips, its fields and for screen readers.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { bare, keyOf } from '../../src/views/translate/words.ts';

export type Language = 'de' | 'es' | 'fr' | 'pt' | 'ja' | 'ar';

interface Shown {
  readonly text: string;
  /** The names of people and things, codes, guides by their makers’ names, and what says that it is English. */
  readonly isData: boolean;
  readonly where: string;
}

const EVERYTHING = `(() => {
  const found = [];
  const whereOf = (one) => one.tagName.toLowerCase() + (one.className && typeof one.className === 'string' ? '.' + one.className.split(' ')[0] : '');
  const DATA = 'bdi, code, kbd, samp, pre, ins, del, textarea, [translate=no], .brand, .tile, .chosen-kind, [lang]:not(html)';
  const isEnglish = document.querySelector('main [lang=en], main[lang=en]') !== null;
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest('script, style, noscript')) continue;
    found.push({ text: node.textContent, isData: parent.closest(DATA) !== null || (isEnglish && parent.localName === 'title'), where: whereOf(parent) });
  }
  for (const one of document.body.querySelectorAll('*'))
    for (const { name, value } of one.attributes) {
      if (!/^(?:title|aria-label|aria-description|placeholder|alt|data-label)$/.test(name) || !value.trim()) continue;
      const isData = name === 'placeholder' || one.matches('[translate=no], [lang]') || one.closest('[lang]:not(html)') !== null;
      found.push({ text: value, isData, where: whereOf(one) + '[' + name + ']' });
    }
  return found;
})()`;

/** Names of products, protocols, formats and units that no language translates. */
const NAMES = new Set(
  readFileSync(new URL('names.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(' ').filter(Boolean))
    .map((name) => name.toLowerCase()),
);

/** Words of English sentences that German, Spanish, French and Portuguese do not have. */
const ENGLISH =
  /(?<![\p{L}-])(?:the|and|with|your|you|this|that|these|from|have|been|will|which|when|what|they|their|there|who|how|every|only|must|should|each)(?![\p{L}-])/iu;
/** What stands for itself: addresses, names of fields, values with digits, file names. */
const CODES = /\p{L}[\w+.-]*:\/\/\S+|\S*[@/_=\\]\S*|[\w-]+(?:\.[\w-]+)+|\S*\d\S*|<[^>]*>|⌘\w/gu;

const read = (name: string): [string, unknown][] => {
  const file = new URL(`../../templates/strings/${name}.json`, import.meta.url);
  return Object.entries(JSON.parse(readFileSync(file, 'utf8')));
};

/** Of sign-in, account and mails: what they say in English, and in the language. */
function pageTexts(language: Language): [string, unknown][] {
  const own = new Map(read(language));
  return read('en').map(([key, english]) => [keyOf(bare(String(english))[1]), own.get(key)]);
}

const catalogues = new Map<Language, ReadonlyMap<string, unknown>>();
function catalogueOf(language: Language): ReadonlyMap<string, unknown> {
  const known = catalogues.get(language);
  if (known !== undefined) return known;
  const texts = new Map([...pageTexts(language), ...read(`admin/${language}`)]);
  catalogues.set(language, texts);
  return texts;
}

const formsOf = (translation: unknown): readonly unknown[] =>
  typeof translation === 'object' && translation !== null ? Object.values(translation) : [translation];

/** @returns the words that are English, or '' */
function englishIn({ text, isData }: Shown, language: Language, data: ReadonlySet<string>): string {
  const [, inner] = bare(text);
  const translation = catalogueOf(language).get(keyOf(inner));
  if (data.has(inner.toLowerCase())) return '';
  if (translation !== undefined && translation !== inner && /\p{Ll}/u.test(inner) && !isData) {
    // A word can be the same in two languages, and means something else there: “Name”, “Information”.
    const isOwn = [...catalogueOf(language).values()].some((own) => formsOf(own).includes(inner));
    if (!isOwn) return inner;
  }
  if (isData) return '';
  if (language !== 'ar' && language !== 'ja') return ENGLISH.test(inner.replaceAll(CODES, ' ')) ? inner : '';
  const words = (inner.replaceAll(CODES, ' ').match(/\p{Script=Latin}[\p{Script=Latin}’'-]+/gu) ?? []).filter(
    (word) => !NAMES.has(word.toLowerCase()) && !data.has(word.toLowerCase()),
  );
  return words.join(' ');
}

/** @param data names that the test has given to people and things */
export async function foreignWords(
  page: Page,
  language: Language,
  data: readonly string[] = [],
): Promise<string[]> {
  const shown = await page.evaluate<Shown[]>(EVERYTHING);
  const given = new Set(
    data.flatMap((name) => [name, ...name.split(/[\s.@-]+/)]).map((name) => name.toLowerCase()),
  );
  const wrong = shown.flatMap((one) => {
    const english = englishIn(one, language, given);
    return english === '' ? [] : [`${one.where}: ${english}`.slice(0, 200)];
  });
  return [...new Set(wrong)];
}
