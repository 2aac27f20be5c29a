// Owns the proof that every page looks right in a real browser: no sideways scrolling, nothing on the console, no
// accessibility violation, light, dark and right to left. With SHOTS=1 or LONG=1 leaves
// screenshots in test-results/ to be looked at.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { areShotsWanted } from '../browser/shots.ts';
import { launch, open } from './browser.ts';
import { samples } from './samples.ts';
import { type PageServer, startPages } from './server.ts';

const results = fileURLToPath(new URL('../../test-results/', import.meta.url));
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const names = Object.keys(samples).filter((name) => name !== 'continue');

let browser: Browser;
let pages: PageServer;
before(async () => {
  mkdirSync(results, { recursive: true });
  [browser, pages] = await Promise.all([launch(), startPages({ samples })]);
});
after(async () => {
  await browser.close();
  await pages.close();
});

const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Things to press that are smaller than a fingertip, links within sentences apart. */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('button, a, summary, input:not([type=hidden]):not([hidden]), textarea')]
    .filter((one) => !one.closest('.alert, .choice, [hidden]') && one.checkVisibility())
    .filter((one) => one.getBoundingClientRect().height < 44)
    .map((one) => one.outerHTML.slice(0, 120))`);

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** @returns what axe finds wrong; also fails when axe has not judged the page at all */
const violations = async (page: Page): Promise<string[]> => {
  await page.evaluate(axeSource);
  const run = 'axe.run({ resultTypes: ["violations", "passes"] })';
  const found = await page.evaluate<{ violations: Finding[]; passes: Finding[] }>(run);
  assert.ok(found.passes.some(({ id }) => id === 'color-contrast'));
  const describe = ({ id, nodes }: Finding): string =>
    `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join(' | ')}`;
  return found.violations.map(describe);
};

const looks = [
  { look: 'light', colorScheme: 'light', language: 'en' },
  { look: 'dark', colorScheme: 'dark', language: 'de' },
  { look: 'rtl', colorScheme: 'light', language: 'ar' },
] as const;

for (const { look, colorScheme, language } of looks) {
  // German words are longer than English ones.
  const isLonger = look !== 'light' || process.env.LONG === '1';
  if (isLonger)
    test(`every page fits 320, 390 and 1440 pixels and keeps the console silent (${look})`, async () => {
      const { page, complaints, close } = await open(browser, { colorScheme });
      for (const name of names) {
        for (const width of [1440, 390, 320]) {
          await page.setViewportSize({ width, height: width === 1440 ? 900 : 844 });
          if (width === 1440) await page.goto(`${pages.origin}/show/${name}?lang=${language}`);
          assert.ok((await overflow(page)) <= 0, `${name} scrolls sideways at ${width}`);
          if (width !== 320 && areShotsWanted)
            await page.screenshot({ path: `${results}${name}-${width}-${look}.png`, fullPage: true });
        }
        assert.deepEqual(await smallTargets(page), [], name);
        assert.deepEqual(complaints, [], name);
      }
      await close();
    });

  // The other direction has the colours and the names of the light look.
  if (look === 'rtl' && process.env.LONG !== '1') continue;

  test(`axe finds nothing on any page (${look})`, async () => {
    const { page, close } = await open(browser, {
      colorScheme,
      bypassCSP: true,
      viewport: { width: 390, height: 844 },
    });
    for (const name of names) {
      await page.goto(`${pages.origin}/show/${name}?lang=${language}`);
      assert.deepEqual(await violations(page), [], name);
    }
    await close();
  });
}

test('text at 200 % still fits a phone', async () => {
  const { page, close } = await open(browser, { viewport: { width: 390, height: 844 }, bypassCSP: true });
  for (const name of [
    'login-known',
    'login-full',
    'mfa-email',
    'mfa-enrol',
    'recovery-codes',
    'consent',
    'onboard-errors',
    'error-redirect',
  ]) {
    await page.goto(`${pages.origin}/show/${name}?lang=de`);
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    assert.ok((await overflow(page)) <= 0, name);
  }
  await close();
});

test('no spinner turns for those who asked for less motion, and forced colours keep every border', async () => {
  const { page, close } = await open(browser, { reducedMotion: 'reduce', forcedColors: 'active' });
  await page.goto(`${pages.origin}/show/login`);
  await page.evaluate('document.querySelector(".primary").setAttribute("aria-busy", "true")');
  const style = (part: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector(".primary")${part}`);
  assert.equal(await style(', "::after").display'), 'none');
  assert.equal(await style(').borderTopStyle'), 'solid');
  await close();
});
