// Signing in in a real Chromium: mistakes, cancelling, the back button, several tabs, expired pages. The sample is registered;
// other users sign in there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { ADMIN_TOKEN, type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { claim, enter, heading, loaded } from './steps.ts';
import { type Window, withWindow } from './window.ts';

let browser: Browser;
let server: RunningServer;
let sample: Program;
let other: Program;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  const options = { adminToken: ADMIN_TOKEN };
  [sample, other] = await Promise.all([
    startSample(server.issuer, options),
    startSample(server.issuer, options),
  ]);
});

after(async () => {
  await browser.close();
  const codes = [await sample.stop(), await other.stop()];
  // What the samples registered themselves they have taken back; left is the application of our own pages.
  const { total } = await server.admin('GET', '/clients');
  codes.push(await server.stop());
  assert.deepEqual([...codes, total], [0, 0, 0, 1]);
});

const PASSWORD = 'correct horse battery staple';

interface User {
  readonly username: string;
  readonly password: string;
}

async function createUser(username: string): Promise<User> {
  await server.admin('POST', '/users', { username, password: PASSWORD, email: `${username}@example.com` });
  return { username, password: PASSWORD };
}

const inWindow = (act: (window: Window) => Promise<void>, options?: BrowserContextOptions): Promise<void> =>
  withWindow(browser, act, options);

