// Every language has every string, and how a page's language is chosen.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { errorCodes } from '../../src/model/errors/errors.ts';
import { chooseLanguage, fill, languages, loadStrings } from '../../src/views/strings.ts';

const root = new URL('../../templates/', import.meta.url);
const file = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const read = (language: string): Record<string, string> => JSON.parse(file(`strings/${language}.json`));
const english = read('en');
const templates = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.njk'),
);
const source = templates.map(file).join('\n');

const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

// Keys that templates build (`'scope.' ~ name`) or that callers hand over as an alert, an error or a label.
const open = [
  'activity.',
  'alert.',
  'detail.',
  'error.title_',
  'export.',
  'field.',
  'invalid.',
  'confirm.',
  'mail.fact_',
  'problem.',
  'reason.',
  'scope.',
];

test('strings: each language has every one, with the same placeholders, and no others', () => {
  for (const language of languages) {
    const strings = read(language);
    assert.deepEqual(Object.keys(strings).sort(), Object.keys(english).sort(), language);
    for (const [key, text] of Object.entries(strings)) {
      assert.notEqual(text.trim(), '', `${language} ${key}`);
      assert.deepEqual(placeholders(text), placeholders(english[key] ?? ''), `${language} ${key}`);
    }
  }
});

test('strings: each file belongs to a supported language', () => {
  const files = readdirSync(new URL('strings/', root))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.replace('.json', ''));
  assert.deepEqual(files.sort(), [...languages].sort());
});

test('strings: no translation is left in English', () => {
  // The same word in both languages, or a name.
  const shared = 8;
  for (const language of languages.filter((name) => name !== 'en')) {
    const same = Object.entries(read(language)).filter(
      ([key, text]) => text === english[key] && text.includes(' '),
    );
    assert.ok(same.length <= shared, `${language}: ${same.map(([key]) => key).join(', ')}`);
  }
});

test('strings: each one used by a template exists, and none is unused', () => {
  const asked = [...source.matchAll(/\b(?:t|rich|say)\(\s*'([\w.]+)'/g)].map(([, key = '']) => key);
  const named = [...source.matchAll(/'([a-z_]+\.[a-z_0-9.]+)'/g)].map(([, key = '']) => key);
  for (const key of asked)
    assert.ok(key in english || key.endsWith('.') || key.endsWith('_'), `no string ${key}`);
  const used = new Set([...asked, ...named]);
  const idle = Object.keys(english).filter(
    (key) => !used.has(key) && !open.some((prefix) => key.startsWith(prefix)),
  );
  assert.deepEqual(idle, []);
});

test('strings: keys in samples exist', () => {
  const handed = [...JSON.stringify(samples).matchAll(/"((?:alert|detail|invalid)\.\w+)"/g)].map(
    ([, key = '']) => key,
  );
  assert.ok(handed.length > 5);
  for (const key of handed) assert.ok(key in english, key);
});

test('strings: translated reasons are codes of errors', () => {
  const codes = new Set<string>(errorCodes);
  const reasons = Object.keys(english).filter((key) => key.startsWith('reason.'));
  assert.ok(reasons.length > 5);
  for (const reason of reasons) assert.ok(codes.has(reason.replace('reason.', '')), reason);
});

test('language: ui_locales, then Accept-Language by weight, then English', () => {
  const cases: [string | undefined, string | undefined, string][] = [
    [undefined, undefined, 'en'],
    ['fr-CA fr en', 'de', 'fr'],
    ['tlh xx', 'de;q=0.5, ja', 'ja'],
    [undefined, 'de-AT,de;q=0.9,en;q=0.8', 'de'],
    [undefined, 'en;q=0.2, pt_BR;q=0.7', 'pt'],
    [undefined, 'es;q=0, ar', 'ar'],
    [undefined, '*', 'en'],
    ['', '', 'en'],
    ['DE', undefined, 'de'],
  ];
  for (const [locales, header, expected] of cases) {
    assert.equal(chooseLanguage(locales, header), expected, `${locales} | ${header}`);
  }
});

test('attack: endless and hostile language lists are parsed only so far', () => {
  assert.equal(chooseLanguage(`${'xx '.repeat(5000)}de`, undefined), 'en');
  assert.equal(chooseLanguage(undefined, `${'xx,'.repeat(5000)}de`), 'en');
  assert.equal(chooseLanguage('../../etc/passwd __proto__ constructor', 'toString'), 'en');
  assert.equal(chooseLanguage(undefined, 'de;q=9'.repeat(20)), 'de');
});

test('placeholders: filled once, so values cannot add placeholders', () => {
  assert.equal(
    fill('{a} {b}', (name) => (name === 'a' ? '{b}' : 'B')),
    '{b} B',
  );
  assert.equal(loadStrings(new URL('strings/', root)).find('en', '__proto__'), undefined);
});
