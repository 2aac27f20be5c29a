// Mails as pictures: every kind of mail in Chromium, light and dark, at the width of a phone and of a desktop program. With
// SHOTS=1 each in four languages is in test-results/mails/ to be looked at.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { createMailViews } from '../../src/mail/views.ts';
import { type MailTemplate, mailNames } from '../../src/model/mails.ts';
import { areShotsWanted } from '../browser/shots.ts';
import { sampleValues } from '../mail/samples.ts';
import { baseUrl } from '../mail/support.ts';
import { createAxe } from './axe.ts';
import { launch, open } from './browser.ts';
import { plainTheme } from './server.ts';

const folder = fileURLToPath(new URL('../../test-results/mails/', import.meta.url));

/** Each shape once: a code, a link, a notice with a way on, one without, and names in a sentence. */
const shapes: readonly MailTemplate[] = [
  'sign_in_code',
  'password_reset',
  'new_sign_in',
  'account_deleted',
  'invitation',
];
const shown = areShotsWanted ? mailNames : shapes;
const languages = areShotsWanted ? ['en', 'de', 'ar', 'ja'] : ['en', 'ar'];
/** A mail is shown inside a program's page, which has the landmarks. */
const OF_A_PAGE = /^(?:region|landmark-one-main):/;

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const render = createMailViews({ theme: () => plainTheme, baseUrl, placeOf: () => 'Berlin' });

for (const colorScheme of ['light', 'dark'] as const) {
  test(`mails in ${colorScheme}: no violation by axe, nothing sideways, nothing asked for`, async () => {
    const { page, complaints, close } = await open(browser, {
      colorScheme,
      viewport: { width: 640, height: 400 },
    });
    for (const name of shown) {
      for (const language of languages) {
        await page.setContent(render(name, sampleValues(name), language).html);
        const axe = await createAxe(page);
        const found = (await axe.violations()).filter((violation) => !OF_A_PAGE.test(violation));
        assert.deepEqual(found, [], `${name} ${language}`);
        for (const width of [640, 360, 320]) {
          await page.setViewportSize({ width, height: 400 });
          const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
          assert.equal(isWider, false, `${name} ${language} at ${width}`);
          if (!areShotsWanted || width === 320) continue;
          const path = `${folder}${name}-${language}-${width}-${colorScheme}.png`;
          await page.screenshot({ path, fullPage: true });
        }
        await page.setViewportSize({ width: 640, height: 400 });
      }
    }
    assert.deepEqual(complaints, []);
    await close();
  });
}
