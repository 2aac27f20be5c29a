// A browser without cookies gets a page that says so, never a loop.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type BrowserContext, chromium } from 'playwright-core';
import { launchOptions, WHOLE } from '../pages/browser.ts';
import { ADMIN_TOKEN, type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { ADMIN, enter, heading, loaded } from './steps.ts';
import { watch } from './window.ts';

let server: RunningServer;
let sample: Program;
let profile: string;
let context: BrowserContext;

/** Chromium's own switch: Settings, Privacy, "Block all cookies". */
const BLOCKED = {
  profile: { default_content_setting_values: { cookies: 2 }, block_third_party_cookies: true },
};

before(async () => {
  profile = await mkdtemp(join(tmpdir(), 'latchkey-profile-'));
  await mkdir(join(profile, 'Default'));
  await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(BLOCKED));
  [server, context] = await Promise.all([
    startServer(),
    chromium.launchPersistentContext(profile, { ...launchOptions, executablePath: WHOLE, locale: 'en-GB' }),
  ]);
  sample = await startSample(server.issuer, { adminToken: ADMIN_TOKEN });
});

after(async () => {
  await context.close();
  await sample.stop();
  await server.stop();
  await rm(profile, { recursive: true, force: true });
});

test('without cookies: onboarding and sign-in say what is missing and what to do', async () => {
  const complaints = watch(context);
  const page = await context.newPage();
  await page.goto(`${server.origin}/`);
  await page.getByLabel('Username').fill(ADMIN.username);
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await page.getByLabel('Confirm password').fill(ADMIN.password);
  await loaded(page, () => page.getByRole('button', { name: 'Create administrator' }).click());
  assert.equal(await heading(page), 'Cookies are disabled');
  await shoot(page, 'cookies-off');
  const { total } = await server.admin('GET', '/users');
  assert.equal(total, 0);

  await page.goto(`${sample.origin}/`);
  await loaded(page, () => page.getByRole('link', { name: 'Sign in' }).click());
  await loaded(page, () => enter(page, ADMIN));
  assert.equal(await heading(page), 'Cookies are disabled');
  assert.deepEqual(complaints, []);
});
