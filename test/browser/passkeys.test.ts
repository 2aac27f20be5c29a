// Passkeys in a real Chromium with virtual authenticators: from the application and back, with what can fail in between.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { claim, connect, enter, heading, loaded, registerSample } from './steps.ts';
import {
  plugIn,
  type VirtualAuthenticator,
  withoutAutofill,
  withoutWebAuthn,
} from './virtual-authenticator.ts';
import { openWindow, withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';

let browser: Browser;
let server: RunningServer;
let sample: Program;

interface Person {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  sample = await startSample(server.issuer);
  const credentials = await registerSample(server, sample);
  await inWindow((page) => connect(page, sample, credentials));
});

after(async () => {
  await browser.close();
  assert.deepEqual([await sample.stop(), await server.stop()], [0, 0]);
});

async function createPerson(username: string, fields: object = {}): Promise<Person> {
  const { id } = await server.admin('POST', '/users', { username, password: PASSWORD, ...fields });
  return { id: String(id), username, password: PASSWORD };
}

const inWindow = (act: (page: Page) => Promise<void>): Promise<void> =>
  withWindow(browser, ({ page }) => act(page));

/** From the application to the sign-in page. */
async function begin(page: Page): Promise<void> {
  await page.goto(`${sample.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
}

async function arrive(page: Page, { username }: Person): Promise<void> {
  await page.waitForURL(`${sample.origin}/**`);
  assert.equal(await heading(page), `Hello, ${username}`, (await page.locator('main').textContent()) ?? '');
}

const signOut = (page: Page): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

/** By password, with the offer taken. */
async function enrol(page: Page, person: Person): Promise<void> {
  await begin(page);
  await loaded(page, () => enter(page, person));
  assert.equal(await heading(page), 'Sign in faster next time?');
  await press(page, 'Create a passkey');
  await arrive(page, person);
}

test('passkey offer: one press after the password, then sign-in without name and password', async () => {
  const ada = await createPerson('ada');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    const device = await plugIn(page, { kind: 'platform', isSynced: true });
    await begin(page);
    await shoot(page, 'passkey-login');
    await loaded(page, () => enter(page, ada));
    await shoot(page, 'passkey-offer');
    await press(page, 'Create a passkey');
    await arrive(page, ada);
    assert.equal(await device.count(), 1);
    await signOut(page);
    await begin(page);
    await press(page, 'Sign in with a passkey');
    await arrive(page, ada);
    assert.match(await claim(page, 'ID token', 'amr'), /swk.*user.*mfa/);
    assert.match(await claim(page, 'ID token', 'acr'), /multi-factor/);
  });
});

test('passkey offer: "Not now" continues and is remembered in this browser', async () => {
  const grace = await createPerson('grace');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    await plugIn(page, { kind: 'platform' });
    await begin(page);
    await loaded(page, () => enter(page, grace));
    await press(page, 'Not now');
    await arrive(page, grace);
    await signOut(page);
    await begin(page);
    await enter(page, grace);
    await arrive(page, grace);
  });
});

test('passkey autofill: offered at the field, without a button', async () => {
  const alan = await createPerson('alan');
  await inWindow(async (page) => {
    const device = await plugIn(page, { kind: 'platform' });
    await enrol(page, alan);
    assert.equal(await device.count(), 1);
    await signOut(page);
    // The authenticator stands for the person who picks it from the list.
    await begin(page).catch(() => undefined);
    await arrive(page, alan);
    assert.match(await claim(page, 'ID token', 'amr'), /hwk.*user.*mfa/);
  });
});

test('security key without user verification: second step after the password', async () => {
  const barbara = await createPerson('barbara');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    const key = await plugIn(page, { kind: 'key', hasStorage: false });
    // The page of one's own passkeys: a browser without a device of its own is not offered one at the sign-in.
    await page.goto(`${server.origin}/account/passkeys`);
    await loaded(page, () => enter(page, barbara));
    assert.equal(await heading(page), 'Passkeys');
    await loaded(page, () => press(page, 'Add a passkey'));
    await page.getByText('Passkey added.').waitFor();
    assert.equal(await key.count(), 1);
    // What the account has now is stronger than the sign-in was.
    await shoot(page, 'account-passkeys-confirm');
    await page.goto(`${server.origin}/oauth2/logout`);
    await begin(page);
    await loaded(page, () => enter(page, barbara));
    assert.equal(await heading(page), 'Use your passkey');
    await shoot(page, 'passkey-second-step');
    await press(page, 'Use a passkey');
    await arrive(page, barbara);
    assert.match(await claim(page, 'ID token', 'amr'), /pwd.*hwk.*mfa/);
  });
});

test('cancelled ceremony: the page says so and every other method still works', async () => {
  const edsger = await createPerson('edsger');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    const device = await plugIn(page, { kind: 'platform' });
    await begin(page);
    await press(page, 'Sign in with a passkey');
    await page.getByText('The request was cancelled').waitFor();
    await shoot(page, 'passkey-cancelled');
    await loaded(page, () => enter(page, edsger));
    // The offer, when the finger is not the owner's.
    await device.setUserVerified(false);
    await press(page, 'Create a passkey');
    await page.getByText('The request was cancelled').waitFor();
    await device.setUserVerified(true);
    await press(page, 'Create a passkey');
    await arrive(page, edsger);
  });
});

