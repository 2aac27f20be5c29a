// Sign-in pages and mails in other languages: no word of English, in their text, their tips, their fields or for screen readers,
// nor in the plain form of a mail. With LONG=1 every page in every state, and every mail, in every language.
import { deepEqual, equal } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { createMailViews } from '../../src/mail/views.ts';
import { mailNames } from '../../src/model/mails.ts';
import { foreignWords } from '../browser/foreign.ts';
import { sampleValues } from '../mail/samples.ts';
import { baseUrl } from '../mail/support.ts';
import { launch, open } from './browser.ts';
import { type PageServer, plainTheme, startPages } from './server.ts';

const isLong = process.env.LONG === '1';
const languages = isLong ? (['ar', 'ja', 'de', 'es', 'fr', 'pt'] as const) : (['ar'] as const);

/** Names of people, applications, devices and of what they may do. */
const GIVEN = [
  ...[
    'Ada Lovelace',
    'Ada',
    'ada',
    'grace',
    'Grace',
    'Acme Analytics',
    'Acme TV',
    'Acme Mail',
    'Notes agent',
  ],
  ...[
    'Backoffice',
    'Wiki',
    'Orders',
    'See your orders',
    'Change and cancel your orders',
    'Ann Lee',
    'ann',
    'Berlin',
  ],
  ...['Terminal', 'Phone', 'YubiKey 5 NFC', 'Apple Passwords', 'iCloud Keychain'],
  'Analytical Engine, Spreadsheets and Tables, Incorporated',
  'Acme Spreadsheets of the Analytical Engine, Incorporated',
];

/** Each kind of page, and those with most to say. */
const FEW = [
  ...['login-full', 'login-limited', 'login-confirm-act', 'login-people', 'consent', 'consent-agent'],
  ...[
    'mfa-email',
    'mfa-enrol-passkey',
    'signup-errors',
    'reset-password-errors',
    'error-redirect',
    'device-confirm',
  ],
];
const pages = isLong ? Object.keys(samples) : FEW;
const mails = isLong
  ? mailNames
  : (['sign_in_code', 'invitation', 'account_locked', 'deletion_requested'] as const);

let browser: Browser;
let server: PageServer;
before(async () => {
  [browser, server] = await Promise.all([launch(), startPages({ samples })]);
});
after(async () => {
  await browser.close();
  await server.close();
});

const render = createMailViews({ theme: () => plainTheme, baseUrl, placeOf: () => 'Berlin' });

for (const language of languages) {
  test(`sign-in pages in ${language}: no word of English`, async () => {
    // Without scripts: one page would send its form at once.
    const { page, close } = await open(browser, { javaScriptEnabled: false });
    const found: string[] = [];
    for (const name of pages) {
      await page.goto(`${server.origin}/show/${name}?lang=${language}`);
      equal(await page.evaluate('document.documentElement.lang'), language, name);
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
      found.push(...(await foreignWords(page, language, GIVEN)).map((words) => `${name}: ${words}`));
    }
    deepEqual(found, []);
    await close();
  });

  test(`mails in ${language}: no word of English, in plain text as well`, async () => {
    const { page, close } = await open(browser);
    const found: string[] = [];
    for (const name of mails) {
      const { subject, text, html } = render(name, sampleValues(name), language);
      await page.setContent(html);
      const inHtml = await foreignWords(page, language, GIVEN);
      await page.setContent(`<html lang="${language}"><title></title><main></main></html>`);
      const lines = JSON.stringify([subject, ...text.split('\n')]);
      await page.evaluate(
        `for (const line of ${lines}) document.querySelector('main').append(Object.assign(document.createElement('p'), { textContent: line }))`,
      );
      const inText = await foreignWords(page, language, GIVEN);
      found.push(...[...inHtml, ...inText].map((words) => `${name}: ${words}`));
    }
    deepEqual(found, []);
    await close();
  });
}

test('the detector finds English in a page of another language, and in a plain mail', async () => {
  const { page, close } = await open(browser);
  await page.setContent(
    '<main><p>Sign in</p><p>تسجيل الدخول</p><button title="Show password"></button></main>',
  );
  deepEqual(await foreignWords(page, 'ar', GIVEN), ['p: Sign in', 'button[title]: Show password']);
  await page.setContent('<main><p>Create your account</p><p>Konto erstellen</p></main>');
  deepEqual(await foreignWords(page, 'de', GIVEN), ['p: Create your account']);
  await close();
});
