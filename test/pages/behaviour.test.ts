// Behaviour of pages: keyboard, errors, waiting, no scripts, no network.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Sample } from '../../src/admin/resources/branding/samples/sample.ts';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { launch, open } from './browser.ts';
import { type PageServer, startPages } from './server.ts';

const long = {
  username: 'maximiliane.von-und-zu-hohenlohe-langenburg@subsidiary.acme.example',
  name: 'Maximiliane Alexandra Katharina Donaudampfschifffahrtselektrizitätengesellschaft zu Hohenlohe',
};
const shown: Record<string, Sample> = {
  ...samples,
  'login-soon': {
    ...samples['login-limited'],
    model: { ...samples['login-limited'].model, retryAfterSeconds: 1 },
  },
  'login-dead-logo': {
    ...samples.login,
    model: { ...samples.login.model, clientId: 'dead-logo' },
  },
  'login-long-name': {
    ...samples['login-known'],
    model: { ...samples['login-known'].model, account: long },
  },
  'login-long-names': {
    ...samples['login-people'],
    model: {
      ...samples['login-people'].model,
      people: [{ ...long, handle: 'a', url: '/oauth2/login?as=a' }],
    },
  },
};

let browser: Browser;
let pages: PageServer;
before(async () => {
  [browser, pages] = await Promise.all([
    launch(),
    startPages({ samples: shown, delayMs: 400, iconOf: (id) => (id === 'dead-logo' ? 'gone' : undefined) }),
  ]);
});
after(async () => {
  await browser.close();
  await pages.close();
});

const lastPosted = (): Record<string, string> => Object.fromEntries(new URLSearchParams(pages.posted.at(-1)));
const focused = (page: Page): Promise<string> =>
  page.evaluate(
    'document.activeElement.name || document.activeElement.id || document.activeElement.className || document.activeElement.textContent',
  );

test('login page: keyboard order from top to bottom', async () => {
  const { page, complaints, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login`);
  const order = [await focused(page)];
  for (let press = 0; press < 8; press++) {
    await page.keyboard.press('Tab');
    order.push(await focused(page));
  }
  assert.deepEqual(order, [
    'username',
    'password',
    'reveal',
    'button primary',
    'action',
    '\nLanguage: English',
    'Help',
    'Privacy',
    'Terms',
  ]);
  assert.deepEqual(complaints, []);
  await close();
});

test('failed sign-in: the alert has focus, the username stays, the password is cleared', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login-failed`);
  await page.locator('#alert:focus').waitFor();
  assert.equal(await page.getAttribute('#alert', 'role'), 'alert');
  assert.equal(await page.inputValue('#username'), 'ada.lovelace@acme.example');
  assert.equal(await page.inputValue('#password'), '');
  await page.goto(`${pages.origin}/show/onboard-errors`);
  await page.click('#alert a[href="#email"]');
  assert.equal(await page.getAttribute('#email', 'aria-invalid'), 'true');
  assert.match((await page.getAttribute('#email', 'aria-describedby')) ?? '', /email-error/);
  await close();
});

test('double submit: the form is sent once, shows progress, and is restored by the back button', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login`);
  const before = pages.posted.length;
  await page.fill('#username', 'ada');
  await page.fill('#password', 'pa ss+wörd&=%');
  const seen = await page.evaluate(`(() => {
    const button = document.querySelector('.primary');
    const { width } = button.getBoundingClientRect();
    for (let click = 0; click < 5; click++) button.click();
    document.querySelector('[value=cancel]').click();
    return [button.getAttribute('aria-busy'), button.getBoundingClientRect().width === width,
      document.getElementById('status').textContent];
  })()`);
  assert.deepEqual(seen, ['true', true, 'Please wait.']);
  await page.waitForURL('**/oauth2/login');
  assert.equal(pages.posted.length, before + 1);
  const { csrf, interaction, username, password, action } = lastPosted();
  assert.deepEqual([username, password, action], ['ada', 'pa ss+wörd&=%', undefined]);
  assert.ok(csrf && interaction);

  await page.goBack();
  await page.fill('#username', 'ada');
  await page.fill('#password', 'secret');
  // A page that comes back from the browser's memory is as it was left: told so, it calms down.
  const restored = await page.evaluate(`(() => {
    document.querySelector('.primary').click();
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    return [document.querySelector('.primary').hasAttribute('aria-busy'), document.getElementById('password').value];
  })()`);
  assert.deepEqual(restored, [false, '']);
  await close();
});

test('cancel: needs no password', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login`);
  await page.click('[value=cancel]');
  await page.waitForURL('**/oauth2/login');
  assert.equal(lastPosted().action, 'cancel');
  await close();
});

test('a very long name: two lines on a small phone, whole in its tip and to screen readers', async () => {
  const { page, close } = await open(browser, { viewport: { width: 320, height: 640 } });
  for (const [name, role] of [
    ['login-long-name', 'main'],
    ['login-long-names', 'link'],
  ] as const) {
    await page.goto(`${pages.origin}/show/${name}`);
    const names = await page.evaluate<[title: string, text: string, lines: number][]>(
      `[...document.querySelectorAll('.who bdi')].map((one) => [one.title, one.textContent.replaceAll('\\u200b', ''),
        Math.round(one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight))])`,
    );
    assert.deepEqual(
      names,
      [long.name, long.username].map((text) => [text, text, 2]),
    );
    assert.match(await page.getByRole(role).first().ariaSnapshot(), /Maximiliane Alexandra .* zu Hohenlohe/);
  }
  await page.goto(`${pages.origin}/show/login-known`);
  assert.equal(await page.locator('.who [title]').count(), 0);
  await close();
});

