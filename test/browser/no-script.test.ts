// Everything without JavaScript: from onboarding to sign-out, mistakes included. The server then says what page.js says
// otherwise.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { ADMIN, claim, connect, enter, heading, loaded, onboard, register } from './steps.ts';
import { openWindow } from './window.ts';

let browser: Browser;
let server: RunningServer;
let sample: Program;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  sample = await startSample(server.issuer);
});

after(async () => {
  await browser.close();
  await sample.stop();
  await server.stop();
});

test('without scripts: onboarding, application, sign-in after a mistake, consent, sign-out', async () => {
  const { page, complaints } = await openWindow(browser, { javaScriptEnabled: false });

  await page.goto(`${server.origin}/`);
  await page.getByLabel('Username').fill(ADMIN.username);
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await page.getByLabel('Confirm password').fill('something else');
  await loaded(page, () => page.getByRole('button', { name: 'Create administrator' }).click());
  assert.match((await page.getByRole('alert').textContent()) ?? '', /passwords don’t match/);
  assert.equal(await page.getByLabel('Username').inputValue(), ADMIN.username);
  await onboard(page, server);

  await page.getByRole('link', { name: 'Applications', exact: true }).click();
  await page.getByRole('link', { name: 'Add application' }).first().click();
  await page.getByRole('link', { name: 'Web app with a server' }).click();
  await page.getByLabel('Name').fill('Without redirect');
  await page.getByLabel('Redirect URIs', { exact: true }).fill('not an address\nhttps://a.example/callback');
  await loaded(page, () => page.getByRole('button', { name: 'Add application' }).click());
  assert.ok(await page.locator('#redirect_uris-error').isVisible());
  assert.equal(await page.locator('.verdicts .no').count(), 1);
  assert.equal(await page.locator('.verdicts .yes').count(), 1);
  assert.equal(await page.getByLabel('Name').inputValue(), 'Without redirect');
  const credentials = await register(page, { name: 'Sample', sample });
  await loaded(page, () => page.getByText('Sign out').click());
  assert.equal(await heading(page), 'You’re signed out');

  await connect(page, sample, credentials);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
  await loaded(page, () => enter(page, { ...ADMIN, password: 'wrong' }));
  assert.ok(await page.getByRole('alert').isVisible());
  await loaded(page, () => enter(page, ADMIN));
  assert.equal(await heading(page), 'Sample is requesting access to your account');
  await loaded(page, () => page.getByRole('button', { name: 'Allow' }).click());
  assert.equal(await claim(page, 'ID token', 'preferred_username'), ADMIN.username);
  await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());
  assert.match((await page.getByRole('status').textContent()) ?? '', /signed out, here and at/);
  assert.deepEqual(complaints, []);
});
