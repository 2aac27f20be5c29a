// Notices to owners about changes by others, and what administrators do about second factors and passwords over the API;
// without a mail server mails are kept, and read from the API.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { accounts, trustedDevices } from '../../src/store/collections.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { enrolPhone } from '../support/phone.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const request = {
  client_id: client.id,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'c'.repeat(43),
  code_challenge_method: 'S256',
};

const createUser = (username: string, fields: Record<string, unknown> = {}) =>
  app.createUser(username, { email: `${username}@example.com`, is_email_verified: true, ...fields });

async function mailsTo(username: string, template: string): Promise<Record<string, unknown>[]> {
  const { body } = await app.admin('GET', `/mails?to=${username}@example.com`);
  return (body.data.items ?? []).filter((mail) => mail.template === template);
}

/** Notices of a lock come after the answer. */
async function lockMails(username: string, count: number): Promise<Record<string, unknown>[]> {
  for (let turn = 0; turn < 1_200; turn += 1) {
    const found = await mailsTo(username, 'account_locked');
    if (found.length >= count) break;
    await sleep(50);
  }
  return mailsTo(username, 'account_locked');
}

async function failToSignIn(username: string, times: number): Promise<void> {
  const agent = new Agent(app);
  const page = await agent.authorize(request);
  for (let turn = 0; turn < times; turn += 1) {
    const fields = { ...hiddenFields(page.body), username, password: 'wrong' };
    equal((await agent.post('/oauth2/login', fields)).status, 401);
  }
}

test('guessed passwords: the owner is notified once in 24 hours, verified addresses only', async () => {
  await createUser('locked');
  await createUser('unverified', { is_email_verified: false });
  await failToSignIn('unverified', 5);
  await failToSignIn('locked', 7);
  const [mail, ...more] = await lockMails('locked', 1);
  deepEqual(more, []);
  match(String(mail?.text), /15 minutes/);
  match(String(mail?.text), /127\.0\.0\.1/);
  app.advance(901_000);
  await failToSignIn('locked', 5);
  app.advance(86_400_000);
  await failToSignIn('locked', 5);
  equal((await lockMails('locked', 2)).length, 2);
  equal((await mailsTo('unverified', 'account_locked')).length, 0);
});

test('attack: a stolen password on a new machine: the owner is mailed, once per browser (R149)', async () => {
  const user = await createUser('robbed');
  const signIn = async (agent: Agent): Promise<void> => {
    const page = await agent.submit(await agent.authorize({ ...request, prompt: 'login' }), {
      username: user.username,
      password: PASSWORD,
    });
    ok(page.location?.includes('code='), page.body.slice(0, 300));
  };
  const own = new Agent(app);
  await signIn(own);
  await signIn(own);
  equal((await mailsTo('robbed', 'new_sign_in')).length, 0);
  const thief = new Agent(app);
  await signIn(thief);
  await signIn(thief);
  const [mail, ...more] = await mailsTo('robbed', 'new_sign_in');
  deepEqual(more, []);
  match(String(mail?.text), /127\.0\.0\.1/);
  await signIn(own);
  equal((await mailsTo('robbed', 'new_sign_in')).length, 1);
});

test('password changed by an administrator: notified at the previous address', async () => {
  const { id } = await createUser('owner');
  const password = 'another battery staple horse';
  const change = { password, email: 'elsewhere@example.com' };
  equal((await app.admin('PATCH', `/users/${id}`, change)).status, 200);
  equal((await mailsTo('owner', 'password_changed')).length, 1);
  await app.admin('PATCH', `/users/${id}`, { nickname: 'Owner' });
  equal((await mailsTo('owner', 'password_changed')).length, 1);
});

