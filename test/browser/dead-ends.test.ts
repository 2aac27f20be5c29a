// A user continues from every dead end, without scripts: signed out, an expired page, a used link, an unknown address.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type RunningServer, startServer } from './processes.ts';
import { ADMIN, enter, heading, loaded, onboard } from './steps.ts';
import { openWindow } from './window.ts';

let browser: Browser;
let server: RunningServer;
before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
});
after(async () => {
  await browser.close();
  await server.stop();
});

const follow = (page: Page, name: string): Promise<void> =>
  loaded(page, () => page.getByRole('main').getByRole('link', { name, exact: true }).click());
const pathOf = (page: Page): string => new URL(page.url()).pathname;

test('dead ends: signed out, expired, used, mistyped; each page continues without scripts', async () => {
  const { page, complaints, close } = await openWindow(browser, { javaScriptEnabled: false });
  await onboard(page, server);

  // The bare address knows an administrator.
  await page.goto(`${server.origin}/`);
  assert.equal(pathOf(page), '/admin');
  await loaded(page, () => page.getByText('Sign out').click());
  assert.equal(await heading(page), 'You’re signed out');
  await follow(page, 'Sign in');
  assert.equal(await heading(page), 'Sign in to Latchkey');

  // The sign-in page in a browser that it was not shown to, or too late.
  const stale = new URL(page.url());
  stale.pathname = '/oauth2/login';
  stale.search = '?interaction=long-gone';
  await page.goto(stale.href);
  assert.equal(await heading(page), 'This page has expired');
  await follow(page, 'Sign in');
  await loaded(page, () => enter(page, ADMIN));
  assert.equal(pathOf(page), '/account');

  await page.goto(`${server.origin}/no/such/page`);
  assert.equal(await heading(page), 'Page not found');
  await follow(page, 'Go to the start page');
  assert.equal(pathOf(page), '/admin');

  await page.goto(`${server.origin}/oauth2/reset-password?token=used`);
  assert.equal(await heading(page), 'This link for a new password is no longer valid');
  await follow(page, 'Get a new link');
  assert.equal(await heading(page), 'This server can’t send e‑mail now');
  await server.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  await page.reload();
  assert.equal(await heading(page), 'Forgot your password?');

  await page.goto(`${server.origin}/oauth2/signup?token=used`);
  await follow(page, 'Sign in');
  assert.equal(pathOf(page), '/account');
  assert.deepEqual(complaints, []);
  await close();
});
