// Attack: becoming an administrator, verified, or another user by fields that the sign-up form does not have
// (Zitadel CVE-2026-27946, autentico ProfileRoleEscalation).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as model from '../../src/store/collections.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { answersOf, codeOf, openSignup, userNamed } from '../support/signup.ts';

let app: TestApp;
let client: { id: string };
before(async () => {
  app = await startApp();
  client = await app.register();
  await app.admin('PATCH', '/settings', {
    allow_self_signup: true,
    signup_require_verified_email: false,
    signup_email: 'optional',
    smtp_url: 'smtp://127.0.0.1:9',
  });
});
after(() => app.stop());

const INJECTED = [
  'role',
  'admin',
  'is_admin',
  'isAdmin',
  'email_verified',
  'is_email_verified',
  'isEmailVerified',
  'knownBrowsers',
  'totp_verified',
  'is_active',
  'locked',
  'locked_until',
  'id',
  'sub',
  'user_id',
  'passwordHash',
  'password_hash',
  'mfa',
  'created_at',
  'createdAt',
  'grants',
  'groups',
  'groups[]',
  'scope',
  'profile[role]',
  'profile.role',
  'address',
  'phone_number',
  'phone_number_verified',
  'nickname',
  'acceptedTerms',
  'usernameKey',
  'emailKey',
];

async function form(): Promise<{ agent: Agent; page: Page }> {
  const agent = new Agent(app);
  return { agent, page: await openSignup(app, client.id, agent) };
}

for (const name of INJECTED) {
  test(`attack: mass assignment; field ${name} is refused and creates no account`, async () => {
    const { agent, page } = await form();
    const answers = { ...answersOf('mallory'), email: '', [name]: name === 'role' ? 'admin' : 'true' };
    const refused = await agent.submit(page, answers);
    assert.equal(refused.status, 400);
    assert.equal(refused.location, undefined);
    assert.equal(await userNamed(app, 'mallory'), undefined);
  });
}

for (const name of ['__proto__', 'constructor', 'prototype', '__proto__[role]']) {
  test(`attack: prototype pollution by field ${name}`, async () => {
    const { agent, page } = await form();
    const fields = new URLSearchParams({ ...hiddenFields(page.body), ...answersOf('mallory'), email: '' });
    fields.append(name, 'admin');
    const refused = await agent.request('/oauth2/signup', { method: 'POST', body: fields });
    assert.equal(refused.status, 400);
    assert.equal(Object.hasOwn(Object.prototype, 'role'), false);
  });
}

test('attack: a field sent twice is refused', async () => {
  const { agent, page } = await form();
  const fields = new URLSearchParams({ ...hiddenFields(page.body), ...answersOf('mallory'), email: '' });
  fields.append('username', 'root');
  assert.equal((await agent.request('/oauth2/signup', { method: 'POST', body: fields })).status, 400);
  assert.equal(await userNamed(app, 'mallory'), undefined);
});

test('sign-up: the normal form creates an ordinary account, field by field', async () => {
  const { agent, page } = await form();
  codeOf(await agent.submit(page, { ...answersOf('honest'), email: '' }));
  const id = String((await userNamed(app, 'honest'))?.id);
  const record = (await app.store.collection(model.accounts).find(id))?.value;
  assert.deepEqual(Object.keys(record ?? {}).sort(), [
    'createdAt',
    'failedLoginAttempts',
    'isActive',
    'isEmailVerified',
    'knownBrowsers',
    'lastLoginAt',
    'lockCount',
    'passwordChangedAt',
    'passwordHash',
    'profile',
    'role',
    'securityChangedAt',
    'totpVerified',
    'updatedAt',
    'username',
    'usernameKey',
  ]);
  assert.deepEqual([record?.role, record?.isEmailVerified, record?.isActive], ['user', false, true]);
});

test('attack: mass assignment through an invitation', async () => {
  const { body } = await app.admin('POST', '/invitations', { email: 'guest@example.com', send_mail: false });
  const agent = new Agent(app);
  const page = await agent.get(String(body.data.url));
  const { email: _, ...answers } = answersOf('guest');
  for (const extra of [
    { role: 'admin' },
    { email: 'other@example.com' },
    { is_email_verified: 'true' },
    { client_id: 'x', scope: 'admin' },
  ]) {
    assert.equal((await agent.submit(page, { ...answers, ...extra })).status, 400);
  }
  assert.equal((await agent.submit(page, answers)).status, 200);
  const user = await userNamed(app, 'guest');
  assert.deepEqual([user?.role, user?.email, user?.is_email_verified], ['user', 'guest@example.com', false]);
});
