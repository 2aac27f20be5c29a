// Administrators' work in Chromium as the pages describe it: users, applications, sessions, settings, mail; refusals give their
// reason and lose no input.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startMailServer } from '../mail/support.ts';
import { type AdminWorld, noticeOf, PASSWORD, press, startAdminWorld } from './admin-world.ts';
import { codeOf, enrol, type } from './phone-steps.ts';
import { type Program, startSample } from './processes.ts';
import { shoot } from './shots.ts';
import { connect, enter, heading, loaded } from './steps.ts';
import { openWindow } from './window.ts';

let world: AdminWorld;
let sample: Program;
let page: Page;

before(async () => {
  world = await startAdminWorld();
  sample = await startSample(world.server.issuer);
  ({ page } = world.admin);
});
afterEach(() => assert.deepEqual(world.admin.complaints, []));
after(async () => {
  await sample?.stop();
  await world?.stop();
});

const text = async (selector: string): Promise<string> =>
  ((await page.locator(selector).first().textContent()) ?? '').trim();

/** At the sample, in a window of its own. @returns the heading that came */
async function tryToSignIn(username: string, password: string): Promise<string> {
  const { page: tab, close } = await openWindow(world.browser);
  await tab.goto(`${sample.origin}/`);
  await loaded(tab, () => tab.getByRole('link', { name: 'Sign in' }).click());
  await loaded(tab, () => enter(tab, { username, password }));
  const came = await heading(tab);
  await close();
  return came;
}

let credentials: { clientId: string; clientSecret: string };

test('client form: registers; an invalid URI is reported at its field and input is kept', async () => {
  await world.open('/applications');
  await press(page, 'Add application', 'link');
  await press(page, 'Service without users', 'link');
  assert.equal(await page.getByLabel('Redirect URIs', { exact: true }).count(), 0);
  await press(page, 'Change the kind of application', 'link');
  await press(page, 'Web app with a server', 'link');
  await page.getByLabel('Name').fill('Sample');
  const field = page.getByLabel('Redirect URIs', { exact: true });
  await field.fill('https://a.example/callback\nlocalhost callback');
  await field.blur();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await field.fill('https://a.example/callback\n\ncom.example.app:/callback');
  assert.equal(await field.getAttribute('aria-invalid'), null);
  await page.locator('.verdicts .yes', { hasText: 'https://a.example/callback' }).waitFor();
  await page.locator('.verdicts .no', { hasText: 'com.example.app:/callback' }).waitFor();
  await field.fill('http://evil.example/callback');
  await press(page, 'Add application');
  assert.match(await text('#redirect_uris-error'), /https/);
  assert.equal(await page.getByLabel('Name').inputValue(), 'Sample');
  await shoot(page, 'admin-work-application-refused');
  await page.getByLabel('Redirect URIs', { exact: true }).fill(`${sample.origin}/callback`);
  await page.getByLabel('First-party application').check();
  await press(page, 'Add application');
  assert.equal(await heading(page), 'Sample is ready');
  credentials = { clientId: await text('#client-id'), clientSecret: await text('#client-secret') };
  await shoot(page, 'admin-work-application-ready');
  await world.admin.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('[data-copy=client-secret]').click();
  await page.locator('[data-copy=client-secret]', { hasText: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), credentials.clientSecret);
  const tab = await world.admin.context.newPage();
  await connect(tab, sample, credentials);
  await tab.close();
});

test('user: created, found by the `/` shortcut, and signs in', async () => {
  await world.open('/users');
  await press(page, 'Add user', 'link');
  await page.getByLabel('Username').fill('grace');
  await page.getByLabel('E-mail (optional)').fill('grace@example.com');
  await page.getByLabel('Password', { exact: true }).fill('password');
  await press(page, 'Add user');
  assert.ok(await page.getByRole('alert').isVisible());
  assert.equal(await page.getByLabel('Username').inputValue(), 'grace');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await press(page, 'Add user');
  assert.equal(await noticeOf(page), 'User created.');
  assert.equal((await page.locator('.side [aria-current]').textContent())?.trim(), 'Users');
  await world.open('');
  await page.keyboard.press('/');
  await page.keyboard.type('grac');
  await loaded(page, () => page.keyboard.press('Enter'));
  await press(page, 'grace', 'link');
  assert.equal(await heading(page), 'grace');
  assert.equal(await tryToSignIn('grace', PASSWORD), 'Hello, grace');
});

test('user form: shows the change; a name in use is reported at its field', async () => {
  await world.open('/users');
  await press(page, 'grace', 'link');
  await press(page, 'Edit', 'link');
  await page.getByLabel('Full name').fill('Grace Hopper');
  await page.getByLabel('Username').fill('ada');
  await press(page, 'Save');
  assert.match(await text('#username-error'), /taken/);
  assert.equal(await page.getByLabel('Full name').inputValue(), 'Grace Hopper');
  await page.getByLabel('Username').fill('grace');
  await press(page, 'Save');
  assert.equal(await noticeOf(page), 'Changes saved.');
  assert.ok(await page.getByRole('heading', { name: 'Grace Hopper' }).isVisible());
});

