// How much a first sign-in asks of a person, counted by the browser itself: from the onboarding page to the sample application
// that knows who they are, in at most five clicks and five fields, typing no address but those the terminals show.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { type Program, type RunningServer, startSample, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { ADMIN, claim, heading, loaded } from './steps.ts';
import { openWindow, type Window } from './window.ts';

const MAX_CLICKS = 5;
const MAX_FIELDS = 5;

let browser: Browser;
let server: RunningServer;
let sample: Program;
let person: Window;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  [sample, person] = await Promise.all([startSample(server.issuer), openWindow(browser)]);
});
after(async () => {
  await browser.close();
  await Promise.all([sample.stop(), server.stop()]);
});

/** Presses and changed fields on every page, as the browser reports them; what scripts do does not count. */
async function countActs({ context }: Window): Promise<{ clicks: string[]; fields: Set<string> }> {
  const acts = { clicks: [] as string[], fields: new Set<string>() };
  await context.exposeBinding('countAct', (_, kind: string, what: string) => {
    if (kind === 'click') acts.clicks.push(what);
    else acts.fields.add(what);
  });
  await context.addInitScript(`
    addEventListener('pointerdown', (event) => {
      if (event.isTrusted) countAct('click', event.target.closest('a, button, label, summary')?.textContent.trim() ?? '?');
    }, true);
    addEventListener('input', (event) => {
      if (event.isTrusted) countAct('field', location.pathname + ' ' + event.target.name);
    }, true);
  `);
  return acts;
}

test('first sign-in: from onboarding to the signed-in sample in 5 clicks and 5 fields at most', async (t) => {
  const acts = await countActs(person);
  const { page } = person;
  await page.goto(`${server.origin}/onboard`);
  await page.getByLabel('Username').fill(ADMIN.username);
  await page.getByLabel('E-mail').fill(ADMIN.email);
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await page.getByLabel('Confirm password').fill(ADMIN.password);
  await loaded(page, () => page.getByRole('button', { name: 'Create administrator' }).click());
  await page.waitForURL(`${server.origin}/admin`);

  await page.goto(`${sample.origin}/`);
  await shoot(page, 'sample-one-click');
  await loaded(page, () => page.getByRole('link', { name: 'Register it at' }).click());
  assert.equal(await heading(page), 'Add application');
  await shoot(page, 'application-new-by-link');
  await loaded(page, () => page.getByRole('button', { name: 'Add application' }).click());
  await shoot(page, 'application-created-by-link');
  // What was asked for comes first; what is recommended besides stands below it.
  const placeOf = async (selector: string): Promise<number> =>
    (await page.locator(selector).boundingBox())?.y ?? Number.NaN;
  assert.ok((await placeOf('#created')) < (await placeOf('.crumbs')) + 60, 'something is before the success');
  assert.ok((await placeOf('.factor-offer')) > (await placeOf('#client-id')));
  await loaded(page, () =>
    page.getByRole('link', { name: `Continue at ${new URL(sample.origin).host}` }).click(),
  );
  assert.equal(await heading(page), 'Sample is requesting access to your account');
  await loaded(page, () => page.getByRole('button', { name: 'Allow' }).click());
  await page.waitForURL(`${sample.origin}/`);
  assert.equal(await heading(page), `Hello, ${ADMIN.username}`);
  assert.equal(await claim(page, 'ID token', 'iss'), server.issuer);

  t.diagnostic(`${acts.clicks.length} clicks: ${acts.clicks.join(', ')}`);
  t.diagnostic(`${acts.fields.size} fields: ${[...acts.fields].join(', ')}`);
  // The counting itself: each step above is one press, each value one field.
  assert.ok(acts.clicks.length >= 4 && acts.fields.size >= 3, 'nothing was counted');
  assert.ok(acts.clicks.length <= MAX_CLICKS, acts.clicks.join(', '));
  assert.ok(acts.fields.size <= MAX_FIELDS, [...acts.fields].join(', '));
  assert.deepEqual(person.complaints, []);
});

test('first sign-in: afterwards the sample signs in again, refreshes, and signs out', async () => {
  const { page } = person;
  const press = (name: string) => loaded(page, () => page.getByRole('button', { name, exact: true }).click());
  await press('Refresh');
  assert.match((await page.getByRole('status').textContent()) ?? '', /Refreshed/);
  await press('Sign out');
  await page.waitForURL(`${sample.origin}/`);
  assert.match((await page.getByRole('status').textContent()) ?? '', /signed out, here and at/);
});
