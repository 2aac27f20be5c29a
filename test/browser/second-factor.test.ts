// Owns the proof that the second factor holds in people's hands, in a real Chromium: the secret comes out of the picture
// as a phone's camera sees it, codes are typed as people type them, mails come from a real SMTP server.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import decoder from 'jsqr';
import { generateSync } from 'otplib';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { type MailServer, startMailServer } from '../mail/support.ts';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { connect, enter, heading, loaded } from './steps.ts';
import { openWindow, type Window } from './window.ts';

const PASSWORD = 'correct horse battery staple';
const STEP_SECONDS = 30;

let browser: Browser;
let server: RunningServer;
let sample: Program;
let mails: MailServer;

before(async () => {
  [browser, server, mails] = await Promise.all([launch(), startServer(), startMailServer()]);
  await server.admin('PATCH', '/settings', { mfa_mode: 'required', smtp_url: mails.url() });
  sample = await startSample(server.issuer);
  const application = await server.admin('POST', '/clients', {
    client_name: 'Sample',
    redirect_uris: [`${sample.origin}/callback`],
    post_logout_redirect_uris: [`${sample.origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
    skip_consent: true,
  });
  const clientId = String(application.client_id);
  const clientSecret = String(application.client_secret);
  await inWindow((page) => connect(page, sample, { clientId, clientSecret }));
});

after(async () => {
  await browser.close();
  const codes = [await sample.stop(), await server.stop()];
  await mails.close();
  assert.deepEqual(codes, [0, 0]);
});

interface Person {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

async function createPerson(username: string): Promise<Person> {
  const fields = { username, password: PASSWORD, email: `${username}@example.com`, is_email_verified: true };
  const { id } = await server.admin('POST', '/users', fields);
  return { id: String(id), username, password: PASSWORD };
}

/** Runs `act` in a window of its own; what the browser complains about fails the test. */
async function inWindow(act: (page: Page) => Promise<void>): Promise<void> {
  const window: Window = await openWindow(browser);
  try {
    await act(window.page);
    assert.deepEqual(window.complaints, []);
  } finally {
    await window.close();
  }
}

/** From the application to the page after the password. */
async function signIn(page: Page, person: Person): Promise<void> {
  await page.goto(`${sample.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
  await loaded(page, () => enter(page, person));
}

async function expectHello(page: Page, { username }: Person): Promise<void> {
  const text = await page.locator('main').textContent();
  assert.equal(await heading(page), `Hello, ${username}`, text ?? '');
}

const signOut = (page: Page): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());

/** What a phone reads off the screen: the pixels, not the page. */
async function scan(page: Page): Promise<URL> {
  const source = (await page.locator('img.qr').getAttribute('src')) ?? '';
  const [, base64 = ''] = /^data:image\/png;base64,(.+)$/.exec(source) ?? [];
  const { data, width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  const found = decoder.default(new Uint8ClampedArray(data), width, height);
  return new URL(found?.data ?? 'about:blank');
}

/** @param ahead steps from now; a step that was used is never good again, and the window reaches one ahead */
const codeOf = (uri: URL, ahead = 0): string =>
  generateSync({
    secret: uri.searchParams.get('secret') ?? '',
    epoch: Math.floor(Date.now() / 1000) + ahead * STEP_SECONDS,
  });

/** As people type it. The page sends it by itself once it is complete. */
const type = (page: Page, code: string): Promise<void> =>
  loaded(page, () => page.locator('#code').pressSequentially(code));

const spaced = (code: string): string => `${code.slice(0, 3)} ${code.slice(3)}`;

/** From the page with the QR code to the application. */
async function enrol(page: Page, shots?: string): Promise<{ uri: URL; recovery: string[] }> {
  assert.equal(await heading(page), 'Set up your authenticator app');
  if (shots !== undefined) await shoot(page, `${shots}-enrol`);
  const uri = await scan(page);
  await type(page, codeOf(uri));
  assert.equal(await heading(page), 'Save your recovery codes');
  if (shots !== undefined) await shoot(page, `${shots}-recovery-codes`);
  const recovery = await page.locator('#codes code').allTextContents();
  await loaded(page, () => page.getByRole('button', { name: 'I’ve saved them' }).click());
  return { uri, recovery };
}

async function useRecoveryCode(page: Page, code: string): Promise<void> {
  await loaded(page, () => page.getByRole('link', { name: 'Use a recovery code' }).click());
  await page.getByLabel('Recovery code').fill(code);
  await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
}

/** The code in the latest mail to this address that is not `before`. */
async function mailedCode(address: string, before = ''): Promise<string> {
  for (let tries = 0; tries < 100; tries += 1) {
    const mail = mails.received.findLast(({ to }) => to.includes(address))?.mail;
    const code = /\n {4}(\d{6})\n/.exec(mail?.text ?? '')?.[1] ?? '';
    if (code !== '' && code !== before) return code;
    await sleep(100);
  }
  throw new Error(`no code for ${address} in ${mails.received.length} mails`);
}

test('from the first scan to a reset: enrolment, a typed code, a trusted device, an administrator', () =>
  inWindow(async (page) => {
    const person = await createPerson('grace');
    await signIn(page, person);
    const { uri, recovery } = await enrol(page, 'second-factor');
    assert.equal(uri.protocol, 'otpauth:');
    assert.match(decodeURIComponent(uri.pathname), /Latchkey:grace$/);
    assert.equal(new Set(recovery).size, 10);
    await expectHello(page, person);
    await signOut(page);

    await signIn(page, person);
    assert.equal(await heading(page), 'Enter the code from your app');
    await type(page, '000 000');
    assert.match((await page.getByRole('alert').textContent()) ?? '', /code/i);
    await shoot(page, 'second-factor-wrong-code');
    await page.getByLabel(/Don’t ask on this device again/).check();
    await type(page, spaced(codeOf(uri, 1)));
    await expectHello(page, person);
    await signOut(page);

    await signIn(page, person);
    await expectHello(page, person);
    await signOut(page);
    // Another browser is not trusted because this one is.
    await inWindow(async (other) => {
      await signIn(other, person);
      assert.equal(await heading(other), 'Enter the code from your app');
    });

    await server.admin('PUT', `/users/${person.id}`, { totp_verified: false });
    await signIn(page, person);
    const fresh = await enrol(page);
    assert.notEqual(fresh.uri.searchParams.get('secret'), uri.searchParams.get('secret'));
    assert.ok(!fresh.recovery.some((code) => recovery.includes(code)));
    await expectHello(page, person);
  }));

test('a recovery code gets in once', async () => {
  const person = await createPerson('heidi');
  let recovery: string[] = [];
  await inWindow(async (page) => {
    await signIn(page, person);
    ({ recovery } = await enrol(page));
    await expectHello(page, person);
  });
  const [code = '', next = ''] = recovery;
  await inWindow(async (page) => {
    await signIn(page, person);
    await useRecoveryCode(page, code.toUpperCase());
    await expectHello(page, person);
  });
  await inWindow(async (page) => {
    await signIn(page, person);
    await useRecoveryCode(page, code);
    assert.equal(await heading(page), 'Enter a recovery code');
    assert.equal(await page.getByRole('alert').count(), 1);
    await shoot(page, 'second-factor-recovery');
    await page.getByLabel('Recovery code').fill(next);
    await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
    await expectHello(page, person);
  });
});

test('a code by e-mail instead of an app, read from the mail server', () =>
  inWindow(async (page) => {
    const person = await createPerson('erin');
    const address = 'erin@example.com';
    await signIn(page, person);
    await loaded(page, () => page.getByRole('button', { name: 'Use codes by e-mail instead' }).click());
    assert.equal(await heading(page), 'Enter the code from your e‑mail');
    assert.ok(!((await page.locator('main').textContent()) ?? '').includes(address), 'the address is masked');
    await shoot(page, 'second-factor-email');
    const code = await mailedCode(address);
    await type(page, spaced(code));
    if ((await heading(page)) === 'Save your recovery codes')
      await loaded(page, () => page.getByRole('button', { name: 'I’ve saved them' }).click());
    await expectHello(page, person);
  }));
