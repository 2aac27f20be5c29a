// Checks that routes.ts lists every address of the routers, so that attacks on every address miss none.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { allRoutes } from './routes.ts';

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('route table: lists every page and endpoint of the routers with each method', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const known = new Set((await allRoutes(app)).map(({ method, path }) => `${method} ${path}`));

  const pages = await read('interactions/routes.ts');
  const named = [...pages.matchAll(/router\.(get|post)\('([^']+)'/g)].map(
    ([, method = '', path]) => `${method.toUpperCase()} ${path}`,
  );
  const own = await read('src/self-service/routes.ts');
  named.push(...[...own.matchAll(/\['((?:GET|POST) \/account[^']*)'/g)].map(([, route = '']) => route));
  const methods = await read('src/oidc/methods.ts');
  for (const [, path, allowed = ''] of methods.matchAll(/^ {2}'(\/[^']*)': '([A-Z, ]+)'/gm)) {
    for (const method of allowed.split(', '))
      if (method !== 'OPTIONS') named.push(`${method} /oauth2${path}`);
  }
  assert.ok(named.length > 45, `${named.length} only: the patterns above fit no more`);
  assert.deepEqual(
    named.filter((route) => !known.has(route)),
    [],
  );
});
