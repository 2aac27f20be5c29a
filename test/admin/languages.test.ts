// The catalogues of the Admin UI (templates/strings/admin/): each that exists has every text, with the same placeholders, and no
// others. `node scripts/admin-texts.ts de` prints what one lacks.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { adminTexts } from '../../scripts/admin-texts/texts.ts';
import { languages } from '../../src/views/strings.ts';
import { readAdminTexts } from '../../src/views/translate/catalogue.ts';
import type { Translation } from '../../src/views/translate/words.ts';

const folder = new URL('../../templates/strings/admin/', import.meta.url);
const files = existsSync(folder) ? readdirSync(folder) : [];
let texts: ReadonlyMap<string, readonly string[]>;

before(() => {
  texts = adminTexts();
});

const placeholders = (text: string): string[] => (text.match(/\{\w+\}|<\/?\d+>/g) ?? []).sort();
const formsOf = (translation: Translation): string[] =>
  typeof translation === 'string' ? [translation] : Object.values(translation);

test('admin texts: they are found in templates, sources, scripts, settings and events', () => {
  ok(texts.size > 2000, String(texts.size));
  for (const text of [
    'Skip to content',
    'Remove from {a}',
    'Must be a whole number from {a} to {b}.',
    'User created.',
    '{a} signed in to {b}.',
    'Passkey added',
    'There are no groups yet. <1>Add one</1> first.',
  ])
    ok(texts.has(text), text);
});

test('admin texts: no macro has the name of a function that translates', () => {
  const pages = new URL('../../templates/admin/', import.meta.url);
  const taken = readdirSync(pages).filter((name) =>
    /\{% macro (?:said|numbered|formOf)\(/.test(readFileSync(new URL(name, pages), 'utf8')),
  );
  deepEqual(taken, []);
});

test('admin texts: files are of supported languages', () => {
  deepEqual(
    files.filter((name) => !languages.some((language) => language !== 'en' && name === `${language}.json`)),
    [],
  );
});

for (const name of files) {
  const language = name.replace('.json', '');
  test(`admin texts: ${language} is complete, and each text has its placeholders`, () => {
    const translations = readAdminTexts(new URL(name, folder));
    deepEqual(
      [...texts.keys()].filter((text) => !Object.hasOwn(translations, text)),
      [],
      'missing',
    );
    deepEqual(
      Object.keys(translations).filter((text) => !texts.has(text)),
      [],
      'not used any more',
    );
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const [text, translation] of Object.entries(translations)) {
      if (typeof translation === 'object') {
        ok('other' in translation, text);
        for (const category of Object.keys(translation))
          ok(
            categories.some((known) => known === category),
            `${text}: ${category}`,
          );
      }
      for (const form of formsOf(translation)) {
        ok(form.trim() !== '', text);
        // A form for exactly one or two may say the number as a word.
        const [own, wanted] = [placeholders(form), placeholders(text)];
        if (typeof translation === 'string') deepEqual(own, wanted, text);
        else
          ok(
            own.every((one) => wanted.includes(one)),
            text,
          );
      }
    }
    // What differs from the English is translated; names and codes may be the same.
    const same = Object.entries(translations).filter(
      ([text, to]) => text === to && text.split(' ').length > 3,
    );
    equal(same.length < 40, true, `left in English: ${same.map(([text]) => text).join(' | ')}`);
  });
}
