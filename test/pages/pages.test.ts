// Every page in a real browser: no sideways scrolling, nothing that moves by itself, silent console, no accessibility violation,
// light, dark and right to left. SHOTS=1 or LONG=1 leaves screenshots in test-results/.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { areShotsWanted } from '../browser/shots.ts';
import { createAxe } from './axe.ts';
import { launch, open } from './browser.ts';
import { type PageServer, startPages } from './server.ts';
import { watchStillness } from './stillness.ts';

const results = fileURLToPath(new URL('../../test-results/', import.meta.url));
const isLong = process.env.LONG === '1';
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

/** Of a page that is shown in the dark look. */
async function inLight(page: Page, judge: () => Promise<string[]>): Promise<string[]> {
  // A colour on its way to another would be judged as it is then.
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const found = await judge();
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: null });
  return found;
}

/** The first width is that at which the page is opened. Where it fits 320 pixels, 390 are with LONG=1 alone. */
const looks = [
  { look: 'light', colorScheme: 'light', language: 'en', widths: [390, 320, 1440] },
  { look: 'dark', colorScheme: 'dark', language: 'de', widths: isLong ? [1440, 320, 390] : [1440, 320] },
  { look: 'rtl', colorScheme: 'light', language: 'ar', widths: isLong ? [390, 320, 1440] : [320] },
] as const;
const sizeOf = (width: number) => ({ width, height: width === 1440 ? 900 : 844 });

for (const { look, colorScheme, language, widths } of looks) {
  // German words are longer than English ones. Every other German page is judged in the light colours.
  if (look === 'light' && !isLong) continue;
  // The other direction has the colours and the names of the light look.
  const isJudged = look !== 'rtl' || isLong;

  test(`pages: fit each width, nothing moves, silent console${isJudged ? ', no axe violation' : ''} (${look})`, async () => {
    const { page, complaints, close } = await open(browser, { colorScheme });
    const axe = await createAxe(page);
    const stillness = await watchStillness(page);
    for (const [turn, name] of names.entries()) {
      for (const width of isLong ? [390, 1440] : widths.slice(0, 1)) {
        await page.setViewportSize(sizeOf(width));
        await page.goto(`${pages.origin}/show/${name}?lang=${language}`);
        assert.deepEqual(await stillness.moved(), [], `${name} moves at ${width}`);
      }
      for (const width of widths) {
        await page.setViewportSize(sizeOf(width));
        assert.ok((await overflow(page)) <= 0, `${name} scrolls sideways at ${width}`);
        if (width !== 320 && areShotsWanted)
          await page.screenshot({ path: `${results}${name}-${width}-${look}.png`, fullPage: true });
        if (width === 320) assert.deepEqual(await smallTargets(page), [], name);
      }
      assert.deepEqual(complaints, [], name);
      if (!isJudged) continue;
      const isInOther = look === 'dark' && turn % 2 === 1;
      if (isLong || !isInOther) assert.deepEqual(await axe.violations(), [], name);
      if (isInOther) assert.deepEqual(await inLight(page, () => axe.violations()), [], `${name} in light`);
    }
    await close();
  });
}

test('pages: text at 200 % fits a phone', async () => {
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

test('pages: reduced motion stops spinners, and forced colours keep borders', async () => {
  const { page, close } = await open(browser, { reducedMotion: 'reduce', forcedColors: 'active' });
  await page.goto(`${pages.origin}/show/login`);
  await page.evaluate('document.querySelector(".primary").setAttribute("aria-busy", "true")');
  const style = (part: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector(".primary")${part}`);
  assert.equal(await style(', "::after").display'), 'none');
  assert.equal(await style(').borderTopStyle'), 'solid');
  await close();
});
