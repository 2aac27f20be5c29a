// The addresses of an account in a real Chromium: added, made primary, frozen from the old mailbox and decided; by keyboard in
// Arabic on a small dark phone, and without scripts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { type MailServer, startMailServer } from '../mail/support.ts';
import { createAxe } from '../pages/axe.ts';
import { launch } from '../pages/browser.ts';
import { type RunningServer, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { loaded } from './steps.ts';
import { openWindow, withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';

let browser: Browser;
let server: RunningServer;
let mails: MailServer;

before(async () => {
  [browser, server, mails] = await Promise.all([launch(), startServer(), startMailServer()]);
  await server.admin('PATCH', '/settings', { smtp_url: mails.url() });
});
after(async () => {
  await browser.close();
  assert.equal(await server.stop(), 0);
  await mails.close();
});

/** The link in the latest mail to this address, once there is one of this kind. */
async function linkTo(address: string, kind: 'confirm' | 'stop'): Promise<string> {
  const link = new RegExp(`https?://\\S+/account/email/${kind}\\?token=[\\w-]+`);
  for (let tries = 0; tries < 1200; tries += 1) {
    const texts = mails.received.filter(({ to }) => to.includes(address)).map(({ mail }) => mail.text ?? '');
    const [found] = link.exec(texts.findLast((text) => link.test(text)) ?? '') ?? [];
    if (found !== undefined) return found;
    await sleep(100);
  }
  throw new Error(`no link to ${kind} for ${address}`);
}

/** In any language. */
async function signIn(page: Page, { username, password }: { username: string; password: string }) {
  await page.locator('input[name="username"]').fill(username);
  await page.locator('input[name="password"]').fill(password);
  await loaded(page, () => page.keyboard.press('Enter'));
}

/** By which every act of the pages is found, in any language. */
const buttonOf = (page: Page, action: string): Locator =>
  page.locator(`form[action$="${action}"] button:not(.reveal)`).first();

for (const [how, options] of [
  [
    'by keyboard in Arabic on a small phone in the dark',
    { locale: 'ar', colorScheme: 'dark', viewport: { width: 320, height: 700 } },
  ],
  ['without scripts', { javaScriptEnabled: false, viewport: { width: 390, height: 844 } }],
] as const) {
  const hasScripts = !('javaScriptEnabled' in options);

  test(`addresses: added, made primary, frozen by the old mailbox, ${how}`, async () => {
    const name = `edith-${how.length}`;
    const [old, next] = [`${name}@example.com`, `${name}@example.net`];
    const person = { username: name, password: PASSWORD };
    await server.admin('POST', '/users', { ...person, email: old, is_email_verified: true });
    const strike = async (page: Page, target: Locator): Promise<void> => {
      await target.focus();
      await loaded(page, () => page.keyboard.press('Enter'));
    };
    const judge = async (page: Page, shot: string): Promise<void> => {
      if (!hasScripts) return;
      assert.deepEqual(await (await createAxe(page)).violations(), []);
      await shoot(page, shot);
    };

    await withWindow(
      browser,
      async ({ page }) => {
        await page.goto(`${server.origin}/account/email`);
        await signIn(page, person);
        await page.locator('#email').fill(next);
        await loaded(page, () => page.keyboard.press('Enter'));
        assert.equal(await page.getByRole('status').first().isVisible(), true);
        await judge(page, 'account-email-waiting');

        await page.goto(await linkTo(next, 'confirm'));
        await strike(page, buttonOf(page, '/email/confirm'));
        assert.match(page.url(), /notice=added/);
        // Opened and pressed by keys alone.
        await page.locator('summary').first().focus();
        await page.keyboard.press('Enter');
        await judge(page, 'account-email-added');
        await page.keyboard.press('Tab');
        await loaded(page, () => page.keyboard.press('Enter'));
        assert.match(page.url(), /notice=primary/);
        assert.match((await page.locator('.rows > li').first().textContent()) ?? '', new RegExp(next));

        const stranger = await openWindow(browser, options);
        await stranger.page.goto(await linkTo(old, 'stop'));
        await judge(stranger.page, 'account-email-stop');
        await strike(stranger.page, buttonOf(stranger.page, '/email/stop'));
        await stranger.close();

        await page.goto(`${server.origin}/account/email`);
        await signIn(page, person);
        await judge(page, 'account-email-decide');
        await strike(page, buttonOf(page, '/email/settle'));
        await page.goto(`${server.origin}/account`);
        await signIn(page, { ...person, username: old });
        await judge(page, 'account-after');
        assert.match((await page.locator('#profile ~ * dd bdi').allTextContents()).join(), new RegExp(old));
      },
      options,
    );
  });
}

test('codes by e-mail: turned on by their owner, with recovery codes to keep, and off', async () => {
  const person = { username: 'fanny', password: PASSWORD };
  await server.admin('POST', '/users', { ...person, email: 'fanny@example.com', is_email_verified: true });
  await withWindow(
    browser,
    async ({ page }) => {
      await page.goto(`${server.origin}/account/second-factor`);
      await signIn(page, person);
      await loaded(page, () => page.getByRole('button', { name: 'Turn on: Codes by e-mail' }).click());
      assert.equal(await page.locator('#codes code').count(), 10);
      await page.goto(`${server.origin}/account`);
      assert.match(
        (await page.locator('.glance').textContent()) ?? '',
        /Good[\s\S]*Codes by e-mail\s+On\.[\s\S]*Recovery codes left: 10/,
      );
    },
    { viewport: { width: 390, height: 844 } },
  );
});
