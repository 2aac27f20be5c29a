// The Admin UI in Chromium: signing keys, tokens and grants, invitations, users' passkeys, settings files and user import.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { adminPages } from '../../src/admin/console/page-list.ts';
import { type AdminWorld, noticeOf, PASSWORD, press, startAdminWorld } from './admin-world.ts';
import { enter, heading, loaded } from './steps.ts';
import { plugIn, withoutAutofill } from './virtual-authenticator.ts';
import { openWindow } from './window.ts';

// No one listens there: what the browser is sent to is all that is wanted.
const CALLBACK = 'http://localhost:8765/callback';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

let world: AdminWorld;
let page: Page;
let application: { id: string; secret: string };
let grace: string;

before(async () => {
  world = await startAdminWorld();
  ({ page } = world.admin);
  application = await world.createApplication({ redirect_uris: [CALLBACK] });
  grace = await world.createUser('grace', { email: 'grace@acme.example' });
});
afterEach(() => assert.deepEqual(world.admin.complaints, []));
after(() => world?.stop());

const text = async (selector: string): Promise<string> =>
  ((await page.locator(selector).first().textContent()) ?? '').trim();

const tokenRequest = async (fields: Record<string, string>): Promise<Record<string, unknown>> => {
  const authorization = `Basic ${Buffer.from(`${application.id}:${application.secret}`).toString('base64')}`;
  const body = new URLSearchParams(fields);
  const response = await fetch(`${world.server.issuer}/token`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
  return JSON.parse(await response.text());
};

const userinfoStatus = async (token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${world.server.issuer}/userinfo`, { headers })).status;
};

/** Someone signs in to the application, in a window of their own. @returns what the application got */
async function signIn(username: string, withPasskey = false): Promise<{ access: string; refresh: string }> {
  const { page: tab, close } = await openWindow(world.browser);
  await withoutAutofill(tab);
  if (withPasskey) await plugIn(tab, { kind: 'platform', isSynced: true });
  const query = new URLSearchParams({
    client_id: application.id,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope: 'openid profile',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  });
  const came = tab.waitForRequest((request) => request.url().startsWith(CALLBACK));
  await tab.goto(`${world.server.issuer}/authorize?${query}`);
  await enter(tab, { username, password: PASSWORD });
  if (withPasskey) await tab.getByRole('button', { name: 'Create a passkey' }).click();
  const code = new URL((await came).url()).searchParams.get('code') ?? '';
  await close();
  const redirect = { redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const got = await tokenRequest({ grant_type: 'authorization_code', code, ...redirect });
  return { access: String(got.access_token), refresh: String(got.refresh_token) };
}

test('Admin UI: destructive acts and credentials need a recent sign-in', () => {
  const isSensitive = (method: string, path: string): boolean | undefined =>
    adminPages.find((one) => one.method === method && one.path === path)?.isSensitive;
  for (const path of [
    '/keys/rotate',
    '/keys/replace',
    '/users/import',
    '/users/:id/passkeys/:passkey_id/remove',
  ])
    for (const method of ['GET', 'POST']) assert.equal(isSensitive(method, path), true, `${method} ${path}`);
});

test('tokens: found by user, never shown, and revoked for the application', async () => {
  const { access, refresh } = await signIn('grace', true);
  await world.open('/sessions');
  await press(page, 'Tokens', 'link');
  assert.equal(await page.locator('tbody tr').count(), 1, 'refresh tokens alone');
  await press(page, 'Access tokens', 'link');
  assert.equal(await text('.empty h2'), 'Select a user');
  await page.getByLabel('User', { exact: true }).fill('nobody');
  await press(page, 'Show');
  assert.match(await text('#user-error'), /User not found/);
  await page.getByLabel('User', { exact: true }).fill('Grace@acme.example');
  await press(page, 'Show');
  assert.match(page.url(), new RegExp(`user_id=${grace}`));
  const content = await page.content();
  for (const value of [access, refresh, access.split('.')[2] ?? '']) assert.ok(!content.includes(value));
  assert.equal(await page.locator('tbody tr').count(), 1);
  await press(page, 'Refresh tokens', 'link');
  assert.equal(await userinfoStatus(access), 200);
  await press(page, 'Revoke Refresh token of grace at Acme Analytics');
  assert.equal(await noticeOf(page), 'Token revoked.');
  assert.match(page.url(), new RegExp(`user_id=${grace}`));
  assert.equal(await userinfoStatus(access), 401);
  assert.equal(
    (await tokenRequest({ grant_type: 'refresh_token', refresh_token: refresh })).error,
    'invalid_grant',
  );
});

test('grants: an application’s access is withdrawn on the user’s page', async () => {
  const { access } = await signIn('grace');
  await world.open(`/users/${grace}`);
  const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Applications in use' }) });
  assert.match((await panel.textContent()) ?? '', /Acme Analytics.*openid, profile/s);
  await press(page, 'Revoke access of Acme Analytics');
  assert.match(await noticeOf(page), /^Access revoked/);
  assert.match((await panel.textContent()) ?? '', /No application has access/);
  assert.equal(await userinfoStatus(access), 401);
  await press(page, 'Tokens of this user', 'link');
  assert.equal(await text('.empty h2'), 'No results');
});

test('passkey: removed from a user after a confirmation page', async () => {
  await world.open(`/users/${grace}`);
  const panel = page.locator('section', {
    has: page.getByRole('heading', { name: 'Passkeys', exact: true }),
  });
  assert.match((await panel.textContent()) ?? '', /synced between devices/);
  await loaded(page, () => panel.getByRole('link', { name: /^Remove/ }).click());
  assert.match(await text('.lost'), /It is the only one/);
  await press(page, 'Remove passkey');
  assert.match(await noticeOf(page), /^Passkey removed/);
  assert.match((await panel.textContent()) ?? '', /None/);
});

test('invitation: its link is shown once and leads to sign-up; resending voids the first', async () => {
  await world.open('/users');
  await press(page, 'Invitations', 'link');
  const email = page.getByLabel('E-mail', { exact: true });
  await email.fill('grace@acme.example');
  await press(page, 'Invite');
  assert.match(await text('#email-error'), /already in use/);
  assert.equal(await email.inputValue(), 'grace@acme.example');
  await email.fill('katherine@acme.example');
  await page.getByLabel('Continue to').selectOption({ label: 'Acme Analytics' });
  await page.getByRole('checkbox').uncheck();
  await press(page, 'Invite');
  const link = await text('#invitation-link');
  const { page: tab, close } = await openWindow(world.browser);
  await tab.goto(link);
  assert.equal(await heading(tab), 'Create your account');
  await world.open('/invitations');
  assert.ok(!(await page.content()).includes(new URL(link).searchParams.get('token') ?? '-'));
  await press(page, 'New link for katherine@acme.example');
  assert.notEqual(await text('#invitation-link'), link);
  assert.equal(await page.locator('tbody tr').count(), 1);
  assert.match(await text('tbody'), /Acme Analytics/);
  await tab.goto(link);
  assert.notEqual(await heading(tab), 'Create your account');
  await close();
  await press(page, 'Revoke the invitation of katherine@acme.example');
  assert.match(await noticeOf(page), /^Invitation revoked/);
  assert.equal(await page.locator('tbody tr').count(), 0);
});

test('enrolment link: for a user without a password', async () => {
  await world.open(`/users/${grace}`);
  await press(page, 'Send set-up link');
  assert.match(await noticeOf(page), /^Set-up link created\. This server can’t send e-mail/);
  const { items } = await world.server.admin('GET', '/mails?limit=1');
  assert.match(JSON.stringify(items), /oauth2\/enrol\?token=/);
});

test('settings file: differences and problems are shown before anything changes', async () => {
  await world.open('/settings');
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export' }).click();
  const download = await coming;
  assert.match(download.suggestedFilename(), /^latchkey-settings-\d{4}-\d\d-\d\d\.json$/);
  const { values } = JSON.parse(await readFile(await download.path(), 'utf8'));
  assert.equal(values.product_name, 'Latchkey');
  assert.ok(!('smtp_url' in values), 'secrets do not travel');
  const file = (given: object) => ({
    name: 'export.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(given)),
  });
  await press(page, 'Import', 'link');
  const choose = (given: object) => page.locator('input[type=file]').setInputFiles(file(given));
  await choose({ values: { ...values, nothing_such: 1, lockout_threshold: 'many' } });
  await page.getByText('Read from export.json.').waitFor();
  await press(page, 'Review changes');
  assert.match(
    await text('[role=alert]'),
    /Nothing was changed.*2 problems.*lockout_threshold.*nothing_such/s,
  );
  await choose({ values: { ...values, product_name: 'Acme', lockout_threshold: 7 } });
  await page.getByText('Read from export.json.').waitFor();
  await press(page, 'Review changes');
  assert.match(await text('#difference'), /^2 of \d+ settings would change/);
  assert.match(await text('.difference tbody'), /lockout_threshold.*5.*7.*product_name.*Latchkey.*Acme/s);
  // Someone else changes one of them before it is applied.
  await world.server.admin('PATCH', '/settings', { lockout_threshold: 9 });
  await press(page, 'Apply 2 changes');
  assert.match(await text('[role=alert]'), /settings were changed in the meantime/);
  assert.match(await text('.difference tbody'), /lockout_threshold.*9.*7/s);
  await press(page, 'Apply 2 changes');
  assert.match(await noticeOf(page), /^Settings imported/);
  const now = await world.server.admin('GET', '/settings/export');
  assert.deepEqual(now.values, { ...values, product_name: 'Acme', lockout_threshold: 7 });
  await world.server.admin('PATCH', '/settings', { product_name: 'Latchkey', lockout_threshold: 5 });
});

test('user import without scripts: each refused line has its reason and can be corrected', async () => {
  const { page: plain, close } = await openWindow(world.browser, { javaScriptEnabled: false });
  await plain.goto(`${world.server.origin}/admin/users/import`);
  await enter(plain, { username: 'ada', password: 'plum trees in June' });
  await plain.waitForURL('**/admin/users/import');
  const hash = '$2b$04$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui';
  const lines = [
    JSON.stringify({ username: 'alan', password_hash: hash, email: 'alan@acme.example' }),
    '{"username":"grace"}',
    '{"username":"joan","colour":"red"}',
    'no json',
    '',
    '{"username":"margaret"}',
  ];
  await plain.locator('#rows').fill(lines.join('\n'));
  await plain.getByRole('button', { name: 'Import' }).click();
  assert.equal(((await plain.locator('#outcome-title').textContent()) ?? '').trim(), '2 created, 3 failed');
  const results = (await plain.locator('.results tbody').textContent()) ?? '';
  assert.match(results, /2\s*grace.*taken.*3\s*joan.*colour.*Unknown field.*4.*The line is not valid JSON/s);
  assert.equal(await plain.locator('#rows').inputValue(), lines.slice(1, 4).join('\n'));
  await close();
  const { items } = await world.server.admin('GET', '/users?search=alan');
  assert.match(JSON.stringify(items), /alan@acme\.example/);
});

test('signing keys: the next one is published; a compromised one is invalid at once', async () => {
  const { access } = await signIn('grace');
  const kids = async (): Promise<string[]> => {
    const response = await fetch(`${world.server.origin}/.well-known/jwks.json`);
    const { keys } = JSON.parse(await response.text());
    // Beside each there is one for ES256.
    return keys.filter(({ kty }: { kty: string }) => kty === 'RSA').map(({ kid }: { kid: string }) => kid);
  };
  const [first = ''] = await kids();
  await world.open('');
  await press(page, 'Keys', 'link');
  assert.match(await text('tbody'), new RegExp(`${first}\\s*RS256[^]*Active`));
  assert.match(await text('section'), /A new key is published/);
  await press(page, 'Rotate key', 'link');
  assert.match(await text('.course'), /all tokens stay valid/);
  await press(page, 'Rotate key');
  assert.match(await noticeOf(page), /^A new key is published/);
  assert.match(await text('tbody'), /Next.*Active/s);
  assert.match(await text('section'), /starts to sign in 1[45] min/);
  const [, next = ''] = await kids();
  assert.equal(await userinfoStatus(access), 200);
  await press(page, 'Replace compromised key', 'link');
  assert.match(await text('.lost'), new RegExp(first));
  await page.getByLabel('to continue').fill('compromise');
  await press(page, 'Replace key');
  assert.match(await text('#confirm-error'), /Type compromised/);
  await page.getByLabel('to continue').fill('compromised');
  await press(page, 'Replace key');
  assert.match(await noticeOf(page), /^Key replaced/);
  assert.deepEqual(await kids(), [next]);
  assert.equal(await userinfoStatus(access), 401);
  await world.open('/audit');
  assert.match(await text('tbody'), /Key rotation requested/);
});

test('overview: lists what needs attention first, with the figures of GET /stats', async () => {
  const mail = { smtp_url: 'smtp://127.0.0.1:9/' };
  await world.server.admin('PATCH', '/settings', { ...mail, key_rotation_seconds: 0 });
  // With fewer there are words in the place of charts.
  for (let count = 0; count < 5; count += 1) await signIn('grace');
  await world.open('');
  // The figures are up to ten seconds old.
  for (let second = 0; second < 60 && (await page.locator('svg.chart').count()) === 0; second += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await page.reload();
  }
  assert.doesNotMatch(await text('.attention'), /No mail server/);
  assert.match(await text('.attention'), /only administrator/);
  // Page and answer may each be up to ten seconds old.
  const figures = async (): Promise<string[]> => {
    const { counts } = await world.server.admin('GET', '/stats');
    const shown = page.locator('.figures a', { hasText: 'Active sessions' }).locator('b');
    return [(await shown.textContent()) ?? '', String(Reflect.get(Object(counts), 'sessions_active'))];
  };
  let [shown, told] = await figures();
  for (let second = 0; second < 60 && shown?.trim() !== told; second += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await page.reload();
    [shown, told] = await figures();
  }
  assert.equal(shown?.trim(), told);
  assert.equal(await page.locator('svg.chart').count(), 2);
  assert.match(await text('.charts'), /The line begins with the second hour/);
  assert.match(await text('.meters'), /Second factor.*0%.*Passkey/s);
});
