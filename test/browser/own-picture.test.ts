// The own picture in a real Chromium: the square that is shown chosen by dragging and by keyboard, a photo over the limit,
// and everything without scripts.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { launch } from '../pages/browser.ts';
import { colourAt, jpeg, photo } from '../support/pictures.ts';
import { type RunningServer, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { enter, heading, loaded } from './steps.ts';
import { withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';

let browser: Browser;
let server: RunningServer;
let folder: string;
let people = 0;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  folder = await mkdtemp(join(tmpdir(), 'latchkey-pictures-'));
  await writeFile(join(folder, 'halves.jpg'), await jpeg());
  await writeFile(join(folder, 'photo.jpg'), await photo());
  await writeFile(join(folder, 'notes.jpg'), 'no picture at all');
});
after(async () => {
  await rm(folder, { recursive: true });
  await browser.close();
  assert.equal(await server.stop(), 0);
});

/** Signed in, at the page of the picture. */
async function inWindow(
  act: (page: Page) => Promise<void>,
  options: BrowserContextOptions = {},
  fields: object = {},
) {
  people += 1;
  const username = `painter-${people}`;
  await server.admin('POST', '/users', { username, password: PASSWORD, given_name: 'Frida', ...fields });
  await withWindow(
    browser,
    async ({ page }) => {
      await page.goto(`${server.origin}/account/profile`);
      await loaded(page, () => enter(page, { username, password: PASSWORD }));
      await loaded(page, () => page.locator('.own-picture a').click());
      await act(page);
    },
    options,
  );
}

const choose = (page: Page, file: string): Promise<void> =>
  page.locator('#picture').setInputFiles(join(folder, file));
const save = (page: Page): Promise<void> =>
  loaded(page, () => page.locator('form[data-picture] button').click());

async function shown(page: Page): Promise<Buffer> {
  const path = await page.locator('.own-picture img').getAttribute('src');
  const answer = await fetch(`${server.origin}${path?.replace('96', '256')}`);
  return Buffer.from(await answer.arrayBuffer());
}

test('own picture: the square chosen by dragging it, previewed as it will be', async () => {
  await inWindow(async (page) => {
    await choose(page, 'halves.jpg');
    const stage = page.locator('.stage');
    await stage.waitFor();
    assert.deepEqual(await (await createAxe(page)).violations(), []);
    await page.locator('#zoom').fill('200');
    const box = (await stage.boundingBox()) ?? assert.fail('no stage');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - box.width * 2, y, { steps: 4 });
    await page.mouse.up();
    assert.equal(
      await page.locator('#across').inputValue(),
      '100',
      'the picture went left, to its right end',
    );
    await shoot(page, 'account-picture-crop');
    await save(page);
    assert.match((await page.locator('.note:not([hidden])').textContent()) ?? '', /Your picture is saved/);
    assert.equal(await colourAt(await shown(page), 5, 50), 'blue');
    await shoot(page, 'account-profile-picture');
    await page.goto(`${server.origin}/account`);
    await page.waitForFunction('document.querySelector(".self img")?.naturalWidth === 96');
    await shoot(page, 'account-home-picture');
  });
});

test('own picture: by keyboard alone, in the dark, right to left', async () => {
  await inWindow(
    async (page) => {
      await choose(page, 'halves.jpg');
      await page.locator('.stage').waitFor();
      await page.locator('#picture').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('PageUp');
      await page.keyboard.press('PageUp');
      assert.ok(Number(await page.locator('#zoom').inputValue()) > 110, 'the first slider has the focus');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Home');
      assert.equal(await page.locator('#across').inputValue(), '0');
      assert.deepEqual(await (await createAxe(page)).violations(), []);
      await shoot(page, 'account-picture-ar');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await loaded(page, () => page.keyboard.press('Enter'));
      assert.equal(await colourAt(await shown(page), 70, 50), 'red');
    },
    { colorScheme: 'dark', viewport: { width: 320, height: 700 } },
    { locale: 'ar' },
  );
});

test('own picture: a photo over 2 MB is made smaller before it is sent, and stands upright', async () => {
  await inWindow(async (page) => {
    await choose(page, 'photo.jpg');
    await page.locator('.stage').waitFor();
    await shoot(page, 'account-picture-photo');
    await save(page);
    assert.match((await page.locator('.note:not([hidden])').textContent()) ?? '', /Your picture is saved/);
    // Not what is no picture: the server says what is wrong with it, and what is there stays.
    await loaded(page, () => page.locator('.own-picture a').click());
    await choose(page, 'notes.jpg');
    assert.equal(await page.locator('#crop').isVisible(), false);
    await save(page);
    assert.match((await page.locator('#picture-error').textContent()) ?? '', /not a PNG, JPEG, WebP or GIF/);
    await page.waitForFunction('document.querySelector(".portrait img")?.naturalWidth === 256');
    await shoot(page, 'account-picture-refused');
    await loaded(page, () => page.getByRole('button', { name: 'Remove picture' }).click());
    assert.match((await page.locator('.note:not([hidden])').textContent()) ?? '', /Your picture is removed/);
  });
});

test('own picture: without scripts its middle is kept, and a file over 2 MB is said to be', async () => {
  await inWindow(
    async (page) => {
      await choose(page, 'photo.jpg');
      await save(page);
      assert.match((await page.locator('#picture-error').textContent()) ?? '', /at most 2 MB/);
      await choose(page, 'halves.jpg');
      await save(page);
      assert.equal(await heading(page), 'Edit profile');
      const picture = await shown(page);
      assert.deepEqual([await colourAt(picture, 10, 50), await colourAt(picture, 90, 50)], ['red', 'blue']);
    },
    { javaScriptEnabled: false, viewport: { width: 390, height: 844 } },
  );
});