test('concurrent edits in two tabs: reported, and neither loses its input', async () => {
  await world.open('/users?search=grace');
  await press(page, 'Grace Hopper', 'link');
  await press(page, 'Edit', 'link');
  const other = await world.admin.context.newPage();
  await other.goto(page.url());
  await other.getByLabel('Nickname').fill('Amazing Grace');
  await other.getByLabel('Time zone').fill('Europe/Berlin');
  await press(other, 'Save');
  await page.getByLabel('Given name').fill('Grace Brewster');
  await page.getByLabel('Time zone').fill('America/New_York');
  await press(page, 'Save');
  assert.match(await text('[role=alert]'), /was changed since you opened it/);
  assert.equal(await page.getByLabel('Given name').inputValue(), 'Grace Brewster');
  // Only the other tab wrote here; both wrote there.
  assert.equal(await page.getByLabel('Nickname').inputValue(), 'Amazing Grace');
  assert.equal(await page.getByLabel('Time zone').inputValue(), 'America/New_York');
  assert.deepEqual(await page.locator('.stored').allTextContents(), [
    'Stored now: empty',
    'Stored now: Europe/Berlin',
  ]);
  await press(page, 'Save');
  assert.equal(await noticeOf(page), 'Changes saved.');
  await other.close();
  const { items } = await world.server.admin('GET', '/users?search=grace');
  const [grace]: unknown[] = Array.isArray(items) ? items : [];
  const kept = ['nickname', 'given_name', 'zoneinfo', 'name'].map((name) => Reflect.get(Object(grace), name));
  assert.deepEqual(kept, ['Amazing Grace', 'Grace Brewster', 'America/New_York', 'Grace Hopper']);
});

test('locked user on a phone: the page gives the reason, one press unlocks', async () => {
  for (let round = 0; round < 5; round += 1) await tryToSignIn('grace', `wrong guess ${round}`);
  await world.open('');
  assert.match(await text('.attention'), /One user is locked in new browsers.*Grace Hopper/s);
  await loaded(page, () => page.locator('.attention a').first().click());
  assert.match(await text('.verdict'), /Cannot sign in.*Locked after 5 wrong passwords/s);
  assert.match(await text('.known'), /wrong password/);
  await press(page, 'Unlock now');
  assert.match(await noticeOf(page), /^Unlocked/);
  assert.match(await text('.verdict'), /Can sign in/);
  assert.equal(await tryToSignIn('grace', PASSWORD), 'Hello, Grace Hopper');
});

test('group: created, filled, and opens an application to its members only', async () => {
  await world.createUser('outsider', { email: 'outsider@example.com' });
  await world.open('/groups');
  await press(page, 'Add group', 'link');
  await page.getByLabel('Name in tokens').fill('finance');
  await page.getByLabel('Name (optional)').fill('Finance team');
  await press(page, 'Add group');
  assert.match(await noticeOf(page), /^Group created/);
  assert.equal(await heading(page), 'Finance team');
  // A part of a name is no one's; whom it could mean is offered.
  await page.getByLabel('Add a member').fill('grac');
  await press(page, 'Add');
  assert.match(await text('[role=alert]'), /User not found/);
  await press(page, 'Add Grace Hopper');
  assert.equal(await noticeOf(page), 'Added to the group.');
  await page.getByLabel('Add a member').fill('OUTSIDER@example.com');
  await press(page, 'Add');
  assert.match(await text('.pager'), /2 members/);
  await press(page, 'Remove outsider from this group');
  assert.match(await text('.pager'), /1 member$/m);

  await world.open('/applications');
  await press(page, 'Sample', 'link');
  assert.equal(await page.getByLabel('Finance team').isVisible(), false);
  await page.getByLabel('Members of selected groups').check();
  await page.getByLabel('Finance team').check();
  await press(page, 'Save access');
  assert.match(await noticeOf(page), /^Access saved/);
  assert.match(await text('.badges'), /Restricted/);
  assert.equal(await tryToSignIn('grace', PASSWORD), 'Hello, Grace Hopper');
  assert.doesNotMatch(await tryToSignIn('outsider', PASSWORD), /Hello/);

  await world.open('/groups');
  assert.match(await text('tbody tr'), /Users in Finance team: 1/);
  await press(page, 'Finance team', 'link');
  await press(page, 'Edit', 'link');
  await page.getByLabel('Name', { exact: true }).fill('Finance');
  await press(page, 'Save');
  assert.equal(await heading(page), 'Finance');
  assert.equal(await page.getByRole('link', { name: 'Delete group' }).count(), 0);
  await press(page, 'Sample', 'link');
  await page.getByLabel('All users').check();
  await press(page, 'Save access');
  assert.match(await tryToSignIn('outsider', PASSWORD), /Hello/);
});

