// The first minutes: onboarding, an application registered, a user signed in at the sample and signed out, as the pages
// describe it. Screenshots go to test-results/browser/.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { ADMIN, type Credentials, claim, connect, heading, loaded, onboard, register } from './steps.ts';
import { openWindow, type Window } from './window.ts';

let browser: Browser;
let server: RunningServer;
let sample: Program;
let person: Window;
let credentials: Credentials;
const secrets: string[] = [ADMIN.password];

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  [sample, person] = await Promise.all([startSample(server.issuer), openWindow(browser)]);
});

afterEach(() => assert.deepEqual(person.complaints, []));

after(async () => {
  await browser.close();
  const codes = [await sample.stop(), await server.stop()];
  assert.deepEqual(codes, [0, 0]);
});

/** The tab of the application; the administrator keeps the first one. */
let tab: Page;

test('first run: the bare address is onboarding, which creates the administrator', async () => {
  const { page } = person;
  await page.goto(`${server.origin}/`);
  assert.equal(await heading(page), 'Welcome to Latchkey');
  await shoot(page, 'onboarding');
  await page.getByLabel('Username').fill('ad');
  await page.getByLabel('Password', { exact: true }).fill('12345678');
  await page.getByLabel('Confirm password').fill('12345679');
  await page.getByRole('button', { name: 'Create administrator' }).click();
  await shoot(page, 'onboarding-wrong');
  await onboard(page, server);
  assert.equal(await heading(page), 'Latchkey is running');
  assert.ok(await page.getByRole('banner').getByText(ADMIN.username, { exact: true }).isVisible());
  await shoot(page, 'admin-first');
});

test('first run: with an administrator, onboarding is closed for good', async () => {
  for (const path of ['/onboard', '/oauth2/onboard']) {
    const response = await person.page.goto(server.origin + path);
    assert.equal(response?.status(), 404);
  }
  await shoot(person.page, 'not-found');
});

test('first run: /admin registers what the sample says, and shows the secret once', async () => {
  tab = await person.context.newPage();
  await tab.goto(`${sample.origin}/`);
  assert.equal(await heading(tab), 'Connect this application');
  await shoot(tab, 'sample-one-click');
  await tab.getByText('Register it by hand').click();
  assert.equal(await tab.locator('#redirect-uri').textContent(), `${sample.origin}/callback`);
  await shoot(tab, 'sample-connect');

  const [admin] = await Promise.all([
    tab.waitForEvent('popup'),
    tab.getByRole('link', { name: 'administrator’s page' }).click(),
  ]);
  credentials = await register(admin, { name: 'Sample', sample });
  await shoot(admin, 'admin-registered');
  assert.match(credentials.clientSecret, /^[\w-]{40,}$/);
  secrets.push(credentials.clientSecret);
  await admin.goto(`${server.origin}/admin`);
  assert.ok(!(await admin.content()).includes(credentials.clientSecret));
  await admin.close();
});

test('first run: the sample refuses a wrong secret, keeps the client ID, takes the right one', async () => {
  await tab.goto(`${sample.origin}/`);
  await tab.getByText('Register it by hand').click();
  await tab.getByLabel('Client ID').fill(credentials.clientId);
  await tab.getByLabel('Client secret').fill('not-the-secret');
  await loaded(tab, () => tab.getByRole('button', { name: 'Connect' }).click());
  assert.match((await tab.getByRole('alert').textContent()) ?? '', /Compare client ID and secret/);
  assert.equal(await tab.getByLabel('Client ID').inputValue(), credentials.clientId);
  assert.equal(await tab.getByLabel('Client secret').inputValue(), '');
  await shoot(tab, 'sample-connect-wrong');
  await connect(tab, sample, credentials);
  await shoot(tab, 'sample-home');
});

test('first run: after one click and one consent the sample knows the user', async () => {
  // Signed in at /admin already, so no password is asked: that is single sign-on.
  await loaded(tab, () => tab.getByRole('link', { name: 'Sign in' }).click());
  assert.equal(await heading(tab), 'Sample is requesting access to your account');
  await tab.getByRole('button', { name: 'Allow' }).click();
  await tab.waitForURL(`${sample.origin}/`);
  assert.equal(await heading(tab), `Hello, ${ADMIN.username}`);
  assert.equal(await claim(tab, 'ID token', 'iss'), server.issuer);
  assert.equal(await claim(tab, 'ID token', 'aud'), credentials.clientId);
  assert.equal(await claim(tab, 'ID token', 'email'), ADMIN.email);
  assert.match(await claim(tab, 'ID token', 'exp'), /^\d{10} .*UTC, in (1 hour|59 minutes)$/);
  assert.equal(await claim(tab, 'Access token', 'client_id'), credentials.clientId);
  assert.match(await claim(tab, 'Access token', 'exp'), /in 1[45] minutes$/);
  assert.equal(await claim(tab, 'Userinfo', 'preferred_username'), ADMIN.username);
  await shoot(tab, 'sample-signed-in');
});

const press = async (name: string): Promise<string> => {
  await loaded(tab, () => tab.getByRole('button', { name, exact: true }).click());
  return (await tab.getByRole('status').textContent()) ?? '';
};

test('first run: refresh changes the token; introspection and userinfo see a revocation', async () => {
  const first = await claim(tab, 'Access token', 'jti');
  assert.match(await press('Introspect'), /activetrue/);
  await shoot(tab, 'sample-introspected');
  assert.match(await press('Refresh'), /^\s*Refreshed/);
  const second = await claim(tab, 'Access token', 'jti');
  assert.notEqual(second, first);

  assert.match(await press('Revoke access token'), /Access token revoked/);
  await shoot(tab, 'sample-revoked');
  assert.match((await tab.getByRole('alert').textContent()) ?? '', /invalid_token/);
  assert.match(await press('Introspect'), /activefalse/);
  await press('Refresh');
  assert.equal(await claim(tab, 'Userinfo', 'email'), ADMIN.email);

  assert.match(await press('Revoke refresh token'), /Refresh token revoked/);
  assert.match(await press('Refresh'), /invalid_grant/);
  await shoot(tab, 'sample-refresh-refused');
});

test('first run: signing out at the sample signs out at the provider', async () => {
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.waitForURL(`${sample.origin}/`);
  assert.match((await tab.getByRole('status').textContent()) ?? '', /signed out, here and at/);
  await shoot(tab, 'sample-signed-out');
  await tab.reload();
  assert.equal(await tab.getByRole('status').count(), 0);
  await person.page.goto(`${server.origin}/admin`);
  assert.equal(await heading(person.page), 'Sign in to Latchkey');
  await shoot(person.page, 'sign-in');
});

test('first run: output contains no secret and no error', () => {
  for (const { output } of [server, sample]) {
    for (const secret of secrets) assert.ok(!output().includes(secret));
    assert.doesNotMatch(output(), /eyJ[\w-]{10,}\.|"level":"(?:warn|error|fatal)"|\bat .*:\d+:\d+/);
  }
});
