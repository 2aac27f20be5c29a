// The pictures of the documents: each that is shown exists, is shown with words for those who do not see it, and is small; none
// lies about unused. `npm run pictures` takes them anew.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { PNG } from 'pngjs';
import { markdownFiles, root as ROOT } from './markdown.ts';

const MAX_BYTES = 150_000;
const FOLDER = 'docs/pictures';

const shown = markdownFiles.flatMap((file) =>
  [...readFileSync(resolve(ROOT, file), 'utf8').matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(
    ([, words = '', target = '']) => ({
      file,
      words,
      target,
      path: relative(ROOT, resolve(ROOT, dirname(file), target)),
    }),
  ),
);

test('pictures: README shows sign-in and administration, from the script that takes them', () => {
  const script = readFileSync(resolve(ROOT, 'scripts/pictures.ts'), 'utf8');
  for (const name of ['sign-in', 'administration']) {
    assert.ok(
      shown.some(({ file, path }) => file.endsWith('README.md') && path === `${FOLDER}/${name}.png`),
      name,
    );
    assert.ok(script.includes(`'${name}'`), name);
  }
});

test('pictures: each shown one is here, described and small; none is unused', () => {
  for (const { words, target, path } of shown) {
    assert.doesNotMatch(target, /^\w+:/, 'pictures come with the project');
    assert.ok(words.length >= 20, `${target} has no description`);
    const bytes = readFileSync(resolve(ROOT, path));
    assert.ok(bytes.length < MAX_BYTES, `${path}: ${bytes.length} bytes`);
    const { width, height, data } = PNG.sync.read(bytes);
    assert.ok(width >= 600 && height >= 300, path);
    // Not an empty page: some thousand points differ from the first one.
    let others = 0;
    for (let at = 4; at < data.length; at += 4)
      if (data.readUInt32BE(at) !== data.readUInt32BE(0)) others += 1;
    assert.ok(others > 5_000, `${path} shows nothing`);
  }
  const used = new Set(shown.map(({ path }) => path));
  for (const name of readdirSync(resolve(ROOT, FOLDER))) assert.ok(used.has(`${FOLDER}/${name}`), name);
});
