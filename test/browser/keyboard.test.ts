// Everything by keyboard: from onboarding to sign-out with Tab, typing, Space and Enter. Every control is reached by Tab, with
// visible focus.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { ADMIN, claim, heading, loaded } from './steps.ts';
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

const MAX_TABS = 60;

const isFocused = (target: Locator): Promise<boolean> =>
  target.evaluate((element) => element.matches(':focus'));

/** Autofocus comes with the first frame, which may be after the load event. */
const hasFocusByItself = (target: Locator): Promise<void> =>
  target.and(target.page().locator(':focus')).waitFor();

/** Presses Tab until the target has the focus, which must be visible then. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let press = 0; !(await isFocused(target)); press += 1) {
    if (press === MAX_TABS) throw new Error(`Tab never reaches ${target}`);
    await page.keyboard.press('Tab');
  }
  const ring = await target.evaluate((element) => {
    const { outlineStyle, outlineWidth } = element.ownerDocument.defaultView.getComputedStyle(element);
    return `${outlineStyle} ${outlineWidth}`;
  });
  assert.match(ring, /^(?:solid|auto) [1-9]/, `${target} shows no focus`);
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

/** Buttons and links alike take Enter. */
async function press(page: Page, role: 'button' | 'link', name: string): Promise<void> {
  await tabTo(page, page.getByRole(role, { name, exact: true }));
  await loaded(page, () => page.keyboard.press('Enter'));
}

test('keyboard only: onboarding, application, sign-in, consent, claims, sign-out', async () => {
  const { page, complaints } = await openWindow(browser);

  await page.goto(`${server.origin}/`);
  await hasFocusByItself(page.getByLabel('Username'));
  await page.keyboard.type(ADMIN.username);
  await type(page, 'Password', ADMIN.password);
  await type(page, 'Confirm password', ADMIN.password);
  await loaded(page, () => page.keyboard.press('Enter'));
  assert.equal(await heading(page), 'Latchkey is running');

  await press(page, 'link', 'Add your first application');
  await press(page, 'link', 'Web app with a server');
  await type(page, 'Name', 'Sample');
  await type(page, 'Redirect URIs', `${sample.origin}/callback`);
  await press(page, 'button', 'Add application');
  const text = async (id: string): Promise<string> =>
    ((await page.locator(`#${id}`).textContent()) ?? '').trim();
  const [clientId, clientSecret] = [await text('client-id'), await text('client-secret')];
  await press(page, 'link', 'Sign out');

  await page.goto(`${sample.origin}/`);
  await tabTo(page, page.getByText('Register it by hand, with a secret'));
  await page.keyboard.press('Enter');
  await type(page, 'Client ID', clientId);
  await type(page, 'Client secret', clientSecret);
  await loaded(page, () => page.keyboard.press('Enter'));
  await press(page, 'link', 'Sign in');
  await hasFocusByItself(page.getByLabel('Username or e-mail'));
  await page.keyboard.type(ADMIN.username);
  await type(page, 'Password', ADMIN.password);
  await loaded(page, () => page.keyboard.press('Enter'));

  await press(page, 'button', 'Allow');
  assert.equal(await claim(page, 'ID token', 'preferred_username'), ADMIN.username);
  await press(page, 'button', 'Sign out');
  assert.equal(await heading(page), 'You’re not signed in');
  assert.deepEqual(complaints, []);
});