test('reset-mfa: erases factors, recovery codes, trusted devices; the owner is notified', async () => {
  const user = await createUser('resets');
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const agent = new Agent(app);
  const { phone } = await enrolPhone(app, agent, await agent.authorize(request), user.username);
  const again = new Agent(app);
  const asked = await again.submit(await again.authorize(request), {
    username: 'resets',
    password: PASSWORD,
  });
  await again.submit(asked, { method: 'totp', code: phone.code(), trust_device: 'on' });

  const { body: listed } = await app.admin('GET', `/users/${user.id}/trusted-devices`);
  equal(listed.data.items?.length, 1);
  equal(listed.data.items?.[0]?.ip_address, '127.0.0.1');
  equal((await app.admin('POST', `/users/${user.id}/reset-mfa`)).status, 200);

  const { body: empty } = await app.admin('GET', `/users/${user.id}/trusted-devices`);
  deepEqual(empty.data.items, []);
  equal((await app.store.collection(trustedDevices).findBy('account', user.id)).length, 0);
  const record = (await app.store.collection(accounts).find(user.id))?.value;
  ok(record);
  deepEqual([record.totp, record.recoveryCodes, record.hasEmailCodes], [undefined, undefined, undefined]);
  equal((await mailsTo('resets', 'second_factor_reset')).length, 1);
  const next = await again.submit(await again.authorize({ ...request, prompt: 'login' }), {
    username: 'resets',
    password: PASSWORD,
  });
  match(next.body, /data:image\/png;base64/);
  // There is nothing left to reset, so nothing to tell.
  await app.admin('POST', `/users/${user.id}/reset-mfa`);
  equal((await mailsTo('resets', 'second_factor_reset')).length, 1);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
});

test('send-password-reset: a link that works once; refused where it could reach no one', async () => {
  const user = await createUser('forgets');
  const { status, body } = await app.admin('POST', `/users/${user.id}/send-password-reset`);
  deepEqual([status, body.data.id], [200, user.id]);
  const [mail] = await mailsTo('forgets', 'password_reset');
  const link = /https?:\/\/\S+\?token=[\w-]+/.exec(String(mail?.text))?.[0] ?? '';
  ok(link.startsWith(`${app.url}/oauth2/reset-password`));
  const agent = new Agent(app);
  const password = 'another battery staple horse';
  const page = await agent.get(link);
  equal((await agent.submit(page, { password, confirm_password: password })).status, 200);
  equal((await agent.get(link)).status, 410);
  const code = (await new Agent(app).signIn(client.id, { username: 'forgets', password })).code;
  ok(code.length > 10);

  const unverified = await createUser('unproven', { is_email_verified: false });
  const mailless = await app.createUser('mailless');
  const gone = await createUser('gone', { is_active: false });
  for (const [{ id }, field] of [
    [unverified, 'email'],
    [mailless, 'email'],
    [gone, 'is_active'],
  ] as const) {
    const refused = await app.admin('POST', `/users/${id}/send-password-reset`);
    deepEqual([refused.status, Object.keys(refused.body.error?.fields ?? {})], [400, [field]]);
  }
  equal((await app.admin('POST', '/users/nobody/send-password-reset')).status, 404);
  const { body: log } = await app.admin('GET', '/audit?event=password.reset_requested');
  deepEqual(
    log.data.items?.map((event) => event.target_id),
    [user.id],
  );
});

test('send-email-verification: a link that verifies; refused when already verified', async () => {
  const user = await createUser('proves', { is_email_verified: false });
  const path = `/users/${user.id}/send-email-verification`;
  equal((await app.admin('POST', path)).status, 200);
  // Who reads it in the outbox would pass for the owner of the mailbox.
  const [kept] = await mailsTo('proves', 'email_verification');
  deepEqual([kept?.state, kept?.text, kept?.html], ['kept', null, null]);
  const mailbox = await openMailbox(app);
  equal((await app.admin('POST', path)).status, 200);
  const link = await mailbox.linkTo('proves@example.com');
  await app.admin('PATCH', '/settings', { smtp_url: '' });
  await mailbox.close();
  ok(link.startsWith(`${app.url}/oauth2/verify-email`));
  const agent = new Agent(app);
  equal((await agent.submit(await agent.get(link), {})).status, 200);
  equal((await app.admin('GET', `/users/${user.id}`)).body.data.is_email_verified, true);

  const mailless = await app.createUser('mailless-too');
  const gone = await createUser('gone-too', { is_active: false, is_email_verified: false });
  for (const [id, field] of [
    [user.id, 'is_email_verified'],
    [mailless.id, 'email'],
    [gone.id, 'is_active'],
  ] as const) {
    const refused = await app.admin('POST', `/users/${id}/send-email-verification`);
    deepEqual([refused.status, Object.keys(refused.body.error?.fields ?? {})], [400, [field]]);
  }
});
