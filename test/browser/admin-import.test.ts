// A table of users through the Admin UI in Chromium: chosen as a file, previewed, carried out beside a bar that outlives a
// reload and keeps itself up to date, stopped and gone on with; the same without scripts; its looks on the way.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { type AdminWorld, press, startAdminWorld } from './admin-world.ts';
import { shoot } from './shots.ts';
import { enter, loaded } from './steps.ts';
import { openWindow } from './window.ts';

let world: AdminWorld;

before(async () => {
  world = await startAdminWorld();
  await world.createUser('grace.hopper', { email: 'grace@acme.example', name: 'Grace' });
});
after(() => world.stop());

/** Enough for looks at a page while it runs. */
const ROWS = 8000;

const tableOf = (rows: number, prefix: string): string =>
  [
    'Login;E-mail address;Display name;Groups;Cost centre',
    'grace.hopper;grace@acme.example;Grace Hopper;;12',
    'wrong name;;;;',
    ...Array.from({ length: rows }, (_, at) => `${prefix}-${at};${prefix}${at}@acme.example;Person ${at};;`),
  ].join('\n');

async function choose(page: Page, table: string): Promise<void> {
  const buffer = Buffer.from(table);
  await page.locator('#file').setInputFiles({ name: 'users.csv', mimeType: 'text/csv', buffer });
  await page.getByText('Change users that exist').first().click();
  await press(page, 'Preview');
}

test('import of a table: previewed, carried out beside a bar, stopped, continued', async () => {
  const page = await world.open('/users/import/csv');
  const axe = await createAxe(page);
  const looks = async (name: string): Promise<void> => {
    await shoot(page, `admin-${name}`);
    await page.setViewportSize({ width: 320, height: 800 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, name);
    await page.setViewportSize({ width: 1440, height: 900 });
    assert.deepEqual(await axe.violations(), [], name);
  };
  await looks('import-table');
  await choose(page, tableOf(ROWS, 'many'));
  assert.match((await page.locator('form.panel').textContent()) ?? '', /May only contain letters/);
  await looks('import-preview');
  await press(page, 'Import 8,001 users');
  assert.equal(await page.locator('h2').first().textContent(), 'The import is running');
  // By itself, without a reload.
  await page.locator('.far strong', { hasNotText: /^0 %/ }).waitFor();
  await page.reload();
  await page.locator('.far strong', { hasNotText: /^0 %/ }).waitFor();
  // Before anything that takes time: one that is done has nothing to stop.
  await press(page, 'Stop');
  await page.getByRole('heading', { name: 'The import is stopped' }).waitFor();
  await looks('import-stopped');
  await press(page, 'Continue');
  await page.getByRole('heading', { name: 'The import is running' }).waitFor();
  await looks('import-running');
  await page.getByRole('heading', { name: 'The import is done' }).waitFor();
  const text = (await page.locator('#bar').textContent()) ?? '';
  assert.match(text.replaceAll(/\s+/g, ' '), /100 % 8,002 of 8,002 rows are done/);
  assert.match(
    text.replaceAll(/\s+/g, ' '),
    /Users created ?8,000 ?Users changed ?1 ?Nothing to change ?0 ?Refused rows ?1/,
  );
  await looks('import-done');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download refused rows' }).click(),
  ]);
  assert.match(file.suggestedFilename(), /^refused-users-.*\.csv$/);
  assert.deepEqual(world.admin.complaints, []);
});

test('import of a table without scripts: the page comes anew by itself until it is done', async () => {
  const { page, close } = await openWindow(world.browser, { javaScriptEnabled: false });
  await page.goto(`${world.server.origin}/admin/users/import/csv`);
  await enter(page, { username: 'ada', password: 'plum trees in June' });
  await page.waitForURL('**/admin/users/import/csv');
  await choose(page, tableOf(3, 'few'));
  await loaded(page, () => page.getByRole('button', { name: 'Import 3 users' }).click());
  await page.getByRole('heading', { name: 'The import is done' }).waitFor();
  await close();
});