test('passkeys: duplicate registration, renaming, and a removed one the browser still has', async () => {
  const donald = await createPerson('donald');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    const device = await plugIn(page, { kind: 'platform' });
    await enrol(page, donald);
    const kept = await device.credentials();
    await page.goto(`${server.origin}/account/passkeys`);
    // Whoever made it a moment ago is not asked who they are.
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('This device already has a passkey for this account.').waitFor();
    await page.getByText('Rename or remove').click();
    await shoot(page, 'account-passkeys');
    await page.getByLabel('Name of the passkey').fill('Laptop <b>at work</b>');
    await loaded(page, () => press(page, 'Rename'));
    await page.getByText('Laptop <b>at work</b>').first().waitFor();
    await page.getByText('Rename or remove').click();
    await loaded(page, () => page.getByRole('button', { name: 'Remove', exact: true }).click());
    await page.getByText('Passkey removed.').waitFor();
    await page.getByText('You don’t have any passkeys yet.').waitFor();
    // The page has signalled what is still good, and the authenticator has forgotten the rest.
    for (let turn = 0; turn < 600 && (await device.count()) > 0; turn += 1) await page.waitForTimeout(100);
    assert.equal(await device.count(), 0);
    await device.take(kept);
    await page.goto(`${sample.origin}/`);
    await signOut(page);
    await begin(page);
    await press(page, 'Sign in with a passkey');
    await page.getByText('This passkey is no longer registered here.').waitFor();
    for (let turn = 0; turn < 600 && (await device.count()) > 0; turn += 1) await page.waitForTimeout(100);
    assert.equal(await device.count(), 0);
    await enter(page, donald);
  });
});

test('attack: another user’s passkey as the second step', async () => {
  const owner = await createPerson('tony');
  const other = await createPerson('niklaus');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    const theirs = await plugIn(page, { kind: 'platform' });
    await enrol(page, other);
    await signOut(page);
    const credentials = await theirs.credentials();
    await theirs.remove();
    const own: VirtualAuthenticator = await plugIn(page, { kind: 'platform' });
    await enrol(page, owner);
    await signOut(page);
    await own.remove();
    await (await plugIn(page, { kind: 'platform' })).take(credentials);
    await server.admin('PATCH', '/settings', { mfa_mode: 'required' });
    try {
      await begin(page);
      await loaded(page, () => enter(page, owner));
      assert.equal(await heading(page), 'Use your passkey');
      await press(page, 'Use a passkey');
      await page.getByText('The request was cancelled').waitFor();
      assert.equal(await heading(page), 'Use your passkey');
    } finally {
      await server.admin('PATCH', '/settings', { mfa_mode: 'optional' });
    }
  });
});

test('passkey-only: the first sign-in creates a passkey and codes; a code creates the next', async () => {
  const admin = await createPerson('root-admin', { role: 'admin' });
  const person = await createPerson('margaret');
  await inWindow(async (page) => {
    await withoutAutofill(page);
    await plugIn(page, { kind: 'platform' });
    await enrol(page, admin);
  });
  await inWindow(async (page) => {
    await withoutAutofill(page);
    const device = await plugIn(page, { kind: 'platform' });
    await begin(page);
    await loaded(page, () => enter(page, person));
    await server.admin('PATCH', '/settings', { auth_mode: 'passkey_only' });
    try {
      await loaded(page, () => press(page, 'Not now'));
      assert.equal(await heading(page), 'Create your passkey');
      await shoot(page, 'passkey-enrol');
      await loaded(page, () => press(page, 'Create a passkey'));
      assert.equal(await heading(page), 'Save your recovery codes');
      const [code = ''] = await page.locator('#codes code').allTextContents();
      await press(page, 'I’ve saved my codes');
      await arrive(page, person);
      await signOut(page);
      await begin(page);
      assert.equal(await page.locator('input[type=password]').count(), 0);
      await shoot(page, 'passkey-only-login');
      await press(page, 'Sign in with a passkey');
      await arrive(page, person);
      await signOut(page);
      await device.remove();
      await plugIn(page, { kind: 'platform' });
      await begin(page);
      await loaded(page, () => page.getByRole('link', { name: 'Lost your passkey?' }).click());
      await page.getByLabel('Username or e-mail').fill(person.username);
      await page.getByLabel('Recovery code').fill(code.toUpperCase());
      await shoot(page, 'passkey-recover');
      await loaded(page, () => press(page, 'Continue'));
      assert.equal(await heading(page), 'Create your passkey');
      await press(page, 'Create a passkey');
      await arrive(page, person);
    } finally {
      await server.admin('PATCH', '/settings', { auth_mode: 'password_and_passkey' });
    }
  });
});

test('browser without WebAuthn: says so, and other methods work', async () => {
  const john = await createPerson('john');
  await inWindow(async (page) => {
    await withoutWebAuthn(page);
    await begin(page);
    await page.getByText('Passkeys aren’t supported').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
    await shoot(page, 'passkey-absent');
    await enter(page, john);
    await arrive(page, john);
  });
  const window = await openWindow(browser, { javaScriptEnabled: false });
  await begin(window.page);
  await window.page.getByText('Passkeys require JavaScript').waitFor();
  assert.equal(await window.page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
  await window.close();
});
