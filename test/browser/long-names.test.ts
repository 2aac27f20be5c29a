// Names as long as they may be, in every script, on a phone: nothing is cut off, overlaps or leaves the page, and what reads in one
// direction keeps it on a page that reads in the other.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { languages } from '../../src/views/strings.ts';
import { type AdminWorld, PASSWORD, startAdminWorld } from './admin-world.ts';
import { choose } from './language-walk.ts';
import { shoot } from './shots.ts';
import { enter, loaded } from './steps.ts';
import { openWindow } from './window.ts';

const NAME = 'Wolfeschlegelsteinhausenbergerdorff-Kulturhauptstadtbewerbung';
const WORD = 'Kulturhauptstadtbewerbungsunterlagenverwaltungsanwendungsportal';
const ADDRESS = 'wolfeschlegelsteinhausenbergerdorff.kulturhauptstadt@subsidiary-of-acme.example.com';
const GROUP = 'kulturhauptstadtbewerbungsunterlagenverwaltung';
const PHONE = { width: 390, height: 844 };

let world: AdminWorld;
const users = { long: '', arabic: '' };
let application: string;
let api: string;

before(async () => {
  world = await startAdminWorld();
  const { admin } = world.server;
  users.long = await world.createUser(GROUP, { name: NAME, email: ADDRESS, is_email_verified: true });
  users.arabic = await world.createUser('fatima', { name: 'فاطمة الزهراء بنت عبد الرحمن القرطبي' });
  ({ id: application } = await world.createApplication({ client_name: WORD }));
  await admin('POST', '/groups', { name: GROUP, display_name: WORD, description: `${WORD} ${WORD}` });
  for (const user_id of Object.values(users)) await admin('POST', `/groups/${GROUP}/members`, { user_id });
  const made = await admin('POST', '/resources', {
    identifier: `https://${GROUP}.acme.example/v2`,
    name: WORD,
    scopes: [
      { name: 'orders.administration:write-everything', description: 'Change orders of all customers' },
    ],
    clients: [application],
  });
  api = String(made.id);
  await admin('POST', '/invitations', { email: `x${ADDRESS}` });
  const { page, close } = await openWindow(world.browser);
  await page.goto(`${world.server.origin}/account`);
  await loaded(page, () => enter(page, { username: GROUP, password: PASSWORD }));
  await close();
});
after(() => world.stop());

const paths = (): readonly string[] => [
  '',
  '/users',
  ...Object.values(users).map((id) => `/users/${id}`),
  `/users/${users.long}/delete`,
  '/applications',
  `/applications/${application}`,
  `/apis/${api}`,
  `/apis/${api}/try`,
  '/sessions',
  `/groups/${GROUP}`,
  '/invitations',
  '/audit',
  '/audit?by=a',
  '/search?q=kultur',
];

/** What leaves the page or its panel, buttons that lie on a heading, headings of ours that are broken within a word. */
const WRONG = `(() => {
  const wrong = [];
  const boxOf = (one) => one.getBoundingClientRect();
  const isShown = (one) => one.checkVisibility() && boxOf(one).width > 1;
  const called = (one) => one.localName + ' ' + one.textContent.trim().slice(0, 40);
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('scrolls sideways');
  for (const one of document.querySelectorAll('main :is(button, .button, h1, h2, h3)')) {
    if (!isShown(one) || one.closest('.chips')) continue;
    const around = boxOf(one.closest('.sheet, .panel, main'));
    const { left, right } = boxOf(one);
    if (left < around.left - 1 || right > around.right + 1) wrong.push('cut: ' + called(one));
  }
  for (const title of document.querySelectorAll('.title')) {
    const text = document.createRange();
    text.selectNodeContents(title.querySelector('h1, h2'));
    for (const button of title.querySelectorAll('.button'))
      for (const line of text.getClientRects()) {
        const box = boxOf(button);
        const isApart = line.right <= box.left + 1 || line.left >= box.right - 1 || line.bottom <= box.top + 1 || line.top >= box.bottom - 1;
        if (!isApart) wrong.push('lies on the title: ' + called(button));
      }
  }
  for (const heading of document.querySelectorAll('main h2')) {
    if (heading.querySelector('bdi') || !isShown(heading)) continue;
    const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const { index, 0: word } of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1 && !/[-\\u3040-\\u9fff]/.test(word)) wrong.push('broken: ' + word);
      }
  }
  const here = document.querySelector('.side [aria-current]');
  if (here) {
    const { left, right } = boxOf(here);
    if (left < 0 || right > innerWidth) wrong.push('where one is is out of sight: ' + called(here));
  }
  return wrong;
})()`;