test('missing input: reported at the field in the page’s language', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/onboard?lang=de`);
  const sent = pages.posted.length;
  await page.click('.primary');
  assert.equal(await page.textContent('#username-error'), 'Bitte ausfüllen.');
  assert.equal(await focused(page), 'username');
  await page.fill('#username', 'ada');
  assert.equal(await page.textContent('#username-error'), '');
  await page.fill('#email', 'ada@');
  await page.fill('#password', 'long enough');
  await page.fill('#confirm_password', 'long enouhg');
  await page.click('.primary');
  assert.equal(await page.textContent('#email-error'), 'Geben Sie eine gültige E-Mail-Adresse ein.');
  assert.equal(await page.textContent('#confirm_password-error'), 'Die Passwörter stimmen nicht überein.');
  assert.equal(pages.posted.length, sent);
  await page.fill('#email', '');
  await page.fill('#confirm_password', 'long enough');
  await page.click('.primary');
  await page.waitForURL('**/oauth2/onboard');
  assert.equal(lastPosted().username, 'ada');
  await close();
});

test('password field: can be shown, and Caps Lock is reported', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/onboard`);
  const reveal = page.locator('#password + .reveal');
  await reveal.click();
  assert.equal(await page.getAttribute('#password', 'type'), 'text');
  assert.equal(await reveal.getAttribute('aria-pressed'), 'true');
  await reveal.click();
  assert.equal(await page.getAttribute('#password', 'type'), 'password');
  await page.evaluate(
    `document.getElementById('password').dispatchEvent(new KeyboardEvent('keydown', { key: 'A', modifierCapsLock: true }))`,
  );
  assert.equal(await page.locator('.caps').first().textContent(), 'Caps Lock is on');
  await close();
});

test('without scripts: every form works and no scripted control is shown', async () => {
  const { page, complaints, close } = await open(browser, { javaScriptEnabled: false });
  await page.goto(`${pages.origin}/show/login`);
  assert.equal(await page.locator('.reveal').isVisible(), false);
  await page.locator('#username').fill('ada');
  await page.locator('#password').fill('secret');
  await page.locator('.primary').click();
  await page.waitForURL('**/oauth2/login');
  assert.deepEqual([lastPosted().username, lastPosted().password], ['ada', 'secret']);

  await page.goto(`${pages.origin}/show/consent`);
  await page.locator('button[value=deny]').click();
  await page.waitForURL('**/oauth2/consent');
  assert.equal(lastPosted().action, 'deny');

  await page.goto(`${pages.origin}/show/onboard`);
  assert.equal(await page.locator('.strength').isVisible(), false);

  await page.goto(`${pages.origin}/show/logout-confirm`);
  await page.locator('.primary').click();
  await page.waitForURL('**/oauth2/logout');
  assert.equal(lastPosted().state, 'xyz');

  await page.goto(`${pages.origin}/show/device`);
  await page.locator('#user_code').fill('wdjb mjht');
  await page.locator('.primary').click();
  await page.waitForURL('**/oauth2/device');
  assert.equal(lastPosted().user_code, 'wdjb mjht');

  await page.goto(`${pages.origin}/show/continue`);
  await page.locator('.primary').click();
  await page.waitForURL('**/landed');
  assert.equal(lastPosted().code, 'abc');

  await page.goto(`${pages.origin}/show/recovery-codes`);
  assert.equal(await page.locator('.copy').first().isVisible(), false);
  assert.deepEqual(complaints, []);
  await close();
});

test('offline: the page says so, and says when it is back', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login`);
  const notice = page.locator('#offline');
  assert.equal(await notice.isVisible(), false);
  await page.context().setOffline(true);
  await notice.waitFor({ state: 'visible' });
  await page.context().setOffline(false);
  await notice.waitFor({ state: 'hidden' });
  await close();
});

test('form sent offline: keeps its input and is sent once online', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login`);
  const sent = pages.posted.length;
  await page.getByLabel('Username or e-mail').fill('ada');
  await page.getByLabel('Password', { exact: true }).fill('plum trees in June');
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('#status', { hasText: 'You’re offline' }).waitFor({ state: 'attached' });
  assert.equal(await page.locator('#offline').isVisible(), true);
  assert.equal(await page.getByLabel('Username or e-mail').inputValue(), 'ada');
  assert.equal(await page.getByLabel('Password', { exact: true }).inputValue(), 'plum trees in June');
  assert.equal(pages.posted.length, sent);
  await page.context().setOffline(false);
  await Promise.all([
    page.waitForEvent('load'),
    page.getByRole('button', { name: 'Sign in', exact: true }).click(),
  ]);
  assert.equal(pages.posted.length, sent + 1);
  assert.equal(lastPosted().username, 'ada');
  await close();
});

test('wait: counts down and ends', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login-limited`);
  assert.match((await page.textContent('[role=timer]')) ?? '', /^1:3[3-5]$/);
  await page.goto(`${pages.origin}/show/login-soon`);
  await page.locator('#alert', { hasText: 'You can try again now.' }).waitFor();
  await close();
});

test('broken logo: replaced by the first letter', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login-dead-logo`);
  await page.locator('.avatar img').waitFor({ state: 'detached' });
  assert.equal((await page.textContent('.avatar'))?.trim(), 'A');
  await close();
});
