// The sign-in modes (decision 0011): what counts in each, on every path; passkeys as the second step; recovery for users who
// lost them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PASSWORD_GRANT } from '../attacks/sign-in-form.ts';
import { Agent, type Page, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { openMailbox } from '../support/mailbox.ts';
import {
  beginRegistration,
  enrol,
  goOn,
  makePasskey,
  openSignIn,
  originOf,
  send,
  usePasskey,
} from '../support/passkeys.ts';
import { createPhone, enrolPhone } from '../support/phone.ts';

let app: TestApp;
let client: { id: string; secret: string };
let adminKey: Authenticator;
let admin: { id: string; username: string };

before(async () => {
  app = await startApp();
  client = await app.register();
  admin = await app.createUser('ada-admin', { role: 'admin' });
  adminKey = newKey();
});
after(() => app.stop());

const newKey = (traits: { canVerifyUser?: boolean; isSynced?: boolean } = {}): Authenticator =>
  new Authenticator({ origin: originOf(app), ...traits });
const setMode = (mode: string) => app.admin('PATCH', '/settings', { auth_mode: mode });
const isSignedIn = (page: Page): boolean => page.location?.includes('code=') === true;

async function latestAmr(user: { id: string }, expected: readonly string[]): Promise<void> {
  const { body } = await app.admin('GET', `/users/${user.id}/sessions`);
  const all = (body.data.items ?? []).map(({ amr }) => JSON.stringify(amr));
  assert.ok(all.includes(JSON.stringify(expected)), all.join(' '));
}

/** A recovery code on the page that asks for one. */
async function recover(agent: Agent, page: Page, username: string, code: string): Promise<Page> {
  const [, url = ''] = /href="([^"]*\/oauth2\/recover[^"]*)"/.exec(page.body) ?? [];
  const shown = await agent.get(url.replaceAll('&amp;', '&').replaceAll('&#38;', '&'));
  assert.equal(shown.status, 200);
  return agent.submit(shown, { username, code });
}

test('attack: lockout by disabling passwords before an administrator has a passkey', async () => {
  const refused = await setMode('passkey_only');
  assert.equal(refused.status, 400);
  assert.ok(refused.body.error?.fields?.auth_mode);
  assert.equal((await app.admin('PUT', '/settings', { auth_mode: 'passkey_only' })).status, 400);
  assert.equal((await setMode('nonsense')).status, 400);
  const file = { values: { auth_mode: 'passkey_only' } };
  for (const query of ['', '?dry_run=true'])
    assert.equal((await app.admin('POST', `/settings/import${query}`, file)).status, 400);
  const stale = await fetch(`${app.url}/admin/api/settings/import?dry_run=true`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      'content-type': 'application/json',
      'if-match': '"999"',
    },
    body: JSON.stringify(file),
  });
  assert.equal(stale.status, 412, 'a dry run against outdated settings says so first');
  await app.admin('PATCH', '/settings', { limit_login_ip: 1_000_000 });
  await enrol(new Agent(app), client, admin, adminKey);
  assert.equal((await setMode('passkey_only')).status, 200);
  const removal = await app.admin('DELETE', `/users/${admin.id}/passkeys/${adminKey.keys[0]?.id}`);
  assert.equal(removal.body.error?.reason, 'passkey.last_admin');
  for (const [method, path, body] of [
    ['POST', `/users/${admin.id}/reset-mfa`, undefined],
    ['PATCH', `/users/${admin.id}`, { role: 'user' }],
    ['PATCH', `/users/${admin.id}`, { role: 'auditor' }],
  ] as const) {
    const answer = await app.admin(method, path, body);
    assert.equal(answer.status, 409, path);
    assert.equal(answer.body.error?.reason, 'passkey.last_admin');
  }
  await setMode('password_and_passkey');
});

