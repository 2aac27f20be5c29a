// Where people end up who go back, reload, use two tabs, or open a link twice or in another browser: each page has one clear
// way on, and nothing is sent twice.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { waysOn } from '../support/way-on.ts';
import { type MailWorld, type Person, startMailWorld } from './mail-world.ts';
import { codeOf, scan, type } from './phone-steps.ts';
import { enter, heading, loaded } from './steps.ts';

let world: MailWorld;
before(async () => {
  world = await startMailWorld({ allow_magic_link: true, allow_self_signup: true });
});
after(() => world.stop());

const NEW_PASSWORD = 'eleven quiet herons at dusk';

const press = (page: Page, name: string, role: 'button' | 'link' = 'button'): Promise<void> =>
  loaded(page, () => page.getByRole(role, { name, exact: true }).first().click());

const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** The page's title and its first way on. */
async function standing(page: Page): Promise<readonly [string, string | undefined]> {
  const [way] = waysOn(await page.content());
  return [await heading(page), way?.label];
}

async function atAccount(page: Page, person: Person, path = ''): Promise<void> {
  await page.goto(`${world.server.origin}/account${path}`);
  await loaded(page, () => enter(page, person));
}

test('back and reload after a mistake: the form is there, and no browser asks to send it again', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('back-after-error');
    await world.openSignIn(page);
    await loaded(page, () => enter(page, { ...person, password: 'wrong' }));
    assert.equal(await page.getByRole('alert').count(), 1);
    await page.reload();
    assert.equal(await heading(page), 'Sign in to Sample');
    assert.equal(await page.getByRole('alert').count(), 0);
    await loaded(page, () => enter(page, { ...person, password: 'wrong' }));
    await loaded(page, () => enter(page, person));
    await world.expectHello(page, person);
    await page.goBack();
    assert.deepEqual(await standing(page), ['This page has expired', 'Back to Sample']);
    await press(page, 'Back to Sample', 'link');
    await world.expectHello(page, person);

    await page.goto(`${world.server.origin}/account/second-factor/app`);
    await loaded(page, () => page.locator('#code').pressSequentially('000000'));
    assert.equal(await page.getByRole('alert').count(), 1);
    await type(page, codeOf(await scan(page)));
    assert.equal(await heading(page), 'Save your recovery codes');
    await page.goBack();
    assert.equal(pathOf(page), '/account/second-factor');
    await page.goForward();
    // Codes are shown once.
    assert.equal(await page.locator('#codes code').count(), 0);
    assert.equal(pathOf(page), '/account/second-factor');
  }));

test('back after signing out: the sign-in page, and nothing of the account', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('back-after-sign-out', { given_name: 'Zelda' });
    await atAccount(page, person);
    await page.goto(`${world.server.origin}/account/profile`);
    await press(page, 'Sign out', 'link');
    await page.goBack();
    assert.equal(await heading(page), 'Sign in to Latchkey');
    assert.doesNotMatch(await page.content(), /Zelda/);
    await loaded(page, () => enter(page, person));
    assert.equal(pathOf(page), '/account/profile');
  }));

test('two tabs: a form of an earlier session comes back as it was typed', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('two-tabs');
    await atAccount(page, person, '/profile');
    const tab = await page.context().newPage();
    await tab.goto(`${world.server.origin}/oauth2/logout`);
    await page.getByLabel('First name').fill('Typed with care');
    await press(page, 'Save');
    await loaded(page, () => enter(page, person));
    assert.match((await page.locator('#restored').textContent()) ?? '', /What you had typed is back/);
    assert.equal(await page.getByLabel('First name').inputValue(), 'Typed with care');

    // A new password ends the session in which the other tab's page was shown.
    await tab.goto(`${world.server.origin}/account/password`);
    await tab.getByLabel('Current password').fill(person.password);
    await tab.getByLabel('New password').fill(NEW_PASSWORD);
    await tab.getByLabel('Confirm password').fill(NEW_PASSWORD);
    await press(tab, 'Change password');
    await press(page, 'Save');
    assert.equal(pathOf(page), '/account/profile');
    await press(page, 'Save');
    assert.equal(pathOf(page), '/account');
    assert.match((await page.locator('main').textContent()) ?? '', /Typed with care/);
  }));

test('a mailed link opened twice or elsewhere: says what became of it, and where to go', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('twice', { is_email_verified: false });
    await atAccount(page, person);
    await press(page, 'Send confirmation e-mail');
    const confirmation = await world.mailedLink(person.email);
    await world.inWindow(async (phone) => {
      await phone.goto(confirmation);
      await press(phone, 'Confirm address');
      assert.deepEqual(await standing(phone), ['E-mail address confirmed', 'Go to your account']);
    });
    await page.goto(confirmation);
    assert.deepEqual(await standing(page), [
      'This confirmation link is no longer valid',
      'Go to your account',
    ]);
    await press(page, 'Go to your account', 'link');
    assert.equal(await page.getByRole('button', { name: 'Send confirmation e-mail' }).count(), 0);

    await page.goto(`${world.server.origin}/oauth2/forgot-password`);
    await page.getByLabel('Username or e-mail').fill(person.email);
    await press(page, 'Send reset link');
    const link = await world.mailedLink(person.email, confirmation);
    const tab = await page.context().newPage();
    for (const one of [page, tab]) await one.goto(link);
    for (const one of [page, tab]) {
      await one.getByLabel('New password').fill(NEW_PASSWORD);
      await one.getByLabel('Confirm password').fill(NEW_PASSWORD);
      await press(one, 'Change password');
    }
    assert.deepEqual(await standing(page), ['Password changed', 'Sign in']);
    assert.deepEqual(await standing(tab), [
      'This link for a new password is no longer valid',
      'Get a new link',
    ]);
    await press(tab, 'Sign in', 'link');
    await loaded(tab, () => enter(tab, { ...person, password: NEW_PASSWORD }));
    assert.equal(pathOf(tab), '/account');
  }));

test('a sign-in link: a reload after asking stays with it; used up in another tab, it leads on', () =>
  world.inWindow(async (page) => {
    const person = await world.createPerson('link-tabs');
    await world.openSignIn(page);
    await press(page, 'E-mail me a sign-in link');
    await page.getByLabel('Username or e-mail').fill(person.email);
    await press(page, 'Send sign-in link');
    await page.reload();
    assert.deepEqual(await standing(page), ['Sign in by e‑mail', 'Send sign-in link']);
    assert.equal(await page.getByRole('link', { name: 'Back to sign-in' }).count(), 1);
    const link = await world.mailedLink(person.email);
    const tab = await page.context().newPage();
    for (const one of [page, tab]) await one.goto(link);
    await press(page, 'Sign in');
    await world.expectHello(page, person);
    await press(tab, 'Sign in');
    assert.deepEqual(await standing(tab), ['This sign-in link is no longer valid', 'Sign in']);
    await page.goBack();
    assert.deepEqual(await standing(page), ['This sign-in link is no longer valid', 'Sign in']);
  }));
