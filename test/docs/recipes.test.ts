// Documentation: the code samples of the recipes are in the files that they name, line by line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownFiles, read } from './markdown.ts';

interface Sample {
  readonly source: string | undefined;
  readonly code: string;
}

const recipes = markdownFiles.filter(
  (path) => path.startsWith('docs/recipes/') && !path.endsWith('README.md'),
);

/** A fenced block, and the file that the paragraph before it names: `From [src/x.ts](../../src/x.ts):`. */
function samplesOf(markdown: string): Sample[] {
  return [...markdown.matchAll(/([^\n]*)\n\s*\n( *)```\w+\n([\s\S]*?)\n *```/g)].map(
    ([, before = '', , code = '']) => ({
      source: /From \[([^\]]+)\]\(\.\.\/\.\.\/\1\):/.exec(before)?.[1],
      code,
    }),
  );
}

const linesOf = (code: string): string[] => code.split('\n').map((line) => line.trim());

/** Whether the lines follow one another in the file; indentation does not count. */
function isExcerpt(code: string, file: string): boolean {
  const wanted = linesOf(code);
  const lines = linesOf(file);
  return lines.some((_, start) => wanted.every((line, index) => lines[start + index] === line));
}

test('recipes: one for each kind of change', () => {
  const names = recipes.map((path) => path.replace(/^.*\/|\.md$/g, ''));
  assert.deepEqual(names.sort(), [
    'application-setting',
    'audit-event',
    'claim',
    'collection',
    'job',
    'mail',
    'page',
    'resource',
    'route',
    'setting',
    'sign-in-step',
  ]);
});

for (const path of recipes) {
  test(`${path}: every code sample is in the file it names`, () => {
    const text = read(path);
    const samples = samplesOf(text);
    assert.ok(samples.length > 0, 'no sample');
    assert.equal(samples.length, text.split(/^ *```\w+$/m).length - 1, 'a sample without "From [file](…):"');
    for (const { source, code } of samples) {
      assert.ok(source, `a sample names no file:\n${code}`);
      assert.ok(isExcerpt(code, read(source)), `not in ${source}:\n${code}`);
    }
  });
}

test('recipes: the check detects a sample that is not in its file', () => {
  assert.equal(
    isExcerpt('  const b = 2;\nconst c = 3;', 'const a = 1;\n  const b = 2;\n  const c = 3;\n'),
    true,
  );
  assert.equal(isExcerpt('const a = 1;\nconst c = 3;', 'const a = 1;\nconst b = 2;\nconst c = 3;\n'), false);
  const [sample] = samplesOf('From [src/a.ts](../../src/a.ts):\n\n```ts\nx\n```\n');
  assert.deepEqual(sample, { source: 'src/a.ts', code: 'x' });
});