test('attack: a password in passkey-only mode, on every path that accepts one', async () => {
  const grant = await app.register(PASSWORD_GRANT);
  const user = await app.createUser('pat', { email: 'pat@example.com', is_email_verified: true });
  const before = new Agent(app);
  const open = await openSignIn(before, client);
  const inside = new Agent(app);
  await inside.signIn(client.id, user);
  await setMode('passkey_only');
  try {
    const agent = new Agent(app);
    const page = await openSignIn(agent, client);
    assert.doesNotMatch(page.body, /name="password"|forgot-password/);
    assert.match(page.body, /data-passkey="sign_in"/);
    for (const [browser, shown] of [
      [agent, page],
      [before, open],
    ] as const) {
      const answer = await browser.submit(shown, { username: 'pat', password: PASSWORD });
      assert.equal(answer.status, 403);
      assert.match(answer.body, /Passwords are no longer used here/);
    }
    const tokens = await requestTokens(app, grant, {
      grant_type: 'password',
      username: 'pat',
      password: PASSWORD,
    });
    assert.equal(tokens.body.error, 'invalid_grant');
    for (const path of ['/oauth2/forgot-password', '/oauth2/reset-password?token=x'])
      assert.equal((await agent.get(path)).status, 403, path);
    assert.equal((await inside.get('/account/password')).status, 403);
    assert.equal((await inside.post('/account/password', { password: 'x' })).status, 403);
    const reset = await app.admin('POST', `/users/${user.id}/send-password-reset`);
    assert.equal(reset.status, 403);
    const admins = new Agent(app);
    const last = await goOn(admins, await usePasskey(admins, await openSignIn(admins, client), adminKey));
    assert.ok(isSignedIn(last));
  } finally {
    await setMode('password_and_passkey');
  }
});

test('mode password: no passkey signs in, and none is offered', async () => {
  const agent = new Agent(app);
  const early = await openSignIn(agent, client);
  await setMode('password');
  try {
    assert.equal((await send(agent, early, '/oauth2/passkey/login/begin')).body.reason, 'passkey.off');
    const page = await openSignIn(agent, client);
    assert.doesNotMatch(page.body, /data-passkey/);
    const user = await app.createUser('wordy');
    const last = await agent.submit(page, {
      username: user.username,
      password: PASSWORD,
      can_passkey: 'on',
    });
    assert.ok(isSignedIn(last));
  } finally {
    await setMode('password_and_passkey');
  }
});

test('passkey: the second step after a password, where required', async () => {
  const user = await app.createUser('second');
  const key = newKey({ isSynced: true });
  await enrol(new Agent(app), client, user, key);
  const agent = new Agent(app);
  const acr = 'urn:latchkey:acr:multi-factor';
  const page = await agent.submit(await openSignIn(agent, client, { acr_values: acr }), {
    username: user.username,
    password: PASSWORD,
  });
  assert.match(page.body, /data-passkey="second_factor"/);
  // R107: another person's passkey is not this one's second step, and no code is guessed at it.
  const stranger = newKey();
  await enrol(new Agent(app), client, await app.createUser('stranger'), stranger);
  const wrong = await usePasskey(agent, page, stranger, { purpose: 'second_factor' });
  assert.equal(wrong.body.reason, 'passkey.refused');
  const posted = await agent.submit(page, { method: 'passkey', code: 'x' });
  assert.equal(posted.status, 401);
  const begun = await send(agent, page, '/oauth2/passkey/login/begin', { purpose: 'second_factor' });
  assert.deepEqual(
    begun.body.allowCredentials?.map(({ id }) => id),
    [key.keys[0]?.id],
  );
  const last = await goOn(agent, await usePasskey(agent, page, key, { purpose: 'second_factor' }));
  assert.ok(isSignedIn(last));
  await latestAmr(user, ['pwd', 'swk', 'user', 'mfa']);
});

test('passkey: two factors with user verification, otherwise one and a code is asked for', async () => {
  const user = await app.createUser('both');
  const key = newKey();
  await enrol(new Agent(app), client, user, key);
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  try {
    const agent = new Agent(app);
    const last = await goOn(agent, await usePasskey(agent, await openSignIn(agent, client), key));
    assert.ok(isSignedIn(last), 'a second step was asked after two factors');
    await latestAmr(user, ['hwk', 'user', 'mfa']);
  } finally {
    await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  }
  const withPhone = await app.createUser('phoned');
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const first = new Agent(app);
  const { phone } = await enrolPhone(app, first, await openSignIn(first, client), withPhone.username);
  await app.admin('PATCH', '/settings', { mfa_mode: 'off' });
  try {
    const plain = newKey({ canVerifyUser: false });
    await enrolAtAccount(withPhone, plain, first);
    const agent = new Agent(app);
    const asked = await goOn(agent, await usePasskey(agent, await openSignIn(agent, client), plain));
    // R106: also where second factors are off.
    assert.match(asked.body, /name="code"/);
    assert.doesNotMatch(asked.body, /data-passkey/);
    const last = await agent.submit(asked, { method: 'totp', code: phone.code() });
    assert.ok(isSignedIn(last), last.body);
    await latestAmr(withPhone, ['hwk', 'otp', 'mfa']);
  } finally {
    await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  }
  assert.ok(createPhone);
});

