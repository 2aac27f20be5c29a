// An administrator loses no input in a browser: through a sign-in, a reload, or a broken connection.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type AdminWorld, noticeOf, press, startAdminWorld } from './admin-world.ts';
import { shoot } from './shots.ts';
import { ADMIN, enter, heading, loaded } from './steps.ts';

let world: AdminWorld;
before(async () => {
  world = await startAdminWorld();
});
after(() => world.stop());

const applications = async (): Promise<unknown> => (await world.server.admin('GET', '/clients')).total;

async function fill(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('Typed with care');
  await page.getByLabel('Redirect URIs', { exact: true }).fill('https://care.example/callback');
  await page.getByLabel('First-party application').check();
}

test('lost work: sign-in, offline or reload; the form returns, one application is created', async () => {
  const { page, context, complaints } = world.admin;
  const count = Number(await applications());
  await world.open('/applications/new/web');
  await fill(page);

  // Signed out in another tab; the form does not know.
  const tab = await context.newPage();
  await tab.goto(`${world.server.origin}/oauth2/logout`);
  await tab.close();
  await press(page, 'Add application');
  await loaded(page, () => enter(page, ADMIN));
  assert.match(await noticeOf(page), /what you had typed is back/);
  assert.equal(await page.getByLabel('Name').inputValue(), 'Typed with care');
  assert.equal(
    await page.getByLabel('Redirect URIs', { exact: true }).inputValue(),
    'https://care.example/callback',
  );
  assert.equal(await page.getByLabel('First-party application').isChecked(), true);
  assert.equal(await applications(), count);
  assert.equal(new URL(page.url()).search, '');
  await shoot(page, 'form-came-back');

  await context.setOffline(true);
  await page.getByRole('button', { name: 'Add application' }).click();
  await page.locator('#offline').waitFor({ state: 'visible' });
  assert.equal(await page.getByLabel('Name').inputValue(), 'Typed with care');
  await shoot(page, 'form-offline');
  await context.setOffline(false);

  await press(page, 'Add application');
  assert.match(await heading(page), /is ready/);
  const secret = await page.locator('#client-secret').textContent();
  assert.ok(secret);
  assert.ok(!page.url().includes(secret.trim()));
  await shoot(page, 'secret-once');
  await loaded(page, () => page.reload());
  assert.match(await noticeOf(page), /A secret is shown only once/);
  assert.ok(!(await page.content()).includes(secret.trim()));
  await shoot(page, 'secret-shown-before');
  await loaded(page, () => page.goBack());
  assert.ok(!(await page.content()).includes(secret.trim()));
  assert.equal(await applications(), count + 1);
  // The browser itself says of a probe without a network that there is none.
  assert.deepEqual(
    complaints.filter((one) => !one.includes('ERR_INTERNET_DISCONNECTED')),
    [],
  );
});
