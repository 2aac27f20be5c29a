// Documentation: docs/api.md names every path of the admin API and of the OAuth endpoints and pages, and no other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredRoutes } from '../support/api-document.ts';
import { read } from './markdown.ts';

/** `/users/{id}/{unlock,deactivate}` names two paths; `{id}` without a comma is a parameter. */
function expand(path: string): string[] {
  const [whole, choices = ''] = /\{([^{}]*,[^{}]*)\}/.exec(path) ?? [];
  if (whole === undefined) return [path];
  return choices.split(',').flatMap((choice) => expand(path.replace(whole, choice)));
}

const section = (title: string): string =>
  read('docs/api.md')
    .split(/^## /m)
    .find((part) => part.startsWith(`${title}\n`)) ?? '';

/** Of a table: the paths in one of its cells. */
function pathsIn(title: string, cell: number): string[] {
  return section(title)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...(line.split(' | ')[cell] ?? '').matchAll(/`(\/[^`]*)`/g)])
    .flatMap(([, path = '']) => expand(path));
}

test('docs/api.md: the table of the admin API has exactly the declared paths', () => {
  const declared = new Set(declaredRoutes().map(({ path }) => path));
  // It stands in the introduction.
  declared.delete('/openapi.json');
  const items = /\/\{\w+\}$/;
  const documented = new Set(pathsIn('Admin API', 1));
  assert.deepEqual(
    [...documented].filter((path) => !declared.has(path)),
    [],
  );
  // A list stands for its items.
  assert.deepEqual(
    [...declared].filter((path) => !documented.has(path) && !documented.has(path.replace(items, ''))),
    [],
  );
});

test('docs/api.md: every OAuth path that accepts methods is listed', () => {
  const table = read('src/oidc/methods.ts');
  const paths = [...table.matchAll(/^ {2}'(\/[^']+)': '/gm)].map(([, path = '']) => path);
  assert.ok(paths.length > 20);
  const documented = [...pathsIn('OAuth 2.0 and OpenID Connect', 0), ...pathsIn('Pages', 0)];
  const isThere = (path: string): boolean =>
    documented.includes(`/oauth2${path}`) ||
    documented.includes(path) ||
    documented.some((known) => path.startsWith('/.well-known/') && known.startsWith(path)) ||
    // What a step sends again belongs to its page.
    documented.includes(`/oauth2${path.replace(/\/(?:email|verify)$/, '')}`);
  assert.deepEqual(
    paths.filter((path) => !isThere(path)),
    [],
  );
});