async function enrolAtAccount(user: { id: string }, key: Authenticator, agent: Agent): Promise<void> {
  const page = await agent.get('/account/passkeys');
  assert.equal(page.status, 200, page.body);
  const begun = await send(agent, page, '/account/passkeys/register/begin');
  assert.equal(begun.status, 200, JSON.stringify(begun.body));
  const response = key.create(begun.body);
  const made = await send(agent, page, '/account/passkeys/register/finish', { response });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.equal((await app.admin('GET', `/users/${user.id}`)).body.data.passkey_count, 1);
}

test('security key without user verification: asked for after the password', async () => {
  const user = await app.createUser('keyed');
  const key = newKey({ canVerifyUser: false });
  await enrol(new Agent(app), client, user, key);
  const agent = new Agent(app);
  const asked = await agent.submit(await openSignIn(agent, client), {
    username: user.username,
    password: PASSWORD,
  });
  assert.match(asked.body, /data-passkey="second_factor"/);
  const last = await goOn(agent, await usePasskey(agent, asked, key, { purpose: 'second_factor' }));
  assert.ok(isSignedIn(last));
});

test('passkey-only: first sign-in creates a passkey and codes; mailed links sign no one in', async () => {
  const mailbox = await openMailbox(app);
  const user = await app.createUser('first-run', { email: 'new@example.com', is_email_verified: true });
  await app.admin('PATCH', '/settings', { allow_magic_link: true });
  const agent = new Agent(app);
  const page = await openSignIn(agent, client);
  const asked = await agent.submit(page, { username: '', action: 'magic_link' });
  await agent.submit(asked, {
    email: 'new@example.com',
    action: 'magic_link',
  });
  const link = await mailbox.linkTo('new@example.com');
  await mailbox.close();
  const shown = await agent.get(link);
  assert.equal((await setMode('passkey_only')).status, 200);
  // The link was asked for while it was good; passkeys alone is what counts now.
  assert.equal((await agent.submit(shown, {})).status, 410);
  await setMode('password_and_passkey');

  // Where it was used just before: the step that is missing is making one.
  const other = new Agent(app);
  const start = await openSignIn(other, client);
  const offer = await other.submit(start, {
    username: user.username,
    password: PASSWORD,
    can_passkey: 'on',
  });
  const leader = new Agent(app);
  const leading = await leader.submit(await openSignIn(leader, client), {
    username: user.username,
    password: PASSWORD,
    can_passkey: 'on',
  });
  await setMode('passkey_only');
  try {
    const enrolment = await other.submit(offer, { action: 'later' });
    assert.match(enrolment.body, /data-passkey="enrol"/);
    for (const action of ['later', 'skip', 'continue', 'enrol', '']) {
      const posted = await other.submit(enrolment, { action });
      assert.equal(isSignedIn(posted), false, action);
    }
    const again = await other.get(enrolment.url);
    assert.match(again.body, /data-passkey="enrol"/);
    const led = await leader.submit(leading, { action: 'later' });
    const uid = new URL(led.url).searchParams.get('interaction') ?? '';
    const resumed = await leader.follow(await leader.get(`/oauth2/authorize/${uid}`));
    assert.equal(isSignedIn(resumed), false);
    assert.match(resumed.body, /data-passkey="sign_in"/);

    const begun = await beginRegistration(other, enrolment);
    assert.equal(begun.body.authenticatorSelection?.userVerification, 'required');
    const weak = await makePasskey(other, enrolment, newKey({ canVerifyUser: false }));
    assert.equal(weak.body.reason, 'passkey.refused');
    const key = newKey();
    const codesPage = await goOn(other, await makePasskey(other, enrolment, key));
    const codes = [...codesPage.body.matchAll(/<code>([\w-]{19})<\/code>/g)].map(([, code = '']) => code);
    assert.equal(codes.length, 10);
    const last = await other.submit(codesPage, { action: 'continue' });
    assert.ok(isSignedIn(last), last.body);
    await latestAmr(user, ['pwd', 'hwk', 'user', 'mfa']);

    await lostPasskey(user, codes);
  } finally {
    await setMode('password_and_passkey');
    await app.admin('PATCH', '/settings', { allow_magic_link: false });
  }
});

