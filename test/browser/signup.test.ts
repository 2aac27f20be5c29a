// Sign-up in a real Chromium: with a mailed code (of a real SMTP server) and without an address, by an invitation, with and
// without scripts; at the end users are signed in at the application. Takes screenshots of every page.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type MailServer, startMailServer } from '../mail/support.ts';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { claim, connect, enter, heading, loaded, registerSample } from './steps.ts';
import { withoutAutofill } from './virtual-authenticator.ts';
import { withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';
const MAIL_MS = 60_000;

let browser: Browser;
let server: RunningServer;
let sample: Program;
let mails: MailServer;
let clientId: string;

before(async () => {
  [browser, server, mails] = await Promise.all([launch(), startServer(), startMailServer()]);
  sample = await startSample(server.issuer);
  const credentials = await registerSample(server, sample, { client_uri: `${sample.origin}/sign-in` });
  clientId = credentials.clientId;
  await inWindow((page) => connect(page, sample, credentials));
});

beforeEach(async () => {
  await server.admin('PATCH', '/settings', {
    smtp_url: mails.url(),
    allow_self_signup: true,
    signup_require_verified_email: true,
    signup_email: 'required',
    terms_url: '',
    privacy_url: '',
  });
});

after(async () => {
  await browser.close();
  const codes = [await sample.stop(), await server.stop()];
  await mails.close();
  assert.deepEqual(codes, [0, 0]);
});

const inWindow = (act: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> =>
  withWindow(browser, ({ page }) => act(page), options);

/** Of the newest mail to that address. */
async function mailTo(address: string): Promise<string> {
  for (let waited = 0; waited < MAIL_MS; waited += 100) {
    const mail = mails.received.findLast(({ to }) => to.includes(address));
    if (mail !== undefined) return mail.mail.text ?? '';
    await sleep(100);
  }
  return assert.fail(`no mail to ${address}`);
}

const codeTo = async (address: string): Promise<string> =>
  /^ {4}(\d{6})$/m.exec(await mailTo(address))?.[1] ?? assert.fail('no code in the mail');

async function openForm(page: Page): Promise<void> {
  await page.goto(`${sample.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
  await loaded(page, () => page.getByRole('link', { name: 'Create an account' }).click());
  assert.equal(await heading(page), 'Create your account');
}

async function fillPasswords(page: Page, password = PASSWORD): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Confirm password').fill(password);
}

const send = (page: Page): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name: 'Create account' }).click());

test('sign-up with a confirmed address: form, code from the mail, signed in', () =>
  inWindow(async (page) => {
    await page.goto(`${sample.origin}/`);
    await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
    await shoot(page, 'signup-way-in');
    await openForm(page);
    await shoot(page, 'signup-form');
    // Autofocus comes with a later frame than the page's load.
    await page.waitForFunction("document.activeElement.id === 'email'");
    await page.keyboard.type('grace@example.com');
    await page.getByLabel('Username').fill('grace');
    await page.getByLabel('First name').fill('Grace');
    await fillPasswords(page);
    await send(page);
    assert.equal(await heading(page), 'Enter the code from your e‑mail');
    await shoot(page, 'signup-code');
    await loaded(page, () => page.locator('#code').pressSequentially('000000'));
    assert.match((await page.getByRole('alert').textContent()) ?? '', /Incorrect/);
    await shoot(page, 'signup-code-wrong');
    // As soon as all six digits are in, the form is sent.
    const code = await codeTo('grace@example.com');
    await page.locator('#code').pressSequentially(code);
    await page.waitForURL(`${sample.origin}/`);
    assert.equal(await heading(page), 'Hello, Grace');
    assert.equal(await claim(page, 'ID token', 'given_name'), 'Grace');
    assert.equal(await claim(page, 'ID token', 'email_verified'), 'true');
  }));

test('sign-up where the browser can create passkeys: one is offered, and signs in the next time', () =>
  inWindow(async (page) => {
    await withoutAutofill(page);
    await plugIn(page);
    await openForm(page);
    await page.getByLabel('E-mail').fill('hedy@example.com');
    await page.getByLabel('Username').fill('hedy');
    await fillPasswords(page);
    await send(page);
    await page.locator('#code').pressSequentially(await codeTo('hedy@example.com'));
    await page.getByRole('heading', { name: 'Sign in faster next time?' }).waitFor();
    await shoot(page, 'signup-passkey');
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.waitForURL(`${sample.origin}/`);
    // The authenticator has just verified them: nobody asks again who they are.
    for (const path of ['/account', '/account/passkeys']) {
      await page.goto(`${server.origin}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      assert.equal(await page.getByText(/sign in again/i).count(), 0, path);
    }
    await page.goto(`${sample.origin}/`);
    await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());
    await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Hello, hedy' }).waitFor();
  }));

