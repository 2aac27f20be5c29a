// One word for one thing on all pages, as docs/glossary.md says: it has the words, and patterns of those that are not used.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { labelOf } from '../../src/admin/resources/settings/words.ts';
import { settingKeys } from '../../src/model/settings/settings.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}${name}`);

const rules = [...read('docs/glossary.md').matchAll(/^\| ([^|`]+) \| `((?:[^`|\\]|\\.)+)` \| .+ \|$/gm)].map(
  ([, word = '', pattern = '']) => ({ word, pattern: new RegExp(pattern.replaceAll('\\|', '|')) }),
);

/** What can be read on a page: quoted in code and in templates, or between tags. */
function textsOf(path: string): string[] {
  const source = read(path)
    .replace(/\{#.*?#\}/gs, '')
    // Examples of code in guides have the names of their languages and servers.
    .replace(path.endsWith('.njk') ? /(`+)[^`]+\1/g : /^$/, '')
    // Texts of the REST API, whose acts are called as HTTP and OpenAPI do, and remarks.
    .replace(/^\s*(?:\/\/|\*|\/\*).*$|(?:summary|description):.*$/gm, '');
  return [...source.matchAll(/'((?:[^'\\\n]|\\.)*)'|"([^"\n]*)"|`([^`]*)`|>([^<>{}]+)</g)].map(
    (found) => found.slice(1).find((text) => text !== undefined) ?? '',
  );
}

const english: Record<string, string> = JSON.parse(read('templates/strings/en.json'));
/** Lines that others' languages and products have words of their own in. */
const GUIDES = 'templates/guides/';
const pages = [
  ...filesIn('templates/', '.njk').filter((path) => !path.startsWith(GUIDES)),
  ...filesIn('src/admin/', '.ts'),
];
const texts = [
  ...pages.flatMap((path) => textsOf(path).map((text) => ({ path, text }))),
  ...Object.entries(english).map(([key, text]) => ({ path: key, text })),
];

test('words on pages: each of the glossary is used, and no other for the same thing', () => {
  ok(rules.length >= 10, `${rules.length}`);
  const found = rules.flatMap(({ word, pattern }) =>
    texts
      .filter(({ text }) => pattern.test(text))
      .map(({ path, text }) => `${path}: “${text}”, not “${word}”`),
  );
  deepEqual(found, []);
  for (const { word } of rules)
    for (const one of word.split(', '))
      ok(
        texts.some(({ text }) => text.includes(one)),
        one,
      );
});

test('words on pages: settings have names of their own, in the words of the glossary', () => {
  const labels = settingKeys.map(labelOf);
  equal(new Set(labels).size, settingKeys.length);
  for (const [index, key] of settingKeys.entries()) notEqual(labels[index], key);
  const refused = labels.filter((label) => rules.some(({ pattern }) => pattern.test(label)));
  deepEqual(refused, []);
});

test('words on pages: the patterns find what they are for', () => {
  for (const [word, text] of [
    ['Add', 'Create an application'],
    ['Create', 'Generate API key'],
    ['Sign in', 'Log in'],
    ['Deactivate', 'Disable user'],
  ] as const)
    match(text, rules.find((rule) => rule.word.startsWith(word))?.pattern ?? /^$/);
});
