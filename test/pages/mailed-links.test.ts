// Behaviour of the pages for mailed links: the request, a page with one button behind each link, and a new password rated by
// what attackers know.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { launch, open } from './browser.ts';
import { type PageServer, startPages } from './server.ts';

let browser: Browser;
let pages: PageServer;
before(async () => {
  [browser, pages] = await Promise.all([launch(), startPages({ samples })]);
});
after(async () => {
  await browser.close();
  await pages.close();
});

const lastPosted = (): Record<string, string> => Object.fromEntries(new URLSearchParams(pages.posted.at(-1)));

test('login page: both mails are asked for with what was typed, after signing in', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/login-full`);
  const hrefs = await page.evaluate(
    `[...document.querySelectorAll('form a')].map((link) => link.getAttribute('href'))`,
  );
  // The first is for a passkey that failed twice.
  assert.deepEqual(hrefs, ['https://help.example/', '/oauth2/signup?interaction=Vb3qZk1x9rT0']);
  assert.equal(await page.isVisible('form a[href="https://help.example/"]'), false);
  // From the username to signing in, nothing comes before the password.
  const order: unknown[] = [];
  for (let press = 0; press < 6; press++) {
    await page.keyboard.press('Tab');
    order.push(
      await page.evaluate(
        'document.activeElement.value || document.activeElement.name || document.activeElement.className',
      ),
    );
  }
  assert.deepEqual(order, ['password', 'reveal', 'on', 'button primary', 'forgot', 'magic_link']);
  await page.fill('#username', 'ada');
  for (const way of ['forgot', 'magic_link']) {
    await page.click(`[value=${way}]`);
    await page.waitForURL('**/oauth2/login');
    const { username, action, interaction } = lastPosted();
    assert.deepEqual([username, action, interaction], ['ada', way, 'Vb3qZk1x9rT0']);
    await page.goBack();
  }
  await close();
});

test('mail request page: names the mail and needs a name or address', async () => {
  const { page, complaints, close } = await open(browser);
  await page.goto(`${pages.origin}/show/forgot-password`);
  // The sign-in page before may have begun a passkey sign-in by itself.
  const sent = pages.posted.length;
  await page.click('.primary');
  assert.equal(await page.textContent('#email-error'), 'This field is required.');
  assert.equal(pages.posted.length, sent);
  await page.fill('#email', 'ada@acme.example');
  await page.click('.primary');
  await page.waitForURL('**/oauth2/forgot-password');
  const { csrf, ...asked } = lastPosted();
  assert.ok(csrf);
  assert.deepEqual(asked, { interaction: 'Vb3qZk1x9rT0', email: 'ada@acme.example' });

  await page.goto(`${pages.origin}/show/forgot-password-link`);
  await page.fill('#email', 'ada@acme.example');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/oauth2/forgot-password');
  assert.equal(lastPosted().action, 'magic_link');
  assert.deepEqual(complaints, []);
  await close();
});

test('mail request rate limit: says how long to wait and keeps the address', async () => {
  const { page, close } = await open(browser);
  await page.goto(`${pages.origin}/show/forgot-password-limited`);
  await page.locator('#alert:focus').waitFor();
  assert.match((await page.textContent('[role=timer]')) ?? '', /^1:3[3-5]$/);
  assert.equal(await page.inputValue('#email'), 'ada.lovelace@acme.example');
  await close();
});

for (const javaScriptEnabled of [true, false]) {
  test(`mailed link: opening has no effect, its one button does (${javaScriptEnabled ? 'with' : 'without'} scripts)`, async () => {
    const { page, complaints, close } = await open(browser, { javaScriptEnabled });
    for (const name of ['verify-email', 'magic-link']) {
      const sent = pages.posted.length;
      await page.goto(`${pages.origin}/show/${name}`, { waitUntil: 'networkidle' });
      assert.equal(pages.posted.length, sent, name);
      assert.equal(await page.locator('button, main a').count(), 1, name);
      await page.locator('button').click();
      await page.waitForURL(`**/oauth2/${name}`);
      assert.deepEqual(Object.keys(lastPosted()), ['csrf', 'token'], name);
      assert.equal(lastPosted().token, samples[name as 'magic-link'].model.token);
    }
    assert.deepEqual(complaints, []);
    await close();
  });
}

test('new password: sent with link and username for password managers, and confirmed', async () => {
  const { page, complaints, close } = await open(browser);
  await page.goto(`${pages.origin}/show/reset-password`);
  const sent = pages.posted.length;
  // Autofocus comes with a later frame than the page's load.
  await page.waitForFunction("document.activeElement.id === 'password'");
  await page.fill('#password', 'plum trees in June');
  await page.fill('#confirm_password', 'plum trees in july');
  await page.click('.primary');
  assert.equal(await page.textContent('#confirm_password-error'), 'The passwords don’t match.');
  assert.equal(pages.posted.length, sent);
  await page.fill('#confirm_password', 'plum trees in June');
  await page.click('.primary');
  await page.waitForURL('**/oauth2/reset-password');
  const { csrf, token, ...others } = lastPosted();
  assert.ok(csrf && token);
  assert.deepEqual(others, {
    username: 'ada.lovelace',
    password: 'plum trees in June',
    confirm_password: 'plum trees in June',
  });
  await page.goto(`${pages.origin}/show/reset-password-errors`);
  await page.locator('#alert:focus').waitFor();
  assert.equal(await page.getAttribute('#password', 'aria-invalid'), 'true');
  assert.deepEqual(complaints, []);
  await close();
});

test('password strength: common passwords and the own name are weak at any length', async () => {
  const { page, complaints, close } = await open(browser);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${pages.origin}/show/onboard`, { waitUntil: 'networkidle' });
  const judges = (): string[] => asked.filter((url) => url.includes('zxcvbn'));
  // Large: only who sets a password gets them, and only then.
  assert.deepEqual(judges(), []);
  await page.fill('#username', 'lovelace.ada');
  await page.fill('#password', 'plum trees in June');
  await page.locator('.strength output', { hasText: 'Strong' }).waitFor();
  assert.equal(judges().length, 2);
  for (const [password, label] of [
    ['short', 'Weak'],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaa', 'Weak'],
    ['Password123!', 'Weak'],
    ['lovelace.ada1815', 'Weak'],
    ['a1'.repeat(64), 'Weak'],
    ['sesame oil 4', 'Good'],
    ['', ''],
  ] as const) {
    await page.fill('#password', password);
    assert.equal(await page.textContent('.strength output'), label, password);
  }
  assert.deepEqual(complaints, []);
  await close();
});

test('password strength: without word lists a simple rule is used', async () => {
  const { page, close } = await open(browser);
  await page.route('**/zxcvbn-words*', (route) => route.abort());
  await page.goto(`${pages.origin}/show/reset-password`);
  await page.fill('#password', 'plumtrees-9');
  await page.locator('.strength output', { hasText: 'Fair' }).waitFor();
  for (const [password, label] of [
    ['aaaaaaaaaaaaaaaa', 'Weak'],
    ['plum trees in June', 'Strong'],
    ['', ''],
  ] as const) {
    await page.fill('#password', password);
    assert.equal(await page.textContent('.strength output'), label, password);
  }
  await close();
});
