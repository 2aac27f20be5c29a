// What takes doors takes them whole (decision 0042): how many interfaces say again what a file takes, how many types are cut from
// others, and how often a bag of doors is spread into another. The numbers only go down; `node test/model/doors.test.ts --count` prints them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

const COUNTED: Readonly<Record<string, { readonly pattern: RegExp; readonly most: number }>> = {
  'interfaces of dependencies': { pattern: /\b(?:interface|type) \w*Deps\b/g, most: 136 },
  'Pick and Omit': { pattern: /\b(?:Pick|Omit)</g, most: 490 },
  'spread bags': {
    pattern: /\.\.\.(?:deps|doors|base|parts|common|shared|domains|ports|pages|signIn)\b(?!\.)/g,
    most: 86,
  },
};

const product = ['src', 'adapters', 'interactions'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
);

const countOf = (pattern: RegExp, texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + [...text.matchAll(pattern)].length, 0);

if (process.argv.includes('--count')) {
  for (const [what, { pattern }] of Object.entries(COUNTED)) console.log(countOf(pattern, product), what);
}

for (const [what, { pattern, most }] of Object.entries(COUNTED)) {
  test(`doors: no more ${what} than before`, () => {
    const count = countOf(pattern, product);
    assert.ok(count <= most, `${count} ${what}, not ${most}`);
  });
}

test('doors: an interface, a cut type and a spread bag are counted', () => {
  const planted = ["interface PageDeps { readonly a: Pick<A, 'b'> }\nconst x = { ...deps, ...deps.own };"];
  assert.deepEqual(
    Object.values(COUNTED).map(({ pattern }) => countOf(pattern, planted)),
    [1, 1, 1],
  );
});