test('groups: on the user page and as a list filter; deleted by typing the name', async () => {
  await world.open('/users');
  await loaded(page, () => page.getByLabel('Group').selectOption('Finance'));
  assert.deepEqual(await page.locator('tbody .row').allTextContents(), ['Grace Hopper']);
  await press(page, 'Grace Hopper', 'link');
  await press(page, 'Remove from Finance');
  assert.equal(await noticeOf(page), 'Removed from the group.');
  await page.getByLabel('Add to a group').selectOption('Finance');
  await press(page, 'Add');
  assert.match(await text('.tags'), /Finance/);
  assert.match(await text('.trail'), /Added to a group: finance/);
  await press(page, 'Finance', 'link');
  await press(page, 'Delete group', 'link');
  assert.match(await text('.lost'), /member loses the access it grants/);
  await page.getByLabel('to continue').fill('Finance');
  await press(page, 'Delete group');
  assert.match(await text('#confirm-error'), /finance/);
  await page.getByLabel('to continue').fill('finance');
  await press(page, 'Delete group');
  assert.match(await noticeOf(page), /^Group deleted/);
  assert.ok(await page.getByRole('heading', { name: 'No groups yet' }).isVisible());
});

test('API key: shown once, reads and changes nothing, refused once revoked', async () => {
  await world.open('/keys');
  await press(page, 'API keys', 'link');
  await press(page, 'Create key', 'link');
  await page.getByLabel('Name').fill('Backup');
  await page.getByLabel('Expires in (days)').fill('30');
  await press(page, 'Create key');
  assert.equal(await heading(page), 'API key Backup created');
  const key = await text('#api-key');
  await world.admin.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('[data-copy=api-key]').click();
  await page.locator('[data-copy=api-key]', { hasText: 'Copied' }).waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
  const ask = async (method: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = method === 'GET' ? {} : { body: '{}' };
    return (await fetch(`${world.server.origin}/admin/api/users`, { method, headers, ...body })).status;
  };
  assert.deepEqual([await ask('GET'), await ask('POST')], [200, 403]);
  await press(page, 'Back to API keys', 'link');
  assert.match(await text('tbody tr'), /Backup.*Read only.*ada/s);
  await press(page, 'Backup', 'link');
  assert.ok(!(await page.content()).includes(key));
  await press(page, 'Revoke key', 'link');
  await press(page, 'Revoke key');
  assert.match(await noticeOf(page), /^API key revoked/);
  assert.equal(await ask('GET'), 401);
});

test('auditor: sees the pages of administrators, without controls', async () => {
  await world.open('/users?search=outsider');
  await press(page, 'outsider', 'link');
  await press(page, 'Change role', 'link');
  await page.getByRole('radio', { name: 'Auditor' }).check();
  await press(page, 'Change role');
  assert.match(await noticeOf(page), /^Role changed/);
  const { page: theirs, complaints, close } = await openWindow(world.browser);
  await theirs.goto(`${world.server.origin}/admin`);
  await loaded(theirs, () => enter(theirs, { username: 'outsider', password: PASSWORD }));
  await theirs.waitForURL('**/admin');
  assert.ok(await theirs.getByText('Read only').isVisible());
  assert.equal(await heading(theirs), 'Overview');
  await theirs.goto(`${world.server.origin}/admin/users`);
  await press(theirs, 'Grace Hopper', 'link');
  assert.match((await theirs.locator('.verdict').textContent()) ?? '', /Can sign in/);
  for (const path of [new URL(theirs.url()).pathname, '/admin/settings', '/admin/applications/new/web']) {
    await theirs.goto(`${world.server.origin}${path}`);
    assert.equal(await theirs.locator('main').getByRole('button').count(), 0, path);
  }
  assert.equal(await heading(theirs), 'For administrators only');
  assert.deepEqual(complaints, []);
  await close();
});

test('session: ending it invalidates the application’s token', async () => {
  const { page: tab, close } = await openWindow(world.browser);
  await tab.goto(`${sample.origin}/`);
  await loaded(tab, () => tab.getByRole('link', { name: 'Sign in' }).click());
  await loaded(tab, () => enter(tab, { username: 'grace', password: PASSWORD }));
  await loaded(tab, () => tab.getByRole('button', { name: 'Introspect' }).click());
  assert.match((await tab.getByRole('status').textContent()) ?? '', /activetrue/);
  await loaded(tab, () => tab.getByRole('button', { name: 'Refresh', exact: true }).click());
  assert.match((await tab.getByRole('status').textContent()) ?? '', /Refreshed/);
  await world.open('/sessions?is_active=true');
  for (;;) {
    const row = page
      .locator('tr', { has: page.getByRole('link', { name: 'Grace Hopper', exact: true }) })
      .first();
    if ((await row.count()) === 0) break;
    await loaded(page, () => row.getByRole('button').click());
    assert.match(await noticeOf(page), /^Session ended/);
    await world.open('/sessions?is_active=true');
  }
  await loaded(tab, () => tab.getByRole('button', { name: 'Introspect' }).click());
  assert.match((await tab.getByRole('status').textContent()) ?? '', /activefalse/);
  await loaded(tab, () => tab.getByRole('button', { name: 'Refresh', exact: true }).click());
  assert.match((await tab.locator('main').textContent()) ?? '', /invalid_grant/);
  await close();
});

