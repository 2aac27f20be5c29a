// What comes after a passkey that does not come: words and other ways, never a dead end. And passkeys made without a word,
// told apart from those that are gone, and set up where a second step is required.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { claim, connect, enter, heading, loaded, registerSample } from './steps.ts';
import { plugIn, withoutAutofill } from './virtual-authenticator.ts';
import { withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';

let browser: Browser;
let server: RunningServer;
let sample: Program;
let clientId: string;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  sample = await startSample(server.issuer);
  const credentials = await registerSample(server, sample);
  clientId = credentials.clientId;
  await withWindow(browser, ({ page }) => connect(page, sample, credentials));
});
after(async () => {
  await browser.close();
  assert.deepEqual([await sample.stop(), await server.stop()], [0, 0]);
});

async function createPerson(username: string, fields: object = {}) {
  const { id } = await server.admin('POST', '/users', { username, password: PASSWORD, ...fields });
  return { id: String(id), username, password: PASSWORD };
}
const inWindow = (act: (page: Page) => Promise<void>): Promise<void> =>
  withWindow(browser, async ({ page }) => {
    await withoutAutofill(page);
    await act(page);
  });
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();

async function begin(page: Page): Promise<void> {
  await page.goto(`${sample.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
}

test('passkey that does not come: the second time other ways are named, and lead in', async () => {
  const person = await createPerson('grace', { name: 'Grace Hopper' });
  await inWindow(async (page) => {
    const axe = await createAxe(page);
    await plugIn(page, { kind: 'platform' });
    await begin(page);
    const ways = page.getByRole('region', { name: 'Other options' });
    assert.equal(await ways.isVisible(), false);
    await press(page, 'Sign in with a passkey');
    await page.getByText('The request was cancelled').waitFor();
    assert.equal(await ways.isVisible(), false, 'once is no trouble yet');
    await press(page, 'Sign in with a passkey');
    await page.getByText('If your passkey is on your phone').waitFor();
    await ways.waitFor();
    await shoot(page, 'passkey-ladder');
    assert.deepEqual(await axe.violations(), []);
    await page.getByLabel('Username or e-mail').fill(person.username);
    await ways.getByRole('button', { name: 'Use your password' }).press('Enter');
    await page.keyboard.type(PASSWORD);
    await loaded(page, () => page.keyboard.press('Enter'));
    assert.equal(await heading(page), 'Sign in faster next time?');
    await page.getByText('Grace Hopper').waitFor();
  });
});

test('required second step: the application is named, and a passkey is set up in one press', async () => {
  const person = await createPerson('barbara');
  await server.admin('PATCH', `/clients/${clientId}`, { required_acr: 'urn:latchkey:acr:multi-factor' });
  try {
    await inWindow(async (page) => {
      const axe = await createAxe(page);
      await plugIn(page, { kind: 'platform' });
      await begin(page);
      await loaded(page, () => enter(page, person));
      assert.equal(await heading(page), 'Add a second step');
      await page.getByText('requires a second step.').waitFor();
      await page.getByText('Use an authenticator app instead').click();
      await page.getByLabel('Enter the six-digit code').waitFor();
      await shoot(page, 'enrol-passkey-first');
      assert.deepEqual(await axe.violations(), []);
      await loaded(page, () => press(page, 'Create a passkey'));
      assert.equal(await heading(page), 'Save your recovery codes');
      await press(page, 'I’ve saved my codes');
      await page.waitForURL(`${sample.origin}/**`);
      assert.match(await claim(page, 'ID token', 'acr'), /multi-factor/);
    });
  } finally {
    await server.admin('PATCH', `/clients/${clientId}`, { required_acr: null });
  }
});

/** A browser whose password manager makes passkeys beside a password (WebAuthn §5.1.3, conditional creation), or not this one. */
const makesQuietly = (page: Page, { isWilling }: { isWilling: boolean }): Promise<unknown> =>
  page.addInitScript(`
    PublicKeyCredential.getClientCapabilities = async () => ({ conditionalCreate: true });
    const create = navigator.credentials.create.bind(navigator.credentials);
    navigator.credentials.create = ({ mediation, ...options }) => {
      if (mediation !== 'conditional') throw new Error('asked with a prompt');
      return ${isWilling} ? create(options) : Promise.reject(new DOMException('no', 'NotAllowedError'));
    };`);

test('conditional creation: a passkey beside the password, without a press', async () => {
  const person = await createPerson('katherine');
  await inWindow(async (page) => {
    const device = await plugIn(page, { kind: 'platform', isSynced: true });
    await makesQuietly(page, { isWilling: true });
    await begin(page);
    await enter(page, person);
    await page.waitForURL(`${sample.origin}/**`);
    const { passkey_count: count } = await server.admin('GET', `/users/${person.id}`);
    assert.deepEqual([await device.count(), count], [1, 1]);
  });
});

test('conditional creation: what the browser declines is not told, and blocks nothing', async () => {
  const person = await createPerson('dorothy');
  await inWindow(async (page) => {
    await plugIn(page, { kind: 'platform' });
    await makesQuietly(page, { isWilling: false });
    await begin(page);
    await loaded(page, () => enter(page, person));
    assert.equal(await page.getByRole('alert').filter({ visible: true }).count(), 0);
    await press(page, 'Not now');
    await page.waitForURL(`${sample.origin}/**`);
  });
});

test('signals: removed passkeys are forgotten at the next sign-in, a new name is known', async () => {
  const person = await createPerson('radia', { name: 'Radia Perlman' });
  await inWindow(async (page) => {
    const device = await plugIn(page, { kind: 'platform' });
    await begin(page);
    await loaded(page, () => enter(page, person));
    await press(page, 'Create a passkey');
    await page.waitForURL(`${sample.origin}/**`);
    await server.admin('PATCH', `/users/${person.id}`, { name: 'Radia J. Perlman' });
    await page.goto(`${server.origin}/account`);
    const named = async (): Promise<string> => JSON.stringify(await device.credentials());
    for (let turn = 0; turn < 600 && !(await named()).includes('Radia J.'); turn += 1)
      await page.waitForTimeout(100);
    assert.match(await named(), /Radia J\. Perlman/);
    await server.admin('POST', `/users/${person.id}/reset-mfa`);
    await page.context().clearCookies();
    await begin(page);
    await loaded(page, () => enter(page, person));
    assert.equal(await heading(page), 'Add a second step');
    await page.getByText('An administrator has reset your second step.').waitFor();
    for (let turn = 0; turn < 600 && (await device.count()) > 0; turn += 1) await page.waitForTimeout(100);
    assert.equal(await device.count(), 0);
  });
});