const begin = async (page: Page, program: Program): Promise<void> => {
  await page.goto(`${program.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
};

const allow = (page: Page): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name: 'Allow' }).click());

const alertText = async (page: Page): Promise<string> =>
  ((await page.getByRole('alert').textContent()) ?? '').trim();

test('wrong password: keeps the username, focuses the alert, and the correct one works', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('wrong-first');
    await begin(page, sample);
    assert.equal(await heading(page), 'Sign in to Sample');
    await loaded(page, () => enter(page, { ...user, password: 'not my password' }));
    assert.match(await alertText(page), /Incorrect/);
    // Autofocus comes with a later frame than the page's load.
    await page.waitForFunction("document.activeElement.id === 'alert'");
    assert.equal(await page.getByLabel('Username or e-mail').inputValue(), user.username);
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    await shoot(page, 'sign-in-wrong');
    await page.getByLabel('Password', { exact: true }).fill(user.password);
    await loaded(page, () => page.keyboard.press('Enter'));
    await shoot(page, 'consent');
    await allow(page);
    assert.equal(await heading(page), `Hello, ${user.username}`);
  }));

test('consent: a denial grants nothing; an approval is remembered', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('consenting');
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    assert.equal(await heading(page), 'Sample is requesting access to your account');
    await loaded(page, () => page.getByRole('button', { name: 'Deny' }).click());
    assert.equal(new URL(page.url()).origin, sample.origin);
    assert.match(await alertText(page), /denied the request.*Error code access_denied/s);
    await shoot(page, 'sample-denied');

    // The session stays, so this time it begins with the question; a person may change their mind.
    await loaded(page, () => page.getByRole('link', { name: 'Try again' }).click());
    await allow(page);
    assert.equal(await heading(page), `Hello, ${user.username}`);
    await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    assert.equal(await heading(page), `Hello, ${user.username}`);
  }));

test('cancelled sign-in: reported to the application', () =>
  inWindow(async ({ page }) => {
    await begin(page, sample);
    await loaded(page, () => page.getByRole('button', { name: 'Cancel' }).click());
    assert.match(await alertText(page), /access_denied/);
  }));

test('cancelled sign-in of /admin: ends, without a loop', () =>
  inWindow(async ({ page }) => {
    await page.goto(`${server.origin}/admin`);
    await loaded(page, () => page.getByRole('button', { name: 'Cancel' }).click());
    assert.equal(await heading(page), 'You’re signed out');
    await shoot(page, 'signed-out');
    await loaded(page, () => page.getByRole('link', { name: 'Continue' }).click());
    assert.equal(await heading(page), 'Sign in to Latchkey');
  }));

test('Admin UI: a user who is no administrator gets a page that says so', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('no-admin');
    await page.goto(`${server.origin}/admin`);
    await loaded(page, () => enter(page, user));
    await shoot(page, 'admin-refused');
    assert.match((await page.locator('.lead').textContent()) ?? '', /not an administrator/);
    await loaded(page, () => page.getByRole('link', { name: 'Sign out' }).click());
    assert.equal(await heading(page), 'You’re signed out');
  }));

test('prompt=login: asks the known user; "Not you?" signs another user in, sharing nothing', () =>
  inWindow(async ({ page }) => {
    const [first, second] = [await createUser('first'), await createUser('second')];
    await begin(page, sample);
    await loaded(page, () => enter(page, first));
    await allow(page);
    const before = Number((await claim(page, 'ID token', 'auth_time')).slice(0, 10));

    await loaded(page, () => page.getByRole('link', { name: 'Ask for the password again' }).click());
    assert.ok(await page.getByText(first.username, { exact: true }).isVisible());
    assert.equal(await page.getByLabel('Username or e-mail').count(), 0);
    await shoot(page, 'sign-in-known');
    await page.getByLabel('Password', { exact: true }).fill(first.password);
    await loaded(page, () => page.keyboard.press('Enter'));
    assert.equal(await heading(page), `Hello, ${first.username}`);
    assert.ok(Number((await claim(page, 'ID token', 'auth_time')).slice(0, 10)) >= before);
    const firstSession = await claim(page, 'ID token', 'sid');

    await loaded(page, () => page.getByRole('link', { name: 'Ask for the password again' }).click());
    await loaded(page, () => page.getByRole('link', { name: 'Not you?' }).click());
    await loaded(page, () => enter(page, second));
    await allow(page);
    assert.equal(await heading(page), `Hello, ${second.username}`);
    assert.notEqual(await claim(page, 'ID token', 'sid'), firstSession);
  }));

test('back button after sign-in: no error and no second sign-in', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('back');
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    await allow(page);
    // Its own page is over; it says so, and leads to where the person wanted to be.
    await page.goBack();
    assert.equal(await heading(page), 'This page has expired');
    await shoot(page, 'expired');
    await loaded(page, () => page.getByRole('link', { name: 'Back to Sample' }).click());
    assert.equal(await heading(page), `Hello, ${user.username}`);

    await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    assert.equal(await heading(page), `Hello, ${user.username}`);
    await page.goBack();
    assert.equal(page.url(), `${sample.origin}/`);
    assert.equal(await heading(page), `Hello, ${user.username}`);
  }));

test('consent page: can be reloaded and still answered', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('reload');
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    await page.reload();
    assert.equal(await heading(page), 'Sample is requesting access to your account');
    await allow(page);
    assert.equal(await heading(page), `Hello, ${user.username}`);
  }));

test('two tabs: both sign-ins complete', () =>
  inWindow(async ({ context, page }) => {
    const user = await createUser('two-tabs');
    const tab = await context.newPage();
    await begin(page, sample);
    await begin(tab, other);
    await loaded(page, () => enter(page, user));
    await allow(page);
    assert.equal(await heading(page), `Hello, ${user.username}`);
    await loaded(tab, () => enter(tab, user));
    await allow(tab);
    assert.equal(await heading(tab), `Hello, ${user.username}`);
    await page.reload();
    assert.equal(await claim(page, 'Userinfo', 'preferred_username'), user.username);
  }));

test('sign-in finished in another tab: the page says that it has expired', () =>
  inWindow(async ({ context, page }) => {
    const user = await createUser('expired');
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    const consentUrl = page.url();
    const tab = await context.newPage();
    await tab.goto(consentUrl);
    await allow(tab);
    await loaded(page, () => page.getByRole('button', { name: 'Allow' }).click());
    assert.equal(await heading(page), 'This page has expired');
    const back = page.getByRole('link', { name: 'Back to Sample' });
    await loaded(page, () => back.click());
    assert.equal(await heading(page), `Hello, ${user.username}`);
  }));

test('attack: an interaction of another browser', () =>
  inWindow(async ({ page }) => {
    await begin(page, sample);
    const uid = await page.locator('input[name=interaction]').inputValue();
    await inWindow(async ({ page: elsewhere }) => {
      await elsewhere.goto(`${server.origin}/oauth2/login?interaction=${uid}`);
      assert.equal(await heading(elsewhere), 'This page has expired');
      await elsewhere.goto(`${server.origin}/oauth2/authorize/${uid}`);
      assert.equal(await heading(elsewhere), 'This page has expired');
    });
  }));

test('wrong redirect URI: stays here and names what was sent and where to register it', () =>
  inWindow(async ({ page }) => {
    await begin(page, sample);
    const url = new URL(page.url());
    url.searchParams.set('redirect_uri', 'https://elsewhere.example/callback');
    await page.goto(url.href);
    assert.equal(page.url(), url.href);
    const text = (await page.locator('main').textContent()) ?? '';
    assert.match(text, /https:\/\/elsewhere\.example\/callback/);
    assert.ok(text.includes(`${server.origin}/admin`));
    await shoot(page, 'wrong-redirect-uri');
  }));

test('post-logout redirect URI not registered: reported, not followed', () =>
  inWindow(async ({ page }) => {
    const user = await createUser('bad-exit');
    await begin(page, sample);
    await loaded(page, () => enter(page, user));
    await allow(page);
    const token = new URLSearchParams({ client_id: await claim(page, 'ID token', 'aud') });
    token.set('post_logout_redirect_uri', 'https://elsewhere.example/');
    await page.goto(`${server.issuer}/logout?${token}`);
    assert.equal(new URL(page.url()).origin, server.origin);
    const text = (await page.locator('main').textContent()) ?? '';
    assert.ok(text.includes('https://elsewhere.example/') && text.includes(`${server.origin}/admin`));
    await shoot(page, 'wrong-exit');
  }));