async function wrongAt(page: Page, path: string): Promise<string[]> {
  equal((await page.goto(`${world.server.origin}${path}`))?.status(), 200, path);
  return (await page.evaluate<string[]>(WRONG)).map((one) => `${path} ${one}`);
}

/** @param script gives the element */
const styleOf = (page: Page, script: string, name: string): Promise<unknown> =>
  page.evaluate(`getComputedStyle(${script}).${name}`);

for (const language of ['de', 'ar'] as const)
  test(`long names on a phone: nothing is cut or lies on something else, in ${language}`, async () => {
    await choose(world, language);
    const { page } = world.admin;
    await page.setViewportSize(PHONE);
    const found: string[] = [];
    for (const path of paths()) {
      found.push(...(await wrongAt(page, `/admin${path}`)));
      await shoot(page, `long-names-${language}${path.replaceAll(/[^\w-]+/g, '-')}`);
      await page.setViewportSize(PHONE);
    }
    deepEqual(found, []);
    deepEqual(world.admin.complaints, []);
  });

test('long words on a phone: the offer of a second factor has whole buttons, in any language', async () => {
  const { page } = world.admin;
  await page.setViewportSize(PHONE);
  for (const language of languages) {
    await choose(world, language);
    await page.goto(`${world.server.origin}/admin/users`);
    const buttons = page.locator('.factor-offer .button');
    ok((await buttons.count()) >= 2, language);
    for (const one of await buttons.all()) {
      const { height } = (await one.boundingBox()) ?? { height: 0 };
      // One line, or two of a long sentence.
      ok(height > 0 && height <= 64, `${language}: ${await one.textContent()} is ${height} px high`);
    }
  }
});

test('long names on a phone: the account of such a person fits', async () => {
  const { page, close } = await openWindow(world.browser, { viewport: PHONE });
  await page.goto(`${world.server.origin}/account`);
  await loaded(page, () => enter(page, { username: GROUP, password: PASSWORD }));
  for (const path of ['', '/profile', '/email', '/passkeys', '/delete', '/second-factor', '/applications']) {
    await page.goto(`${world.server.origin}/account${path}`);
    equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width, path);
  }
  await close();
});

test('from right to left: addresses, times, codes and colours keep their own direction', async () => {
  await choose(world, 'ar');
  const { page } = world.admin;
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${world.server.origin}/admin/users/${users.long}`);
  const bdi = (selector: string, text: RegExp): string =>
    `[...document.querySelectorAll('${selector} bdi')].find((one) => ${text}.test(one.textContent))`;
  equal(await styleOf(page, bdi('.trail', /^[\d.:a-f]+$/), 'direction'), 'ltr');
  await page.goto(`${world.server.origin}/admin/audit`);
  await loaded(page, () => page.locator('.row').first().click());
  equal(await styleOf(page, bdi('.known', / UTC$/), 'direction'), 'ltr');
  // What was typed begins where its own script begins: `#` would else stand behind the digits.
  await page.goto(`${world.server.origin}/admin/branding`);
  await page.locator('#accent').fill('#1f6f5c');
  const accent = 'document.getElementById("accent")';
  equal(await styleOf(page, accent, 'unicodeBidi'), 'plaintext');
  equal(await styleOf(page, accent, 'textAlign'), 'right');
  const [verdict = ''] = await page.locator('#pairs-accent_dark small bdi').allTextContents();
  ok(/^#[\da-f]{6}$/.test(verdict), verdict);
});
