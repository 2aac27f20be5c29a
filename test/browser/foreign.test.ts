// The detector of English itself: what it finds, wherever it stands, and what it leaves.
import { deepEqual } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { foreignWords } from './foreign.ts';

let browser: Browser;
let page: Page;
before(async () => {
  browser = await launch();
  page = await browser.newPage();
});
after(() => browser.close());

const found = async (html: string, language: 'de' | 'ar' | 'fr', data: string[] = []): Promise<string[]> => {
  await page.setContent(`<html lang="${language}"><title>Latchkey</title><main>${html}</main></html>`);
  return foreignWords(page, language, data);
};

test('detector of English: in texts, names, tips, labels, placeholders and what is not seen', async () => {
  for (const [html, where] of [
    ['<p>Audit log</p>', 'p: Audit log'],
    ['<p>Wählen Sie each of them</p>', 'p: each of them'],
    ['<bdi>Audit log</bdi>', 'bdi: Audit log'],
    ['<del>removed</del>', 'del: removed'],
    ['<a class="tile x"><b>Single-page app</b></a>', 'b: Single-page app'],
    ['<button title="Keyboard shortcuts"></button>', 'button[title]: Keyboard shortcuts'],
    ['<input placeholder="Search">', 'input[placeholder]: Search'],
    ['<nav aria-label="Breadcrumb"></nav>', 'nav[aria-label]: Breadcrumb'],
    ['<p hidden>You should not see it</p>', 'p: you should not see it'],
    ['<select><option value="login">login: asks which account</option></select>', 'option: asks which'],
  ] as const)
    deepEqual(
      (await found(html, 'de')).map((one) => one.toLowerCase()),
      [where.toLowerCase()],
      html,
    );
  deepEqual(await found('<p>نص profile هنا at</p>', 'ar'), ['p: profile at']);
});

test('detector of English: leaves the language’s own words, names, values and what is marked', async () => {
  for (const html of [
    '<p>Name des Benutzers, so die Information in der Region</p>',
    '<p>Grace Hopper, Keycloak und Spring Boot</p>',
    '<p>Der Scope „roles“ und redirect_uri</p>',
    '<p><code>at the end</code> <span translate="no">You</span> <span lang="en">your words</span></p>',
    '<textarea translate="no" placeholder="full name">what they wrote</textarea>',
    '<select><option value="create">create</option></select>',
  ])
    deepEqual(await found(html, 'de', ['Grace', 'Hopper']), [], html);
  deepEqual(await found('<p>يدعم React وVue وDPoP مع «\u2068groups\u2069» في /realms/</p>', 'ar'), []);
});
