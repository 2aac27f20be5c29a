// The set-up of tests with codes and links by mail: the server, the connected sample application, a real SMTP server, and the
// users' steps between them.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startMailServer } from '../mail/support.ts';
import { launch } from '../pages/browser.ts';
import { startSample, startServer } from './processes.ts';
import { connect, enter, heading, loaded, registerSample } from './steps.ts';
import { withWindow } from './window.ts';

const PASSWORD = 'correct horse battery staple';

export interface Person {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly password: string;
}

export type MailWorld = Awaited<ReturnType<typeof startMailWorld>>;

/** @param settings beside the mail server */
export async function startMailWorld(settings: Readonly<Record<string, unknown>>) {
  const [browser, server, mails] = await Promise.all([launch(), startServer(), startMailServer()]);
  await server.admin('PATCH', '/settings', { smtp_url: mails.url(), ...settings });
  const sample = await startSample(server.issuer);
  const credentials = await registerSample(server, sample);

  const inWindow = (act: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> =>
    withWindow(browser, ({ page }) => act(page), options);

  /** The latest mail to this address, once `read` finds something in its text that is not `before`. */
  async function fromMail(
    address: string,
    read: (text: string) => string | undefined,
    before: string,
  ): Promise<string> {
    for (let tries = 0; tries < 1200; tries += 1) {
      const mail = mails.received.findLast(({ to }) => to.includes(address))?.mail;
      const found = read(mail?.text ?? '') ?? '';
      if (found !== '' && found !== before) return found;
      await sleep(100);
    }
    throw new Error(`nothing for ${address} in ${mails.received.length} mails`);
  }

  await inWindow((page) => connect(page, sample, credentials));

  return {
    browser,
    server,
    sample,
    clientId: credentials.clientId,
    inWindow,

    async createPerson(username: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Person> {
      const person = { username, password: PASSWORD, email: `${username}@example.com` };
      const { id } = await server.admin('POST', '/users', { ...person, is_email_verified: true, ...fields });
      return { id: String(id), ...person };
    },

    /** From the application to the page with the password. */
    async openSignIn(page: Page): Promise<void> {
      await page.goto(`${sample.origin}/`);
      await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
    },

    /** From the application to the page after the password. */
    async signIn(page: Page, person: { username: string; password: string }): Promise<void> {
      await this.openSignIn(page);
      await loaded(page, () => enter(page, person));
    },

    async expectHello(page: Page, { username }: Pick<Person, 'username'>): Promise<void> {
      const text = await page.locator('main').textContent();
      assert.equal(await heading(page), `Hello, ${username}`, text ?? '');
    },

    signOut: (page: Page): Promise<void> =>
      loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click()),

    /** The code in the latest mail to this address that is not `before`. */
    mailedCode: (address: string, before = ''): Promise<string> =>
      fromMail(address, (text) => /\n {4}(\d{6})\n/.exec(text)?.[1], before),

    mailedLink: (address: string, before = ''): Promise<string> =>
      fromMail(address, (text) => /https?:\/\/\S+\?token=[\w-]+/.exec(text)?.[0], before),

    async stop(): Promise<void> {
      await browser.close();
      const codes = [await sample.stop(), await server.stop()];
      await mails.close();
      assert.deepEqual(codes, [0, 0]);
    },
  };
}
