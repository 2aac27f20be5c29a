// No page is a dead end: each template, in every sample state and language, has a link or button that continues without
// scripts.
import { deepEqual, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { waysOn } from '../support/way-on.ts';
import { type PageServer, startPages } from './server.ts';

let pages: PageServer;
before(async () => {
  pages = await startPages({ samples, basePath: '/auth' });
});
after(() => pages.close());

/** What is part of other pages. */
const SHARED = new Set(['layout.njk']);
/** Documents to keep, not pages. */
const DOCUMENTS = new Set(['account-export']);

test('samples: every page template has one', () => {
  const files = readdirSync(new URL('../../templates/', import.meta.url)).filter(
    (name) => name.endsWith('.njk') && !SHARED.has(name),
  );
  const shown = new Set(Object.values(samples).map(({ template }) => `${template}.njk`));
  deepEqual(
    files.filter((name) => !shown.has(name)),
    [],
  );
});

for (const language of ['en', 'de', 'es', 'fr', 'pt', 'ja', 'ar'])
  test(`dead ends: every page has a link or button that continues without scripts (${language})`, async () => {
    const dead: string[] = [];
    for (const name of Object.keys(samples).filter((sample) => !DOCUMENTS.has(sample))) {
      const html = await (await fetch(`${pages.origin}/show/${name}?lang=${language}`)).text();
      const ways = waysOn(html);
      ok(ways.every(({ label }) => label !== ''));
      if (ways.length === 0) dead.push(name);
    }
    deepEqual(dead, []);
  });
