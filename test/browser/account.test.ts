// The self-service pages in a real Chromium: every act by mouse, without scripts, and by keyboard alone.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { codeOf, scan, type } from './phone-steps.ts';
import { type RunningServer, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { enter, heading, loaded } from './steps.ts';
import { openWindow, withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';
const NEXT_PASSWORD = 'seven green kettles on a shelf';

let browser: Browser;
let server: RunningServer;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
});
after(async () => {
  await browser.close();
  assert.equal(await server.stop(), 0);
});

const inWindow = (act: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> =>
  withWindow(browser, ({ page }) => act(page), options);

async function createPerson(username: string, fields: object = {}) {
  await server.admin('POST', '/users', { username, password: PASSWORD, ...fields });
  return { username, password: PASSWORD };
}

async function signIn(page: Page, person: { username: string; password: string }, path = ''): Promise<void> {
  await page.goto(`${server.origin}/account${path}`);
  await loaded(page, () => enter(page, person));
}

const press = (page: Page, name: string, role: 'button' | 'link' = 'button'): Promise<void> =>
  loaded(page, () => page.getByRole(role, { name, exact: true }).first().click());

/** What is behind "Turn off" and its like: opened first, then pressed. */
async function ask(page: Page, name: string): Promise<void> {
  await page.locator('summary', { hasText: name }).first().click();
  await loaded(page, () => page.locator('details[open] button').first().click());
}

const said = async (page: Page): Promise<string> =>
  ((await page.locator('.note:not([hidden])').first().textContent()) ?? '').trim();

const panel = (page: Page, name: string) =>
  page.locator('.panel', { has: page.getByRole('heading', { name, exact: true }) });

/** An application that was let in, in a session of its own. */
async function letIn(page: Page, clientId: string): Promise<void> {
  const query = new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    scope: 'openid email',
    redirect_uri: 'http://localhost:9/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  await page.goto(`${server.origin}/oauth2/authorize?${query}`);
  // No one is there to answer; that it was sent there is enough.
  const arrived = page.waitForEvent('requestfailed', (request) =>
    request.url().startsWith('http://localhost:9/'),
  );
  await Promise.all([arrived, page.getByRole('button', { name: 'Allow' }).click()]);
}

test('account: password, TOTP, recovery codes, sessions, devices and applications by mouse', async () => {
  const ada = await createPerson('ada', {
    email: 'ada@example.com',
    given_name: 'Ada',
    family_name: 'Byron',
  });
  const application = await server.admin('POST', '/clients', {
    client_name: 'Acme Analytics',
    redirect_uris: ['http://localhost:9/callback'],
    grant_types: ['authorization_code'],
  });
  const phone = await openWindow(browser, { userAgent: 'Mozilla/5.0 (iPhone) Version/18.0 Safari/605.1' });
  await signIn(phone.page, ada);
  assert.equal(await heading(phone.page), 'Your account');

  await inWindow(async (page) => {
    await signIn(page, ada);
    const send = page.getByRole('button', { name: 'Send confirmation e-mail' });
    assert.equal(await send.count(), 0, 'no mail server: nothing would come');
    await server.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
    await page.reload();
    await press(page, 'Send confirmation e-mail');
    assert.equal(await said(page), 'We’re sending you an e-mail. Open the link in it.');

    await press(page, 'Sign out: Safari on iPhone');
    assert.equal(await said(page), 'Device signed out.');
    await phone.page.reload();
    assert.match(phone.page.url(), /oauth2\/authorize/);

    await press(page, 'Change your password', 'link');
    await page.getByLabel('Current password').fill('not this one');
    await page.getByLabel('New password').fill(NEXT_PASSWORD);
    await page.getByLabel('Confirm password').fill(NEXT_PASSWORD);
    await page.locator('.strength[data-level="4"]').waitFor();
    await press(page, 'Change password');
    assert.match((await page.getByRole('alert').textContent()) ?? '', /current password is incorrect/);
    assert.equal(await page.getByLabel('New password').inputValue(), '');
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByLabel('New password').fill(NEXT_PASSWORD);
    await page.getByLabel('Confirm password').fill(NEXT_PASSWORD);
    await press(page, 'Change password');
    assert.match(await said(page), /^Password changed/);

    await press(page, 'Set up: Authenticator app', 'link');
    const first = await scan(page);
    await type(page, codeOf(first));
    assert.equal(await heading(page), 'Save your recovery codes');
    const codes = await page.locator('#codes code').allTextContents();
    assert.equal(codes.length, 10);
    await press(page, 'I’ve saved my codes', 'link');
    await ask(page, 'Create new codes');
    assert.equal(
      (await page.locator('#codes code').allTextContents()).some((code) => codes.includes(code)),
      false,
    );
    await press(page, 'I’ve saved my codes', 'link');
    await press(page, 'Use a different app or phone', 'link');
    const second = await scan(page);
    assert.notEqual(second.searchParams.get('secret'), first.searchParams.get('secret'));
    await type(page, codeOf(second));
    assert.equal(await said(page), 'Your new authenticator app is set up.');

    // Another browser, with the code, which it is then trusted for.
    await loaded(phone.page, () => enter(phone.page, { ...ada, password: NEXT_PASSWORD }));
    await phone.page.getByLabel(/Don’t ask on this device again/).check();
    await type(phone.page, codeOf(second, 1));
    assert.equal(await heading(phone.page), 'Your account');
    await letIn(phone.page, String(application.client_id));

    await press(page, 'Back to your account', 'link');
    assert.match((await panel(page, 'How you sign in').textContent()) ?? '', /Strong.*well protected/s);
    await shoot(page, 'account');
    await press(page, 'Remove: Safari on iPhone');
    assert.equal(await page.getByRole('heading', { name: 'Trusted devices' }).count(), 0);
    assert.match(
      (await panel(page, 'Applications with access').textContent()) ?? '',
      /See your e-mail address/,
    );
    await ask(page, 'Remove access');
    assert.match(
      (await panel(page, 'Applications with access').textContent()) ?? '',
      /No application has access/,
    );
    await ask(page, 'Sign out everywhere else');
    assert.equal(await said(page), 'Signed out everywhere else.');
    assert.match((await panel(page, 'Recent activity').textContent()) ?? '', /Signed out elsewhere/);

    await press(page, 'Manage: Authenticator app', 'link');
    await ask(page, 'Turn off');
    assert.equal(await said(page), 'Second step turned off.');
    await press(page, 'Back to your account', 'link');
    await press(page, 'Sign out', 'link');
    assert.equal(await heading(page), 'You’re signed out');
  });
  await phone.close();
});

test('account without scripts: new password after a mistake, TOTP on, new codes, TOTP off', async () => {
  const bob = await createPerson('bob');
  await inWindow(
    async (page) => {
      await signIn(page, bob, '/password');
      assert.equal(await heading(page), 'Change your password');
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('New password').fill(NEXT_PASSWORD);
      await page.getByLabel('Confirm password').fill('something else');
      await press(page, 'Change password');
      assert.match((await page.getByRole('alert').textContent()) ?? '', /passwords don’t match/);
      await page.getByLabel('Current password').fill(PASSWORD);
      await page.getByLabel('New password').fill(NEXT_PASSWORD);
      await page.getByLabel('Confirm password').fill(NEXT_PASSWORD);
      await press(page, 'Change password');
      assert.match(await said(page), /^Password changed/);
      await press(page, 'Set up authenticator app', 'link');
      const uri = await scan(page);
      await page.getByLabel(/six-digit code/).fill('000000');
      await press(page, 'Turn on');
      assert.equal(await page.getByRole('alert').count(), 1);
      await page.getByLabel(/six-digit code/).fill(codeOf(uri));
      await press(page, 'Turn on');
      assert.equal(await page.locator('#codes code').count(), 10);
      await press(page, 'I’ve saved my codes', 'link');
      await ask(page, 'Create new codes');
      await press(page, 'I’ve saved my codes', 'link');
      await ask(page, 'Turn off');
      assert.equal(await said(page), 'Second step turned off.');
    },
    { javaScriptEnabled: false },
  );
});

test('account by keyboard in Arabic: through the confirmation to an announced result', async () => {
  const carol = await createPerson('carol');
  await inWindow(
    async (page) => {
      const other = await openWindow(browser);
      await signIn(other.page, carol);
      await page.goto(`${server.origin}/account`);
      await page.locator('input[name="username"]').fill(carol.username);
      await page.locator('input[name="password"]').fill(carol.password);
      await loaded(page, () => page.keyboard.press('Enter'));
      assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
      await shoot(page, 'account-arabic');
      const focused = (): Promise<string> =>
        page.evaluate('document.activeElement?.closest("form")?.action ?? ""');
      for (let tabs = 0; tabs < 60 && !(await focused()).endsWith('/sessions/end'); tabs += 1)
        await page.keyboard.press('Tab');
      assert.match(await focused(), /\/sessions\/end$/);
      const isShown = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle !== "none"');
      assert.equal(isShown, true, 'where the keyboard is can be seen');
      await loaded(page, () => page.keyboard.press('Enter'));
      assert.equal(await page.getByRole('status').first().isVisible(), true);
      for (let tabs = 0; tabs < 60; tabs += 1) {
        await page.keyboard.press('Tab');
        if (await page.evaluate('document.activeElement?.tagName === "SUMMARY"')) break;
      }
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await loaded(page, () => page.keyboard.press('Space'));
      assert.match(page.url(), /notice=sessions_ended/);
      await other.close();
    },
    { locale: 'ar' },
  );
});

for (const [how, options] of [
  ['on a phone without scripts', { javaScriptEnabled: false, viewport: { width: 390, height: 844 } }],
  ['in the dark by keyboard', { colorScheme: 'dark' }],
] as const) {
  test(`account: applications, then deleted and kept, ${how}`, async () => {
    // A picture waits for a frame, which needs scripts.
    const picture = (page: Page, name: string): Promise<void> =>
      'javaScriptEnabled' in options ? Promise.resolve() : shoot(page, name);
    const dora = await createPerson(`dora-${how.length}`, { given_name: 'Dora' });
    await server.admin('POST', '/clients', {
      client_name: 'Acme Wiki',
      client_uri: 'https://wiki.acme.example/',
      redirect_uris: ['https://wiki.acme.example/callback'],
    });
    await inWindow(async (page) => {
      await signIn(page, dora);
      await press(page, 'Show your applications', 'link');
      assert.equal(await heading(page), 'Your applications');
      const tile = page.getByRole('link', { name: 'Acme Wiki' }).first();
      assert.equal(await tile.getAttribute('href'), 'https://wiki.acme.example/');
      await picture(page, 'account-launcher');
      await press(page, 'Back to your account', 'link');
      await press(page, 'Delete my account', 'link');
      await picture(page, 'account-delete');
      await page.locator('#username').fill('someone-else');
      await loaded(page, () => page.keyboard.press('Enter'));
      assert.match((await page.locator('#username-error').textContent()) ?? '', /not your username/);
      await page.locator('#username').fill(dora.username);
      await loaded(page, () => page.keyboard.press('Enter'));
      assert.equal(await heading(page), 'Your account will be deleted');
      await press(page, 'Keep my account', 'link');
      await loaded(page, () => enter(page, dora));
      assert.equal(await heading(page), 'Keep your account?');
      await picture(page, 'account-leaving');
      await page.getByRole('button', { name: 'Keep my account' }).focus();
      await loaded(page, () => page.keyboard.press('Enter'));
      assert.equal(await heading(page), 'Your account');
    }, options);
  });
}
