// Comforts of the Admin UI in Chromium: the first hour's overview, columns of lists by keyboard and on a phone, undo, and the
// question before the own session ends. The rules behind them: flows/admin-ui-comfort.test.ts.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { type AdminWorld, noticeOf, press, startAdminWorld } from './admin-world.ts';
import { shoot } from './shots.ts';
import { heading, loaded } from './steps.ts';

let world: AdminWorld;
let page: Page;
before(async () => {
  world = await startAdminWorld();
  ({ page } = world.admin);
});
afterEach(() => assert.deepEqual(world.admin.complaints, []));
after(() => world?.stop());

const isWell = async (name: string): Promise<void> => {
  assert.deepEqual(await (await createAxe(page)).violations(), [], name);
  await shoot(page, `comfort-${name}`);
};
const headings = (): Promise<string[]> => page.locator('thead th:visible').allTextContents();

test('overview of the first hour: no chart is empty, and the first steps can go and come back', async () => {
  await world.open('');
  assert.equal(await page.locator('svg.chart').count(), 0);
  assert.match((await page.locator('.to-come').textContent()) ?? '', /drawn here once users sign in/);
  await isWell('overview-first');
  await press(page, 'Dismiss the first steps');
  assert.equal(await heading(page), 'Overview');
  assert.match(await noticeOf(page), /^First steps dismissed/);
  await isWell('overview-dismissed');
  await press(page, 'Undo');
  assert.equal(await page.locator('.steps').count(), 1);
});

test('columns: chosen by keyboard, kept over a reload, and on a phone those that were chosen', async () => {
  const id = await world.createUser('grace', { email: 'grace@acme.example' });
  await world.open('/users');
  const all = await headings();
  await page.locator('.chooser summary').focus();
  await page.keyboard.press('Enter');
  await isWell('columns-open');
  // Past the first box, which stays.
  await page.keyboard.press('Tab');
  const first = await page.evaluate('document.activeElement.value');
  await page.keyboard.press('Space');
  await page.locator('.chooser').getByRole('button', { name: 'Apply' }).focus();
  await loaded(page, () => page.keyboard.press('Enter'));
  const fewer = await headings();
  assert.equal(fewer.length, all.length - 1, `${first}: ${fewer}`);
  await page.reload();
  assert.deepEqual(await headings(), fewer);
  const size = page.viewportSize() ?? { width: 1440, height: 900 };
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok((await page.locator('thead th:visible').count()) >= fewer.length - 1);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false);
  await isWell('columns-chosen');
  await page.locator('.chooser summary').click();
  await press(page, 'Reset');
  await page.setViewportSize(size);
  assert.deepEqual(await headings(), all);
  assert.ok(id);
});

test('undo: pressed by keyboard it takes the act back; untouched it leaves after ten seconds', async () => {
  const id = await world.createUser('mary');
  await world.open(`/users/${id}`);
  await press(page, 'Deactivate', 'link');
  await press(page, 'Deactivate');
  assert.match(await noticeOf(page), /^Deactivated\./);
  const undo = page.getByRole('button', { name: 'Undo' });
  assert.ok(await undo.isVisible());
  await isWell('undo');
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  const animation = await page.evaluate(
    `(({ animationDelay, animationName }) => animationName + ' ' + animationDelay)(getComputedStyle(document.querySelector('.undoable form')))`,
  );
  assert.equal(animation, 'take-away 10s');
  await undo.focus();
  await loaded(page, () => page.keyboard.press('Enter'));
  assert.match(await noticeOf(page), /^Reactivated\./);
});

test('own session: the page asks before it ends, and cancelling keeps it', async () => {
  await world.open('/sessions?is_active=true');
  assert.match((await page.locator('tbody').textContent()) ?? '', /your session here/);
  await isWell('sessions');
  await loaded(page, () => page.getByRole('button', { name: /^End session/ }).click());
  assert.equal(await heading(page), 'This is the session you are using');
  await isWell('own-session');
  await press(page, 'Cancel', 'link');
  assert.equal(await heading(page), 'Sessions');
  await loaded(page, () => page.getByRole('button', { name: /^End session/ }).click());
  await press(page, 'End my session');
  assert.equal(await heading(page), 'Sign in to Latchkey');
});