test('sign-up without an address: one page, then signed in', async () => {
  await server.admin('PATCH', '/settings', {
    signup_require_verified_email: false,
    signup_email: 'hidden',
    terms_url: 'https://acme.example/terms',
    privacy_url: 'https://acme.example/privacy',
  });
  await inWindow(async (page) => {
    await openForm(page);
    assert.equal(await page.getByLabel('E-mail').count(), 0);
    await page.getByLabel('Username').fill('linus');
    await fillPasswords(page);
    // The page itself says what is missing; nothing is sent.
    await page.getByRole('button', { name: 'Create account' }).click();
    assert.equal(await page.locator('#accept_terms-error').textContent(), 'Select the box to continue.');
    await page.getByLabel('I accept the terms').check();
    await shoot(page, 'signup-terms');
    await send(page);
    await page.waitForURL(`${sample.origin}/`);
    assert.equal(await heading(page), 'Hello, linus');
  });
});

test('sign-up with an optional address: it may be left out', async () => {
  await server.admin('PATCH', '/settings', {
    signup_require_verified_email: false,
    signup_email: 'optional',
  });
  await inWindow(async (page) => {
    await openForm(page);
    await page.getByLabel('E-mail').fill('later@example.com');
    await page.getByLabel('Username').fill('later');
    await fillPasswords(page);
    await send(page);
    await shoot(page, 'signup-code-skip');
    await loaded(page, () => page.getByRole('button', { name: 'Continue without this address' }).click());
    assert.equal(await heading(page), 'Hello, later');
  });
});

test('sign-up mistakes: shown at their fields; a used name is reported, a known address is not', () =>
  inWindow(async (page) => {
    await server.admin('POST', '/users', {
      username: 'owner',
      password: PASSWORD,
      email: 'owner@example.com',
      is_email_verified: true,
    });
    await openForm(page);
    await page.getByLabel('E-mail').fill('owner@example.com');
    await page.getByLabel('Username').fill('Owner');
    await fillPasswords(page);
    await send(page);
    assert.match((await page.getByRole('alert').textContent()) ?? '', /This username is already taken/);
    assert.equal(await page.getByLabel('E-mail').inputValue(), 'owner@example.com');
    assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), '');
    await shoot(page, 'signup-taken');
    await page.getByLabel('Username').fill('another');
    await fillPasswords(page);
    await send(page);
    assert.equal(await heading(page), 'Enter the code from your e‑mail');
    assert.match(await mailTo('owner@example.com'), /already have an account/);
    // The way back, for who sees that mail.
    await loaded(page, () => page.getByRole('link', { name: 'Use a different address' }).click());
    await loaded(page, () => page.getByRole('link', { name: 'I already have an account' }).click());
    assert.equal(await heading(page), 'Sign in to Sample');
  }));

test('sign-up by invitation while sign-up is closed: link, form, application', async () => {
  await server.admin('PATCH', '/settings', { allow_self_signup: false });
  await server.admin('POST', '/invitations', { email: 'guest@example.com', client_id: clientId });
  const link = /https?:\/\/\S+\?token=[\w-]+/.exec(await mailTo('guest@example.com'))?.[0] ?? '';
  await inWindow(async (page) => {
    await page.goto(`${sample.origin}/`);
    await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
    assert.equal(await page.getByRole('link', { name: 'Create an account' }).count(), 0);

    await page.goto(link);
    assert.equal(await heading(page), 'Create your account');
    await shoot(page, 'invitation');
    await page.getByLabel('Username').fill('guest');
    await fillPasswords(page);
    await send(page);
    assert.equal(await heading(page), 'Your account is ready');
    await shoot(page, 'invitation-done');
    await loaded(page, () => page.getByRole('link', { name: 'Continue to Sample' }).click());
    await page.waitForURL(`${sample.origin}/`);
    // No password was asked again.
    if ((await heading(page)) !== 'Hello, guest') {
      await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
    }
    assert.equal(await heading(page), 'Hello, guest');
    await page.goto(link);
    assert.equal(await heading(page), 'This invitation is no longer valid');
  });
});

