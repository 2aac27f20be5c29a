// Documentation: what a comment cites is in the repository or a public standard. docs/decisions/README.md says where.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { read, root } from './markdown.ts';

const index = read('docs/decisions/README.md');
const checklist = read('test/attacks/README.md');
const architecture = read('docs/architecture.md');

const sources = ['src', 'adapters', 'interactions', 'templates', 'scripts', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|js|njk|css|sh)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('test/docs/')),
);

interface Citation {
  readonly pattern: RegExp;
  /** @param cited the pattern's first group */
  readonly isKnown: (cited: string) => boolean;
}

const citations: readonly Citation[] = [
  // Documents that nobody has who reads this.
  {
    pattern: /\bdecisions?,?\s\(?§\d+|\bspecification(?:['’]s)?,?\s\(?§[\d.]*\d|\bchecklist,?\s[A-Z]\d+/gi,
    isKnown: () => false,
  },
  {
    pattern: /(?<=\bdecisions? (?:\d{4}(?:, | and ))*)(\d{4})\b/gi,
    isKnown: (id) => index.includes(`| [${id}](${id}-`),
  },
  { pattern: /\b(R\d{3})\b/g, isKnown: (line) => checklist.includes(`| ${line} |`) },
  { pattern: /\((C\d{1,2})\)/g, isKnown: (rule) => architecture.includes(`| ${rule} |`) },
  { pattern: /\b(docs\/[\w/-]+\.md)\b/g, isKnown: (path) => existsSync(join(root, path)) },
];

const unknownIn = (text: string): string[] =>
  citations.flatMap(({ pattern, isKnown }) =>
    [...text.matchAll(pattern)].filter(([, cited = '']) => !isKnown(cited)).map(([whole]) => whole),
  );

test('comments: every cited decision, checklist line and rule is in the repository', () => {
  const unknown = sources.flatMap((path) =>
    unknownIn(readFileSync(join(root, path), 'utf8')).map((what) => `${path}: ${what}`),
  );
  assert.deepEqual(unknown, []);
});

test('comments: the product cites no document that is not in the repository', () => {
  const elsewhere =
    /(?<!docs\/)\b(?:issue [A-H]\b|(?:checklist|glossary|anchors|performance|ux|interface-\w+)\.md\b)/;
  const found = sources
    .filter((path) => !path.startsWith('test/'))
    .filter((path) => elsewhere.test(readFileSync(join(root, path), 'utf8')));
  assert.deepEqual(found, []);
});

test('comments: the check detects citations that lead nowhere', () => {
  assert.deepEqual(unknownIn('decision 0012, decisions 0003, 0004 and 0026, R089 (C14)'), []);
  // Put together, so that no file holds them whole.
  const nowhere = [
    'decisions §8',
    'specification §2.6',
    'checklist R089',
    '0999',
    'R999',
    '(C99)',
    'docs/none.md',
  ];
  assert.deepEqual(unknownIn(nowhere.join(' ').replace('0999', 'decisions 0012 and 0999')), nowhere);
});