test('second factor: reset after a warning page; trusted browsers are removed singly', async () => {
  const id = await world.createUser('has-factor');
  await world.server.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const { page: tab, close } = await openWindow(world.browser);
  await tab.goto(`${sample.origin}/`);
  await loaded(tab, () => tab.getByRole('link', { name: 'Sign in' }).click());
  await loaded(tab, () => enter(tab, { username: 'has-factor', password: PASSWORD }));
  const { uri } = await enrol(tab);
  assert.equal(await heading(tab), 'Hello, has-factor');
  await loaded(tab, () => tab.getByRole('button', { name: 'Sign out' }).click());
  await loaded(tab, () => tab.getByRole('link', { name: 'Sign in' }).click());
  await loaded(tab, () => enter(tab, { username: 'has-factor', password: PASSWORD }));
  await tab.getByLabel(/Don’t ask on this device again/).check();
  await type(tab, codeOf(uri, 1));
  assert.equal(await heading(tab), 'Hello, has-factor');
  await world.server.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  await world.open(`/users/${id}`);
  assert.match(await text('.known'), /Authenticator app/);
  await press(page, 'Remove trusted browser Chrome on Linux');
  assert.match(await noticeOf(page), /asked for the second factor again/);
  assert.equal(await page.getByRole('heading', { name: 'Trusted browsers' }).count(), 0);
  await press(page, 'Reset second factor', 'link');
  assert.match(await text('.lost'), /authenticator app and all recovery codes stop working/);
  await press(page, 'Reset second factor');
  assert.match(await noticeOf(page), /^Second factor reset/);
  assert.match(await text('.trail'), /Second factor reset/);
  assert.doesNotMatch(await text('.known'), /Authenticator app/);
  assert.equal(await tryToSignIn('has-factor', PASSWORD), 'Add a second step');
  await close();
});

test('client secret: rotated; the old one is refused, the new one shown once', async () => {
  await world.open('/applications');
  await press(page, 'Sample', 'link');
  await press(page, 'Rotate', 'link');
  await press(page, 'Rotate secret');
  assert.equal(await heading(page), 'Sample has a new secret');
  const secret = await text('#client-secret');
  assert.notEqual(secret, credentials.clientSecret);
  const status = async (clientSecret: string): Promise<number> => {
    const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x', redirect_uri: 'x' });
    const authorization = `Basic ${Buffer.from(`${credentials.clientId}:${clientSecret}`).toString('base64')}`;
    const url = `${world.server.issuer}/token`;
    return (await fetch(url, { method: 'POST', headers: { authorization }, body })).status;
  };
  assert.deepEqual([await status(credentials.clientSecret), await status(secret)], [401, 400]);
  await press(page, 'Go to the application', 'link');
  assert.ok(!(await page.content()).includes(secret));
});

test('test sign-in: in a new tab, shows what the application would get', async () => {
  const begin = async (on: Page, name: string): Promise<Page> => {
    const opened = on.context().waitForEvent('page');
    await on.getByRole('button', { name }).click();
    const tab = await opened;
    await tab.waitForLoadState();
    return tab;
  };
  const tab = await begin(page, 'Try it');
  assert.match((await tab.locator('.verdict').textContent()) ?? '', /Signed in as ada/);
  assert.match((await tab.locator('main').textContent()) ?? '', /preferred_username\s*ada/);
  await tab.getByText('As curl').first().click();
  assert.match(
    (await tab.locator('#curl-2').textContent()) ?? '',
    new RegExp(`-u '${credentials.clientId}:'`),
  );
  await tab.reload();
  assert.equal(await heading(tab), 'This test sign-in has expired');
  await tab.close();
  // Someone else, with the consent and the prompt of a partner's application; the page before can be used again.
  const { id } = await world.createApplication({ client_name: 'Partner portal', skip_consent: false });
  const own = await openWindow(world.browser);
  await own.page.goto(`${world.server.origin}/admin/applications/${id}/try`);
  await enter(own.page, { username: 'ada', password: 'plum trees in June' });
  await own.page.waitForURL('**/try');
  await own.page.getByLabel('email', { exact: false }).uncheck();
  await own.page.getByLabel('Prompt').selectOption('login');
  await own.page.getByLabel('Expected user').fill('grace');
  await own.page.getByLabel('Language of the pages').selectOption('de');
  const trial = await begin(own.page, 'Start test sign-in');
  await loaded(trial, () => trial.locator('a[href*="/oauth2/login?"]').click());
  assert.equal(await trial.locator('[name=username]').inputValue(), 'grace');
  await trial.locator('[name=password]').fill(PASSWORD);
  await loaded(trial, () => trial.keyboard.press('Enter'));
  await loaded(trial, () => trial.getByRole('button', { name: 'Erlauben' }).click());
  assert.match((await trial.locator('.verdict').textContent()) ?? '', /Signed in as grace/);
  assert.equal(await trial.getByRole('navigation').count(), 0);
  assert.deepEqual(own.complaints, []);
  await own.close();
});

