// What makes signing in quick in a real Chromium: the language, the way used last, what was typed, who is asked again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { launch } from '../pages/browser.ts';
import { ADMIN_TOKEN, type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { enter, heading, loaded } from './steps.ts';
import { plugIn, withoutAutofill } from './virtual-authenticator.ts';
import { type Window, withWindow } from './window.ts';

let browser: Browser;
let server: RunningServer;
let sample: Program;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  sample = await startSample(server.issuer, { adminToken: ADMIN_TOKEN });
});
after(async () => {
  await browser.close();
  await sample.stop();
  await server.stop();
});

const PASSWORD = 'correct horse battery staple';

async function createUser(username: string, more = {}): Promise<{ username: string; password: string }> {
  const email = `${username}@example.com`;
  await server.admin('POST', '/users', {
    username,
    password: PASSWORD,
    email,
    is_email_verified: true,
    ...more,
  });
  return { username, password: PASSWORD };
}

const inWindow = (act: (window: Window) => Promise<void>, options?: BrowserContextOptions): Promise<void> =>
  withWindow(browser, act, options);

async function begin(page: Page): Promise<void> {
  await page.goto(`${sample.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
}

const press = (page: Page, name: string): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name, exact: true }).click());

/** Which of the buttons stands higher on the page. */
const isAbove = async (page: Page, one: string, other: string): Promise<boolean> => {
  const [upper, lower] = await Promise.all(
    [one, other].map((name) => page.getByRole('button', { name, exact: true }).boundingBox()),
  );
  assert.ok(upper && lower);
  return upper.y < lower.y;
};

for (const javaScriptEnabled of [true, false])
  test(`language: chosen by keyboard, kept, right to left (${javaScriptEnabled ? 'with' : 'without'} scripts)`, () =>
    inWindow(
      async ({ page }) => {
        await begin(page);
        await page.locator('.languages summary').focus();
        await page.keyboard.press('Enter');
        if (javaScriptEnabled) {
          await shoot(page, 'language-menu');
          assert.deepEqual(await (await createAxe(page)).violations(), []);
          await page.keyboard.press('Escape');
          assert.equal(await page.getByRole('button', { name: 'Deutsch' }).isVisible(), false);
          await page.keyboard.press('Enter');
        }
        const arabic = page.getByRole('button', { name: 'العربية' });
        await arabic.focus();
        await loaded(page, () => page.keyboard.press('Enter'));
        assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
        if (javaScriptEnabled) await shoot(page, 'language-arabic');
        await begin(page);
        assert.equal(await page.locator('html').getAttribute('lang'), 'ar');
      },
      { javaScriptEnabled },
    ));

test('last used: who signed in with a passkey finds its button first, and focused', () =>
  inWindow(async ({ context, page }) => {
    const user = await createUser('keyed', { name: 'Kay Eyed' });
    await withoutAutofill(page);
    await plugIn(page, { kind: 'platform', isSynced: true });
    await begin(page);
    assert.equal(await isAbove(page, 'Sign in', 'Sign in with a passkey'), true);
    await loaded(page, () => enter(page, user));
    assert.ok(await page.getByText('Kay Eyed', { exact: true }).isVisible(), 'by name');
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await press(page, 'Allow');
    assert.match(await heading(page), /^Hello/);
    await press(page, 'Sign out');
    await begin(page);
    assert.equal(await isAbove(page, 'Sign in with a passkey', 'Sign in'), true);
    await page.waitForFunction("document.activeElement.classList.contains('begin')");
    await shoot(page, 'sign-in-passkey-first');
    assert.deepEqual(await (await createAxe(page)).violations(), []);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Hello' }).waitFor();

    // Asked again, the strongest way comes first, and the page says why it asks.
    await loaded(page, () => page.getByRole('link', { name: 'Ask for the password again' }).click());
    assert.equal(await heading(page), 'Confirm it’s you');
    assert.ok(await page.getByText('Kay Eyed', { exact: true }).isVisible());
    assert.equal(await isAbove(page, 'Sign in with a passkey', 'Sign in'), true);
    await shoot(page, 'sign-in-confirm');
    const cookies = await context.cookies();
    const method = cookies.find(({ name }) => name === 'latchkey_method');
    assert.deepEqual([method?.value, method?.httpOnly], ['passkey', true]);
  }));

test('last used without scripts: the password form alone, whatever was used last', () =>
  inWindow(
    async ({ context, page }) => {
      await createUser('scriptless');
      await context.addCookies([{ name: 'latchkey_method', value: 'passkey', url: server.origin }]);
      await begin(page);
      assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).isVisible(), false);
      assert.equal(await page.locator('.or').first().isVisible(), false);
      await loaded(page, () => enter(page, { username: 'scriptless', password: PASSWORD }));
      assert.match(await heading(page), /requesting access/);
    },
    { javaScriptEnabled: false },
  ));

test('typed name: goes along to the reset and back, and is in no address', () =>
  inWindow(async ({ page }) => {
    await createUser('typist');
    // Without a mail server there is no form for a reset.
    await server.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await begin(page);
    await page.getByLabel('Username or e-mail').fill('typist');
    await press(page, 'Forgot password?');
    assert.equal(await page.getByLabel('Username or e-mail').inputValue(), 'typist');
    await shoot(page, 'forgot-password-typed');
    await page.getByLabel('Username or e-mail').fill('typist@example.com');
    await press(page, 'Send reset link');
    await loaded(page, () => page.getByRole('link', { name: 'Back to sign-in' }).click());
    assert.equal(await page.getByLabel('Username or e-mail').inputValue(), 'typist@example.com');
    assert.deepEqual(
      addresses.filter((address) => address.includes('typist')),
      [],
    );
  }));

for (const javaScriptEnabled of [true, false])
  test(`remembered people: chosen and removed by keyboard (${javaScriptEnabled ? 'with' : 'without'} scripts)`, () =>
    inWindow(
      async ({ page }) => {
        const username = `known-${javaScriptEnabled}`;
        const user = await createUser(username, { name: 'Mae Jemison' });
        await begin(page);
        await page.getByLabel('Remember me here').check();
        await loaded(page, () => enter(page, user));
        await press(page, 'Allow');
        await press(page, 'Sign out');
        await begin(page);
        const person = page.getByRole('link', { name: 'Mae Jemison' });
        await person.focus();
        if (javaScriptEnabled) {
          await shoot(page, 'sign-in-people');
          assert.deepEqual(await (await createAxe(page)).violations(), []);
          assert.equal(await page.evaluate('document.cookie'), '');
        }
        await loaded(page, () => page.keyboard.press('Enter'));
        assert.equal(await page.getByLabel('Username or e-mail').count(), 0);
        if (javaScriptEnabled) await shoot(page, 'sign-in-person');
        await page.getByLabel('Password', { exact: true }).fill(user.password);
        await loaded(page, () => page.keyboard.press('Enter'));
        assert.equal(await heading(page), 'Hello, Mae Jemison');
        await press(page, 'Sign out');
        await begin(page);
        await page.getByRole('button', { name: 'Remove Mae Jemison from this device' }).focus();
        await loaded(page, () => page.keyboard.press('Enter'));
        assert.ok(await page.getByLabel('Username or e-mail').isVisible());
        assert.equal(await page.getByText('Mae Jemison').count(), 0);
      },
      { javaScriptEnabled },
    ));

test('remembered people: a passkey with "Remember me here" remembers as well', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('keyed-too', { name: 'Sally Ride' });
    await withoutAutofill(page);
    await plugIn(page, { kind: 'platform', isSynced: true });
    await begin(page);
    await loaded(page, () => enter(page, user));
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await press(page, 'Allow');
    await press(page, 'Sign out');
    await begin(page);
    await page.getByLabel('Remember me here').check();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Hello' }).waitFor();
    await press(page, 'Sign out');
    await begin(page);
    assert.ok(await page.getByRole('link', { name: 'Sally Ride' }).isVisible());
  }));