async function lostPasskey(user: { id: string; username: string }, codes: readonly string[]): Promise<void> {
  const agent = new Agent(app);
  const page = await openSignIn(agent, client);
  const [first = '', second = ''] = codes;
  const wrong = await recover(agent, page, user.username, '0000-0000-0000-0000');
  const nobody = await recover(agent, page, 'nobody-at-all', first);
  assert.deepEqual([wrong.status, nobody.status], [401, 401]);
  const textOf = ({ body }: Page): string => body.replace(/value="[^"]*"|nonce="[^"]*"/g, '');
  assert.equal(textOf(wrong), textOf(nobody));
  // Also where two factors are demanded: the lost one is not asked for.
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const enrolment = await recover(agent, page, user.username, first);
  assert.match(enrolment.body, /data-passkey="enrol"/);
  assert.equal(isSignedIn(await agent.submit(enrolment, { action: 'later' })), false);
  const again = new Agent(app);
  const reused = await recover(again, await openSignIn(again, client), user.username, first);
  assert.equal(reused.status, 401, 'a code was good twice');
  const key = newKey();
  const last = await goOn(agent, await makePasskey(agent, enrolment, key));
  assert.ok(isSignedIn(last), last.body);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  await latestAmr(user, ['recovery_code', 'hwk', 'user', 'mfa']);
  assert.equal((await app.admin('GET', `/users/${user.id}`)).body.data.passkey_count, 2);
  for (const event of ['recovery.used', 'passkey.added']) {
    const { body } = await app.admin('GET', `/audit?event=${event}&target_id=${user.id}`);
    assert.ok((body.data.items ?? []).length > 0, event);
  }
  // Guessing ends: five per sign-in, ten per account.
  const guesser = new Agent(app);
  const guessing = await openSignIn(guesser, client);
  for (let attempt = 0; attempt < 5; attempt += 1)
    await recover(guesser, guessing, user.username, 'zzzz-zzzz-zzzz-zzzz');
  assert.equal((await recover(guesser, guessing, user.username, second)).status, 401);
}

test('attack: a recovery code in place of a valid password', async () => {
  const user = await app.createUser('passworded');
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const agent = new Agent(app);
  const enrolling = await agent.submit(await openSignIn(agent, client), {
    username: user.username,
    password: PASSWORD,
  });
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(enrolling.body)?.[1] ?? '';
  const shown = await agent.submit(enrolling, { action: 'enrol', code: createPhone(secret, app).code() });
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  const code = /<code>([\w-]{19})<\/code>/.exec(shown.body)?.[1] ?? '';
  assert.notEqual(code, '');
  const thief = new Agent(app);
  const page = await openSignIn(thief, client);
  const uid = /name="interaction" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
  const form = await thief.get(`/oauth2/recover?interaction=${uid}`);
  assert.equal((await thief.submit(form, { username: user.username, code })).status, 401);
});

test('/.well-known/webauthn: lists the configured origins, which are accepted', async () => {
  const bad = await app.admin('PATCH', '/settings', { passkey_extra_origins: 'https://a.example/path' });
  assert.equal(bad.status, 400);
  await app.admin('PATCH', '/settings', { passkey_extra_origins: 'https://other.example' });
  const document = await fetch(`${app.url}/.well-known/webauthn`);
  assert.match(document.headers.get('content-type') ?? '', /application\/json/);
  assert.deepEqual(await document.json(), { origins: [originOf(app), 'https://other.example'] });
  const agent = new Agent(app);
  const page = await openSignIn(agent, client);
  const used = await usePasskey(agent, page, adminKey, { lies: { origin: 'https://other.example' } });
  assert.equal(used.status, 200);
  await app.admin('PATCH', '/settings', { passkey_extra_origins: '' });
  const unlisted = await usePasskey(new Agent(app), page, adminKey, {
    lies: { origin: 'https://other.example' },
  }).catch(() => undefined);
  assert.equal(unlisted, undefined, 'the page is another browser’s');
  const late = await openSignIn(agent, client, { prompt: 'login' });
  const after = await usePasskey(agent, late, adminKey, { lies: { origin: 'https://other.example' } });
  assert.equal(after.status, 401, 'once it is not listed any more');
});

test('attack: an origin that is nearly a related one', async () => {
  await app.admin('PATCH', '/settings', {
    passkey_extra_origins: 'https://other.example https://a.example:8443',
  });
  try {
    for (const origin of [
      'http://other.example',
      'https://other.example:444',
      'https://sub.other.example',
      'https://notother.example',
      'https://other.example.evil.example',
      'https://other.example/',
      'https://OTHER.example',
      'https://other.example https://a.example:8443',
      'https://a.example',
      'null',
      '',
    ]) {
      const agent = new Agent(app);
      const page = await openSignIn(agent, client);
      const used = await usePasskey(agent, page, adminKey, { lies: { origin } });
      assert.deepEqual([used.status, used.body.reason], [401, 'passkey.refused'], origin);
    }
    for (const bad of [
      'http://other.example',
      'https://*.example',
      'https://u:p@other.example',
      'other.example',
      'javascript:alert(1)',
    ]) {
      const refused = await app.admin('PATCH', '/settings', { passkey_extra_origins: bad });
      assert.equal(refused.status, 400, bad);
    }
  } finally {
    await app.admin('PATCH', '/settings', { passkey_extra_origins: '' });
  }
});
