// Documentation: relative links and anchors lead somewhere, README stays short, and every page can be reached from it.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { test } from 'node:test';
import { anchorsOf, linksOf, markdownFiles, read, root } from './markdown.ts';

const isRelative = (target: string): boolean => !/^[a-z][a-z+.-]*:/i.test(target);

/** @returns what is wrong with the link, undefined when it leads somewhere */
function problemOf(from: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? from : posix.normalize(posix.join(dirname(from), path));
  if (file.startsWith('..') || file.startsWith('/')) return `${from}: ${target} leaves the repository`;
  if (!existsSync(join(root, file))) return `${from}: there is no ${file}`;
  if (anchor === undefined) return undefined;
  if (!file.endsWith('.md') || statSync(join(root, file)).isDirectory())
    return `${from}: ${target} is no page`;
  return anchorsOf(read(file)).has(anchor) ? undefined : `${from}: ${file} has no heading #${anchor}`;
}

test('links: every relative link and anchor of every page leads somewhere', () => {
  const problems = markdownFiles.flatMap((from) =>
    linksOf(read(from))
      .filter(({ target }) => isRelative(target))
      .map(({ target }) => problemOf(from, target))
      .filter((problem) => problem !== undefined),
  );
  assert.deepEqual(problems, []);
});

test('links: every page under docs/ can be reached from README.md', () => {
  const reached = new Set(['README.md']);
  for (const from of reached) {
    for (const { target } of linksOf(read(from))) {
      const [path = ''] = target.split('#');
      if (!isRelative(target) || !path.endsWith('.md')) continue;
      const file = posix.normalize(posix.join(dirname(from), path));
      if (existsSync(join(root, file))) reached.add(file);
    }
  }
  assert.deepEqual(
    markdownFiles.filter((path) => !path.startsWith('test/') && !reached.has(path)),
    [],
  );
});

test('README: under 150 lines, with the two commands as they are', () => {
  const lines = read('README.md').split('\n');
  assert.ok(lines.length < 150, `${lines.length} lines`);
  assert.ok(lines.some((line) => /^npm start\b/.test(line)));
  assert.ok(lines.some((line) => /^npm test\b/.test(line)));
});

test('docs: a path in inline code exists where it names a file of the repository', () => {
  const missing = markdownFiles
    .filter((path) => path.startsWith('docs/') || path === 'CONTRIBUTING.md')
    .flatMap((path) =>
      [...read(path).matchAll(/`((?:src|adapters|interactions|templates|scripts|test)\/[\w./-]+)`/g)]
        .map(([, name = '']) => name.replace(/\/$/, ''))
        .filter((name) => !existsSync(join(root, name)))
        .map((name) => `${path}: ${name}`),
    );
  assert.deepEqual(missing, []);
});

test('links: the checks detect broken ones', () => {
  assert.match(problemOf('docs/README.md', 'no-such-page.md') ?? '', /there is no docs\/no-such-page\.md/);
  assert.match(problemOf('README.md', 'docs/api.md#no-such-heading') ?? '', /no heading/);
  assert.match(problemOf('README.md', '../outside.md') ?? '', /leaves the repository/);
  assert.equal(problemOf('README.md', 'docs/api.md#admin-api'), undefined);
  assert.deepEqual(
    [...anchorsOf('# What it does\n## `SECRET_KEY`, twice\n## A\n## A\n')],
    ['what-it-does', 'secret_key-twice', 'a', 'a-1'],
  );
  assert.deepEqual(linksOf('[a `b`](c.md#d)\n```sh\n[x](y)\n```\n'), [{ text: 'a `b`', target: 'c.md#d' }]);
});