test('sign-up without scripts: a mistake, the code, signed in, and again by password', () =>
  inWindow(
    async (page) => {
      await openForm(page);
      await page.getByLabel('E-mail').fill('plain@example.com');
      await page.getByLabel('Username').fill('plain');
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.getByLabel('Confirm password').fill('something else');
      await send(page);
      assert.match((await page.getByRole('alert').textContent()) ?? '', /passwords don’t match/);
      await fillPasswords(page);
      await send(page);
      await page.locator('#code').fill(await codeTo('plain@example.com'));
      await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
      assert.equal(await heading(page), 'Hello, plain');
      await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());
      await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
      await loaded(page, () => enter(page, { username: 'plain@example.com', password: PASSWORD }));
      assert.equal(await heading(page), 'Hello, plain');
    },
    { javaScriptEnabled: false },
  ));

/** A platform authenticator that checks who holds it (WebDriver extension of WebAuthn §11.2). */
async function plugIn(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

const makePasskey = (page: Page): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name: 'Create a passkey' }).click());

/** Before passwords can go, an administrator has to have a passkey. */
async function leavePasswordsBehind(): Promise<void> {
  const admin = { username: 'root-admin', password: PASSWORD };
  await server.admin('POST', '/users', { ...admin, role: 'admin' });
  await inWindow(async (page) => {
    await plugIn(page);
    await page.goto(`${sample.origin}/`);
    await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
    await loaded(page, () => enter(page, admin));
    await makePasskey(page);
    await page.waitForURL(`${sample.origin}/`);
  });
  await server.admin('PATCH', '/settings', { auth_mode: 'passkey_only' });
}

test('sign-up with passkeys only: by form, invitation and administrator’s link', async () => {
  await leavePasswordsBehind();
  await inWindow(async (page) => {
    await plugIn(page);
    await openForm(page);
    assert.equal(await page.locator('input[type=password]').count(), 0);
    await shoot(page, 'signup-passkey');
    await page.getByLabel('E-mail').fill('kay@example.com');
    await page.getByLabel('Username').fill('kay');
    await send(page);
    await page.locator('#code').pressSequentially(await codeTo('kay@example.com'));
    await page.getByRole('heading', { name: 'Create your passkey' }).waitFor();
    await shoot(page, 'signup-passkey-enrol');
    await makePasskey(page);
    assert.equal(await heading(page), 'Save your recovery codes');
    await loaded(page, () => page.getByRole('button', { name: 'I’ve saved my codes' }).click());
    assert.equal(await heading(page), 'Hello, kay');
  });

  await server.admin('POST', '/invitations', { email: 'ivy@example.com', client_id: clientId });
  const { id } = await server.admin('POST', '/users', {
    username: 'max',
    password: PASSWORD,
    email: 'max@example.com',
  });
  await server.admin('POST', `/users/${String(id)}/send-enrolment-link`);
  for (const name of ['ivy', 'max']) {
    const link = /https?:\/\/\S+\?token=[\w-]+/.exec(await mailTo(`${name}@example.com`))?.[0] ?? '';
    await inWindow(async (page) => {
      await plugIn(page);
      await page.goto(link);
      await shoot(page, `passkey-link-${name}`);
      if (name === 'ivy') {
        await page.getByLabel('Username').fill(name);
        await send(page);
      } else await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
      assert.equal(await heading(page), 'Your account is ready');
      await page.goto(`${sample.origin}/`);
      await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
      assert.equal(await heading(page), 'Create your passkey');
      await makePasskey(page);
      await loaded(page, () => page.getByRole('button', { name: 'I’ve saved my codes' }).click());
      assert.equal(await heading(page), `Hello, ${name}`);
    });
  }
});