test('guides: contain the application’s own values and no secret', async () => {
  await press(page, 'Guides for your framework or product', 'link');
  const list = page.url();
  for (const id of ['express', 'nextjs', 'spring', 'flask', 'apache', 'grafana']) {
    await loaded(page, () => page.locator(`.tile-group a[href$="/connect/${id}"]`).first().click());
    const guide = await text('main');
    assert.ok(guide.includes(credentials.clientId), id);
    assert.ok(guide.includes(world.server.origin), id);
    assert.doesNotMatch(guide, /\[object|NaN/);
    assert.ok(!guide.includes(credentials.clientSecret), id);
    await page.goto(list);
  }
  await press(page, 'Sample', 'link');
});

test('redirect URIs: validated while typed and by the server, then saved', async () => {
  const field = page.getByLabel('Redirect URIs', { exact: true });
  const before = await field.inputValue();
  await field.fill(`${before}\nnot an address`);
  await field.blur();
  assert.match(await text('#redirect_uris-error'), /complete address/);
  await field.fill(`${before}\nhttps://app.example.com/callback`);
  await press(page, 'Save');
  assert.equal(await noticeOf(page), 'Changes saved.');
  assert.match(await field.inputValue(), /app\.example\.com/);
});

test('application: lifetimes are numbers with units, in the form and in what is refused', async () => {
  const back = page.url();
  await page.getByText('Pages and lifetimes').click();
  const amount = page.getByLabel('Access tokens expire after');
  const unit = page.locator('select[name="unit.access_token_seconds"]');
  assert.deepEqual([await amount.inputValue(), await unit.inputValue()], ['', '60']);
  assert.match(await text('#access_token_seconds-hint'), /30 seconds to 1 day\.$/);
  assert.equal(
    await page.locator('[name=logo_uri]').count(),
    0,
    'no address of a picture that no page loads',
  );
  await amount.fill('2');
  await unit.selectOption({ label: 'days' });
  await press(page, 'Save');
  assert.equal(await text('#access_token_seconds-error'), 'Must be from 30 seconds to 1 day.');
  assert.match(await text('[role=alert]'), /Access tokens expire after Must be from 30 seconds to 1 day/);
  assert.deepEqual([await amount.inputValue(), await unit.inputValue()], ['2', '86400']);
  await shoot(page, 'admin-work-application-lifetimes');
  await unit.selectOption({ label: 'hours' });
  await press(page, 'Save');
  assert.equal(await noticeOf(page), 'Changes saved.');
  const stored = await world.server.admin('GET', `/clients/${credentials.clientId}`);
  assert.equal(stored.access_token_seconds, 7200);
  await page.getByText('Pages and lifetimes').click();
  assert.deepEqual([await amount.inputValue(), await unit.inputValue()], ['2', '3600']);
  await amount.fill('');
  await press(page, 'Save');
  await page.goto(back);
});

test('setting: takes effect; an invalid value is reported at its field; the default is shown', async () => {
  await world.open('/settings/branding');
  await page.getByLabel('Product name').fill('Acme Accounts');
  await page.getByLabel('Help page').fill('javascript:alert(1)');
  await press(page, 'Save');
  assert.match(await text('#support_url-error'), /http/);
  assert.equal(await page.getByLabel('Product name').inputValue(), 'Acme Accounts');
  await page.getByLabel('Help page').fill('');
  await press(page, 'Save');
  assert.match(await noticeOf(page), /^Settings saved/);
  assert.match(await text('form.settings'), /Changed by\s+ada/);
  const { page: tab, close } = await openWindow(world.browser);
  await tab.goto(`${world.server.origin}/oauth2/forgot-password`);
  assert.match(await tab.title(), /Acme Accounts/);
  await close();
  const hasLink = async (): Promise<boolean> => {
    const { page: other, close: done } = await openWindow(world.browser);
    await other.goto(`${world.server.origin}/admin`);
    const isThere = await other.getByRole('button', { name: 'Forgot password?' }).isVisible();
    await done();
    return isThere;
  };
  assert.equal(await hasLink(), true);
  await world.open('/settings/links-by-mail');
  await page.getByLabel('People may reset their password by e-mail').uncheck();
  await press(page, 'Save');
  assert.equal(await hasLink(), false);
});

test('settings: search finds over all groups, also by key, and leads to the field', async () => {
  await world.open('/settings/mail');
  await page.getByLabel('Search all settings').fill('second FACTOR required');
  await loaded(page, () => page.keyboard.press('Enter'));
  assert.match(page.url(), /\/admin\/settings\?q=second/);
  await shoot(page, 'settings-found');
  await loaded(page, () => page.getByRole('link', { name: 'Who needs a second factor' }).click());
  assert.match(page.url(), /\/settings\/second-factor#mfa_mode$/);
  const mode = page.getByLabel('Who needs a second factor');
  assert.deepEqual(await mode.locator('option').allTextContents(), [
    'Never',
    'For users who have one',
    'For everyone',
  ]);
  await page.goto(`${world.server.origin}/admin/settings?q=mfa_mode`);
  assert.equal(await page.getByRole('link', { name: 'Who needs a second factor' }).count(), 1);
  await page.goto(`${world.server.origin}/admin/settings?q=nothing+like+this`);
  assert.match(await text('#found'), /No setting contains/);
});

test('settings: the bar says what Save changes; keys are hidden until asked for', async () => {
  await world.open('/settings/second-factor');
  const bar = page.getByRole('list', { name: 'To be saved' });
  assert.equal(await bar.locator('li').count(), 0);
  await page.getByLabel('Who needs a second factor').selectOption({ label: 'For everyone' });
  assert.deepEqual(await bar.locator('li').allTextContents(), [
    'Who needs a second factor: For users who have one → For everyone',
  ]);
  assert.ok(await bar.isVisible());
  await shoot(page, 'settings-diff');
  await page.getByLabel('Who needs a second factor').selectOption({ label: 'For users who have one' });
  assert.equal(await bar.locator('li').count(), 0);
  // Choices and other settings are quoted as they are named here.
  assert.match(await text('#mfa_mode-hint'), /“For everyone” also applies/);
  assert.doesNotMatch(await text('form.settings'), /`/);
  const key = page.locator('code', { hasText: /^mfa_mode$/ });
  assert.equal(await key.isVisible(), false);
  await page.getByLabel('Show the keys of the API').check();
  assert.ok(await key.isVisible());

  // A refused form: the summary names labels, what was typed stays, and the bar still says it.
  await world.open('/settings/branding');
  assert.ok(await page.getByText('Modified', { exact: true }).first().isVisible());
  await page.getByLabel('Help page').fill('nowhere');
  await press(page, 'Save');
  const alert = page.getByRole('alert');
  assert.ok(await alert.getByRole('link', { name: 'Help page' }).isVisible());
  assert.equal(await page.getByLabel('Help page').inputValue(), 'nowhere');
  assert.deepEqual(await bar.locator('li').allTextContents(), ['Help page: empty → nowhere']);
  await page.getByLabel('Help page').fill('');
  await press(page, 'Save');
});

test('settings: a duration is a number with its unit, in the bar and in what is refused', async () => {
  await world.open('/settings/tokens');
  const amount = page.getByLabel('Access tokens expire after');
  const unit = page.locator('select[name="unit.access_token_seconds"]');
  assert.deepEqual([await amount.inputValue(), await unit.inputValue()], ['15', '60']);
  const bar = page.getByRole('list', { name: 'To be saved' }).locator('li');
  await unit.selectOption({ label: 'days' });
  assert.deepEqual(await bar.allTextContents(), ['Access tokens expire after: 15 minutes → 15 days']);
  await press(page, 'Save');
  assert.equal(await text('#access_token_seconds-error'), 'Must be from 5 seconds to 1 day.');
  assert.match(await text('[role=alert]'), /Access tokens expire after Must be from 5 seconds to 1 day/);
  assert.deepEqual(
    [await amount.inputValue(), await unit.inputValue()],
    ['15', '86400'],
    'nothing typed is lost',
  );
  await amount.fill('900');
  await unit.selectOption({ label: 'seconds' });
  assert.equal(await bar.count(), 0, 'the same in another unit is no change');
  await amount.fill('1');
  await unit.selectOption({ label: 'hours' });
  await press(page, 'Save');
  assert.match(await noticeOf(page), /^Settings saved/);
  assert.deepEqual([await amount.inputValue(), await unit.inputValue()], ['1', '3600']);
  const stored = await world.server.admin('GET', '/settings');
  assert.match(JSON.stringify(stored), /"access_token_seconds","value":3600/);
  await amount.fill('15');
  await unit.selectOption({ label: 'minutes' });
  await press(page, 'Save');
});

/** Saves the mail server and sends the test. */
const saveAndTest = (): Promise<void> =>
  loaded(page, () => page.getByRole('button', { name: /^Save and send a test/ }).click());

async function testAddress(): Promise<void> {
  const field = page.getByLabel('Send the test to');
  if ((await field.count()) > 0) await field.fill('ada@example.com');
}

test('mail server: providers fill it in, one press saves and tests, the answer has focus', async () => {
  const mails = await startMailServer();
  try {
    await world.open('/settings/mail');
    await page.getByLabel('Provider').selectOption({ label: 'SendGrid' });
    const value = (label: string) => page.getByLabel(label, { exact: true }).inputValue();
    assert.deepEqual(
      [await value('Host'), await value('Port'), await value('Encryption'), await value('User')],
      ['smtp.sendgrid.net', '465', 'tls', 'apikey'],
    );
    assert.match(await text('#provider-hint'), /the word apikey/);
    await page.getByLabel('Provider').selectOption({ label: 'Another one' });
    await page.getByLabel('Host').fill('127.0.0.1');
    await page.getByLabel('Port').fill('9');
    await page.getByLabel('User', { exact: true }).fill('');
    await page.getByLabel('Encryption').selectOption({ label: 'STARTTLS where the server offers it' });
    await testAddress();
    await saveAndTest();
    const answer = page.locator('#mail-test');
    assert.match(
      (await answer.textContent()) ?? '',
      /Saved, but the test e-mail to .* was not sent.*Connection refused/s,
    );
    assert.equal(await page.evaluate('document.activeElement.id'), 'mail-test');
    const bottom = 'document.activeElement.getBoundingClientRect().bottom <= innerHeight';
    assert.equal(await page.evaluate(bottom), true, 'in the window');
    await shoot(page, 'settings-mail-refused');
    const { items } = await world.server.admin('GET', '/audit?event=mail.test_failed');
    assert.match(JSON.stringify(items), /"outcome":"failure"/);
    await page.getByLabel('Port').fill(String(mails.port));
    await testAddress();
    await saveAndTest();
    assert.match((await answer.textContent()) ?? '', /Saved\. The mail server accepted the test e-mail to/);
    assert.equal(mails.received.length, 1);
    await shoot(page, 'settings-mail-accepted');
  } finally {
    await mails.close();
  }
});

test('mail server: by its parts; a stored password goes to no other server', async () => {
  await world.open('/settings/mail');
  await page.getByLabel('Host').fill('127.0.0.1');
  await page.getByLabel('Port').fill('9');
  await page.getByLabel('Encryption').selectOption({ label: 'TLS from the start' });
  await page.getByLabel('User', { exact: true }).fill('robot');
  await testAddress();
  await saveAndTest();
  const alert = page.locator('#alert');
  assert.match((await alert.textContent()) ?? '', /Password\s*Enter the password of this user/);
  assert.equal(await page.getByLabel('Host').inputValue(), '127.0.0.1', 'nothing typed is lost');
  assert.equal(await page.getByLabel('User', { exact: true }).inputValue(), 'robot');
  await page.getByLabel('Password', { exact: true }).fill('four purple kites');
  await saveAndTest();
  assert.match(await text('#mail-test'), /^\s*Saved, but/);
  assert.doesNotMatch(await page.content(), /purple/);
  await shoot(page, 'settings-mail-server');
  await page.getByLabel('Host').fill('mail.attacker.example');
  await saveAndTest();
  assert.match((await alert.textContent()) ?? '', /Enter the password again/);
  await page.getByLabel('Host').fill('');
  await saveAndTest();
  assert.match(await text('.notice'), /There is no mail server/);
  assert.equal(await page.getByLabel('User', { exact: true }).inputValue(), '');
});

test('keyboard: shortcuts are listed, `g a` and `g c` navigate, Ctrl+K finds pages and users', async () => {
  await world.open('');
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  assert.match(
    (await help.textContent()) ?? '',
    /Go to a page, a user or an application.*gaApplications.*gcApplications/s,
  );
  await page.keyboard.press('Escape');
  assert.equal(await help.isVisible(), false);
  await page.keyboard.press('g');
  await loaded(page, () => page.keyboard.press('a'));
  assert.equal(await heading(page), 'Applications');
  await world.open('');
  await page.keyboard.press('g');
  await loaded(page, () => page.keyboard.press('c'));
  assert.equal(await heading(page), 'Applications');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('option', { name: 'Grace Hopper' }).waitFor({ state: 'detached' });
  await page.keyboard.type('grac');
  await palette.getByRole('option', { name: 'Grace Hopper' }).waitFor();
  await shoot(page, 'admin-work-palette');
  await loaded(page, () => page.keyboard.press('Enter'));
  assert.equal(await heading(page), 'Grace Hopper');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('setti');
  await palette.getByRole('option', { name: /^Settings/ }).waitFor();
  await loaded(page, () => page.keyboard.press('Enter'));
  assert.match(page.url(), /\/admin\/settings/);
});

test('palette: acts, single settings and guides, by the beginning of their words', async () => {
  const palette = page.getByRole('dialog', { name: 'Go to' });
  for (const [typed, name, leads] of [
    ['add appl', 'Add application', /\/applications\/new$/],
    ['wrong passw lockout', 'Wrong passwords until a lockout', /\/settings\/sign-in#lockout_threshold$/],
    ['fastapi', 'FastAPI', /\/applications\/new\/fastapi$/],
    ['api ref', 'API reference', /\/api-reference$/],
  ] as const) {
    await world.open('');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(typed);
    await palette.getByRole('option', { name }).waitFor();
    await loaded(page, () => page.keyboard.press('Enter'));
    assert.match(page.url(), leads);
  }
});

test('bulk act: ticked, counted, named on the confirmation page, done; the list as CSV', async () => {
  for (const name of ['guest-1', 'guest-2', 'guest-3']) await world.createUser(name);
  await world.open('/users?search=guest-');
  const act = page.getByRole('button', { name: 'Deactivate' });
  assert.equal(await act.isVisible(), false);
  await page.getByLabel('Select all on this page').check();
  await page.getByLabel('Select guest-2').uncheck();
  assert.equal(await text('.bulk output'), '2');
  await shoot(page, 'admin-work-ticked');
  await press(page, 'Deactivate');
  assert.equal(await heading(page), 'Deactivate 2 users?');
  await press(page, 'Deactivate');
  assert.equal(await heading(page), '2 users deactivated');
  await world.open('/users?search=guest-&is_active=false');
  assert.equal(await page.locator('tbody tr').count(), 2);
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export CSV' }).click();
  const download = await downloading;
  assert.match(download.suggestedFilename(), /^users-[\d-]{10}\.csv$/);
});

test('user deletion: needs the typed name; only audit events remain', async () => {
  await world.open('/users?search=grace');
  await press(page, 'Grace Hopper', 'link');
  const address = page.url();
  await press(page, 'Delete user', 'link');
  await page.getByLabel('to continue').fill('grave');
  await press(page, 'Delete user');
  assert.match(await text('#confirm-error'), /Type grace/);
  await page.getByLabel('to continue').fill('grace');
  await press(page, 'Delete user');
  assert.match(await noticeOf(page), /^User deleted/);
  assert.equal((await page.goto(address))?.status(), 404);
  assert.equal(await heading(page), 'Not found');
  assert.equal(await tryToSignIn('grace', PASSWORD), 'Sign in to Sample');
});

test('client deletion: needs the typed name', async () => {
  await world.open('/applications');
  await press(page, 'Sample', 'link');
  await press(page, 'Delete application', 'link');
  await page.getByLabel('to continue').fill('Sample');
  await press(page, 'Delete application');
  assert.match(await noticeOf(page), /^Application deleted/);
});

test('last administrator: cannot be deactivated, and the page says why', async () => {
  await world.open('/users?search=ada');
  // The bar on top has the administrator's own name as well.
  await loaded(page, () => page.locator('tbody').getByRole('link', { name: 'ada', exact: true }).click());
  await press(page, 'Deactivate', 'link');
  await press(page, 'Deactivate');
  assert.match(await text('[role=alert]'), /one active administrator must remain/);
});

test('without scripts: search, sort, filter, deactivate and reactivate a user', async () => {
  await world.createUser('quiet');
  const { page: plain, close } = await openWindow(world.browser, { javaScriptEnabled: false });
  await plain.goto(`${world.server.origin}/admin/users`);
  await enter(plain, { username: 'ada', password: 'plum trees in June' });
  await plain.waitForURL('**/admin/users');
  await plain.locator('#search').fill('quiet');
  await plain.keyboard.press('Enter');
  await plain.waitForURL('**/users?search=quiet');
  await plain.locator('tbody').getByRole('link', { name: 'quiet' }).click();
  await plain.getByRole('link', { name: 'Deactivate' }).click();
  await plain.getByRole('button', { name: 'Deactivate' }).click();
  assert.match((await plain.locator('.verdict').textContent()) ?? '', /Cannot sign in/);
  await plain.getByRole('button', { name: 'Reactivate' }).click();
  assert.match((await plain.locator('.notice').textContent()) ?? '', /Reactivated/);
  await close();
});

test('first steps: lead to a second factor, which /admin then asks for', async () => {
  await world.open('');
  await press(page, 'Protect your own account', 'link');
  await page.getByLabel('Password', { exact: true }).fill('plum trees in June');
  await loaded(page, () => page.keyboard.press('Enter'));
  await enrol(page);
  await page.waitForURL('**/admin');
  assert.match(await text('.steps .done:nth-child(3)'), /Protect your own account/);
  const { page: other, close } = await openWindow(world.browser);
  await other.goto(`${world.server.origin}/admin/users`);
  await loaded(other, () => enter(other, { username: 'ada', password: 'plum trees in June' }));
  assert.equal(await heading(other), 'Enter the code from your app');
  await other.goto(`${world.server.origin}/admin/users`);
  assert.equal(await heading(other), 'Sign in to Latchkey');
  await close();
});

test('registration token: shown once, registers one application, can be withdrawn', async () => {
  await world.open('/registration-tokens');
  await page.getByLabel('Name').fill('The printer');
  await press(page, 'Create token');
  const token = await text('#token');
  const register = async (): Promise<number> => {
    const response = await fetch(`${world.server.issuer}/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Printer', redirect_uris: ['https://printer.example/callback'] }),
    });
    return response.status;
  };
  assert.equal(await register(), 201);
  assert.equal(await register(), 401);
  await page.getByLabel('Name').fill('Nobody');
  await press(page, 'Create token');
  await press(page, 'Revoke Nobody');
  assert.match(await noticeOf(page), /^Token revoked/);
  assert.ok(!(await page.content()).includes(token));
});
