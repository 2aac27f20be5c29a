// What a page says that is not in its language, word by word: in its text, its tips, its fields and for screen readers.
import type { Page } from 'playwright-core';
import { type Language, NAMES, vocabularyOf } from './vocabulary.ts';

interface Shown {
  readonly text: string;
  readonly where: string;
}

/**
 * Everything that is read or read out, but for what is marked: code, what a person typed, what stays as it is
 * (`translate="no"`) and what says that it is in another language.
 */
const EVERYTHING = `(() => {
  const found = [];
  const MARKED = 'code, kbd, samp, pre, textarea, [translate=no], [lang]:not(html)';
  const whereOf = (one) => one.tagName.toLowerCase() + (one.className && typeof one.className === 'string' ? '.' + one.className.split(' ')[0] : '');
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest('script, style, noscript')) continue;
    if (parent.closest(MARKED)) continue;
    // An address that may break is in pieces.
    const isBroken = parent.querySelector(':scope > wbr') !== null;
    if (isBroken && node !== parent.firstChild) continue;
    // A choice may say its value itself, and then what it means.
    const value = parent.localName === 'option' ? parent.value : '';
    const whole = isBroken ? parent.textContent : node.textContent;
    const text = value && whole.startsWith(value) ? whole.slice(value.length) : whole;
    found.push({ text, where: whereOf(parent) });
  }
  const READ_OUT = /^(?:title|aria-label|aria-description|aria-roledescription|aria-valuetext|placeholder|alt|data-label)$/;
  for (const one of document.body.querySelectorAll('*'))
    for (const { name, value } of one.attributes)
      if (READ_OUT.test(name) && value.trim() && !one.closest('[translate=no], [lang]:not(html)'))
        found.push({ text: value, where: whereOf(one) + '[' + name + ']' });
  return found;
})()`;

/** What stands for itself: browsers by their own account, values in quotes, addresses, names of members, file names, keys to press. */
const CODES =
  /Mozilla\/5\.0 .*|[“„«「][\u202f\u2068]?[a-z-]+[\u202f\u2069]?[”“»」]|\p{L}[\w+.-]*:(?:\/\/)?\S+|\S*[@/_=+\\]\S*|[\w-]+(?:\.[\w-]+)+|\S*\d\S*|<[^>]*>|⌘\w/gu;
const WORD = /\p{Script=Latin}[\p{Script=Latin}’'-]+/gu;

/** Without names, each as it is written; of two that begin alike the longer goes first. */
function without(text: string, names: readonly string[]): string {
  const literals = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const sorted = literals.sort((one, other) => other.length - one.length).join('|');
  const bounded = new RegExp(
    `(?<![\\p{Script=Latin}-]|\\p{L}\\.)(?:${sorted})(?![\\p{Script=Latin}-]|\\.\\p{L})`,
    'gu',
  );
  return names.length === 0 ? text : text.replaceAll(bounded, ' ');
}

/** @param data names that the test has given to people and things */
export async function foreignWords(
  page: Page,
  language: Language,
  data: readonly string[] = [],
): Promise<string[]> {
  const shown = await page.evaluate<Shown[]>(EVERYTHING);
  const { isForeign, isLeftInEnglish } = vocabularyOf(language);
  const wrong = shown.flatMap(({ text, where }) => {
    if (data.includes(text.trim())) return [];
    if (isLeftInEnglish(text)) return [`${where}: ${text.trim()}`];
    const words = (
      without(text, [...NAMES, ...data])
        .replaceAll(CODES, ' ')
        .match(WORD) ?? []
    ).filter(isForeign);
    return words.length === 0 ? [] : [`${where}: ${words.join(' ')}`];
  });
  return [...new Set(wrong.map((one) => one.slice(0, 200)))];
}
