// The set-up of the Admin UI tests: a server with data and an administrator signed in at /admin.
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type RunningServer, startServer } from './processes.ts';
import { loaded, onboard } from './steps.ts';
import { openWindow, type Window } from './window.ts';

export const PASSWORD = 'correct horse battery staple';

export interface AdminWorld {
  readonly browser: Browser;
  readonly server: RunningServer;
  /** The administrator's own window. */
  readonly admin: Window;
  createUser(username: string, fields?: Record<string, unknown>): Promise<string>;
  createApplication(fields: Record<string, unknown>): Promise<{ id: string; secret: string }>;
  /** Opens a page of /admin, and expects it to be one. */
  open(path: string): Promise<Page>;
  stop(): Promise<void>;
}

export async function startAdminWorld(env: Readonly<Record<string, string>> = {}): Promise<AdminWorld> {
  const [browser, server] = await Promise.all([launch(), startServer(env)]);
  const admin = await openWindow(browser);
  try {
    await onboard(admin.page, server);
  } catch (error) {
    await Promise.all([browser.close(), server.stop()]);
    throw error;
  }
  return {
    browser,
    server,
    admin,
    async createUser(username, fields = {}) {
      const user = await server.admin('POST', '/users', { username, password: PASSWORD, ...fields });
      return String(user.id);
    },
    async createApplication(fields) {
      const made = await server.admin('POST', '/clients', {
        client_name: 'Acme Analytics',
        redirect_uris: ['http://localhost:9/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        skip_consent: true,
        ...fields,
      });
      return { id: String(made.client_id), secret: String(made.client_secret ?? '') };
    },
    async open(path) {
      const response = await admin.page.goto(`${server.origin}/admin${path}`);
      assert.equal(response?.status(), 200, path);
      return admin.page;
    },
    async stop() {
      await browser.close();
      await server.stop();
    },
  };
}

/** Presses, and waits for the page that comes. */
export const press = (page: Page, name: string, role: 'button' | 'link' = 'button'): Promise<void> =>
  loaded(page, () => page.getByRole(role, { name, exact: true }).first().click());

export const noticeOf = async (page: Page): Promise<string> =>
  ((await page.locator('.notice > span').textContent()) ?? '').trim();
