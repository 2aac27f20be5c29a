// Attack: wrong passwords as a weapon, to end the owner's sessions or lock the owner out (decisions 0012 and 0003;
// Keycloak GHSA-cq42-vhv7-xr7p).
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { Agent, hiddenFields, redeem, refresh } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { openMailbox, tokenIn } from '../support/mailbox.ts';
import { enrolPhone } from '../support/phone.ts';
import { isAccepted, openSignIn, PASSWORD_GRANT, passwordGrant } from './sign-in-form.ts';

const WRONG = 'not the password';

let app: TestApp;
let client: { id: string; secret: string };

before(async () => {
  app = await startApp();
  client = await app.register(PASSWORD_GRANT);
});
after(() => app.stop());

async function guess(username: string, times = 5, browser = new Agent(app)): Promise<void> {
  const form = await openSignIn(app, client.id, {}, browser);
  for (let n = 0; n < times; n += 1) assert.equal((await form.attempt(username, WRONG)).status, 401);
}

const userOf = async (id: string) => (await app.admin('GET', `/users/${id}`)).body.data;

async function introspect(token: string): Promise<boolean> {
  const answer = await fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: new URLSearchParams({ token }),
  });
  return JSON.parse(await answer.text()).active;
}

const statusWith = async (path: string, token: string): Promise<number> =>
  (await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;

/** A browser that is asked for a password, whatever session it has. */
const askAgain = (browser: Agent) => openSignIn(app, client.id, { prompt: 'login' }, browser);

test('attack: five wrong passwords end a session, refresh token or access token', async () => {
  const user = await app.createUser('olivia');
  const owner = new Agent(app);
  const { body: tokens } = await redeem(app, client, await owner.signIn(client.id, user));
  await guess('olivia');
  assert.notEqual((await userOf(user.id)).locked_until, null, 'the lock is visible to administrators');

  assert.equal(await introspect(tokens.access_token), true);
  assert.equal(await introspect(tokens.refresh_token), true);
  assert.equal(await statusWith('/oauth2/userinfo', tokens.access_token), 200);
  assert.equal((await refresh(app, client, tokens.refresh_token)).status, 200);
  assert.equal((await owner.get('/account')).status, 200);
  const again = await owner.signIn(client.id, user);
  assert.ok(again.code, 'the session gives a code without a form');
});

test('attack: five wrong passwords end an administrator’s admin API token', async () => {
  await app.createUser('another-admin', { role: 'admin' });
  const admin = await app.createUser('ada', { role: 'admin' });
  const machine = await app.register({
    scope: 'openid admin',
    token_endpoint_auth_method: 'client_secret_basic',
  });
  const signedIn = await new Agent(app).signIn(machine.id, admin, { scope: 'openid admin' });
  const { body } = await redeem(app, machine, signedIn);
  assert.equal(await statusWith('/admin/api/users', body.access_token), 200);
  await guess('ada');
  assert.equal(await statusWith('/admin/api/users', body.access_token), 200);
  assert.equal(await introspect(body.access_token), true);
  // An administrator's deactivation does end it.
  await app.admin('POST', `/users/${admin.id}/deactivate`);
  assert.equal(await introspect(body.access_token), false);
});

test('attack: 1,000 wrong guesses by a stranger; a known browser still signs in', async () => {
  const user = await app.createUser('petra');
  const owner = new Agent(app);
  await owner.signIn(client.id, user);
  const stranger = new Agent(app);
  const form = await openSignIn(app, client.id, {}, stranger);
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(Array.from({ length: 50 }, () => form.attempt('petra', WRONG)));
    app.advance(60_000);
  }
  assert.equal(isAccepted(await form.attempt('petra')), false);
  assert.equal((await passwordGrant(app, client, 'petra')).status, 400, 'the grant has no browser');
  assert.equal(isAccepted(await (await openSignIn(app, client.id)).attempt('petra')), false);
  const known = await askAgain(owner);
  assert.equal(isAccepted(await known.attempt('petra')), true);
});

test('known browser: ten wrong passwords make it unknown and close no one else’s', async () => {
  const user = await app.createUser('rosa');
  const [desk, phone] = [new Agent(app), new Agent(app)];
  await desk.signIn(client.id, user);
  await phone.signIn(client.id, user);
  await guess('rosa');
  const form = await askAgain(desk);
  for (let n = 0; n < 9; n += 1) await form.attempt('rosa', WRONG);
  const kept = await form.attempt('rosa');
  assert.equal(isAccepted(kept), true, 'nine wrong ones are forgiven');
  await desk.follow(kept);
  assert.equal((await userOf(user.id)).failed_login_attempts, 0, 'a complete sign-in clears the count');

  await guess('rosa');
  const thief = await askAgain(desk);
  for (let n = 0; n < 10; n += 1) await thief.attempt('rosa', WRONG);
  assert.equal(isAccepted(await thief.attempt('rosa')), false);
  assert.equal(isAccepted(await (await askAgain(phone)).attempt('rosa')), true);
});

test('known browser: known per account; two accounts may share one', async () => {
  const [one, two] = [await app.createUser('shared-one'), await app.createUser('shared-two')];
  const shared = new Agent(app);
  await shared.signIn(client.id, one);
  await guess('shared-two');
  assert.equal(isAccepted(await (await askAgain(shared)).attempt('shared-two')), false);
  await app.admin('POST', `/users/${two.id}/unlock`);
  await shared.signIn(client.id, two, { prompt: 'login' });
  await guess('shared-one');
  await guess('shared-two');
  for (const name of ['shared-one', 'shared-two', 'shared-one']) {
    const accepted = await (await askAgain(shared)).attempt(name);
    assert.equal(isAccepted(accepted), true, name);
    await shared.follow(accepted);
  }
});

test('known browser: its cookie is HttpOnly, bounded and renewed at every sign-in', async () => {
  const shared = new Agent(app);
  const values = new Set<string>();
  for (let n = 0; n < 12; n += 1) {
    const user = await app.createUser(`crowd-${n}`);
    await shared.signIn(client.id, user, { prompt: 'login' });
    values.add(/latchkey_known=([^;]+)/.exec(shared.cookiesFor('/'))?.[1] ?? '');
  }
  assert.equal(values.size, 12);
  const last = [...values].at(-1) ?? '';
  assert.equal(last.split('.').length, 10);
  assert.ok(Buffer.byteLength(shared.cookiesFor('/')) < 4096);
  const form = await askAgain(shared);
  const accepted = await form.attempt('crowd-11');
  const line = accepted.headers.getSetCookie().find((one) => one.startsWith('latchkey_known='));
  assert.match(line ?? '', /; httponly/i);
  assert.match(line ?? '', /; samesite=lax/i);
  // A copied cookie is worth nothing once the owner has signed in again.
  await shared.follow(accepted);
  const copy = new Agent(app);
  copy.plant(`latchkey_known=${last}`);
  await guess('crowd-11');
  assert.equal(isAccepted(await (await openSignIn(app, client.id, {}, copy)).attempt('crowd-11')), false);
});

test('known browser: only after every factor was given in it', async () => {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const user = await app.createUser('factor');
  const owner = new Agent(app);
  const { phone } = await enrolPhone(
    app,
    owner,
    (await openSignIn(app, client.id, {}, owner)).page,
    user.username,
  );
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  const thief = new Agent(app);
  assert.equal(isAccepted(await (await openSignIn(app, client.id, {}, thief)).attempt('factor')), true);
  assert.doesNotMatch(thief.cookiesFor('/'), /latchkey_known=/);

  // A sign-in whose password was accepted already goes on in spite of the lock.
  const late = new Agent(app);
  const page = await late.follow(await (await openSignIn(app, client.id, {}, late)).attempt('factor'));
  await guess('factor');
  assert.notEqual((await userOf(user.id)).locked_until, null);
  const done = await late.submit(page, { method: 'totp', code: phone.code() });
  assert.match(done.location ?? done.body, /code=/);
  assert.match(late.cookiesFor('/'), /latchkey_known=/);
});

test('lockout: ends after 15 minutes however often set; other methods stay open', async (t) => {
  const alone = await app.createUser('no-other-way');
  const user = await app.createUser('mailed', { email: 'mailed@example.com', is_email_verified: true });
  for (let round = 0; round < 20; round += 1) {
    await guess('no-other-way');
    await guess('mailed');
    // A busy machine takes seconds from the lock to here.
    app.advance(840_000);
    assert.equal(isAccepted(await (await openSignIn(app, client.id)).attempt('no-other-way')), false);
    app.advance(61_000);
  }
  assert.equal((await userOf(user.id)).failed_login_attempts, 100);
  // Who has no other way in keeps the password; who has one uses that.
  assert.equal(isAccepted(await (await openSignIn(app, client.id)).attempt('no-other-way')), true);
  assert.equal(isAccepted(await (await openSignIn(app, client.id)).attempt('mailed')), false);
  assert.ok(alone.id);

  // The mailed link to a new password opens the browser it is used in, also during the next lock.
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const owner = new Agent(app);
  const forgot = await owner.get('/oauth2/forgot-password');
  await owner.submit(forgot, { email: 'mailed@example.com' });
  const link = await mailbox.linkTo('mailed@example.com');
  const reset = await owner.get(`/oauth2/reset-password?token=${tokenIn(link)}`);
  const password = 'seven tall lanterns';
  assert.equal((await owner.submit(reset, { password, confirm_password: password })).status, 200);
  await guess('mailed');
  assert.equal(isAccepted(await (await openSignIn(app, client.id)).attempt('mailed', password)), false);
  assert.equal(
    isAccepted(await (await openSignIn(app, client.id, {}, owner)).attempt('mailed', password)),
    true,
  );
});

test('known browser: a mailed link makes it known; the second factor stays due', async (t) => {
  await app.admin('PATCH', '/settings', { mfa_mode: 'required', allow_magic_link: true });
  const user = await app.createUser('linked', { email: 'linked@example.com', is_email_verified: true });
  const first = new Agent(app);
  await enrolPhone(app, first, (await openSignIn(app, client.id, {}, first)).page, user.username);
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await guess('linked');
  const owner = new Agent(app);
  const form = await openSignIn(app, client.id, {}, owner);
  const forgot = await owner.get(`/oauth2/forgot-password?interaction=${form.hidden.interaction}`);
  await owner.submit(forgot, { email: 'linked@example.com', action: 'magic_link' });
  const link = await mailbox.linkTo('linked@example.com');
  const opened = await owner.get(`/oauth2/magic-link?token=${tokenIn(link)}`);
  assert.doesNotMatch(owner.cookiesFor('/'), /latchkey_known=/, 'opening it does nothing');
  const next = await owner.submit(opened, {});
  assert.match(owner.cookiesFor('/'), /latchkey_known=/);
  assert.match(next.body, /name="code"/, 'the second factor is asked for');
  const again = await openSignIn(app, client.id, {}, owner);
  assert.equal(isAccepted(await again.attempt('linked')), true, 'the lock is passed here');
  assert.equal(isAccepted(await (await openSignIn(app, client.id)).attempt('linked')), false);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional', allow_magic_link: false });
});

test('known browsers: forgotten at new password, "end all sessions" and deactivation', async () => {
  const user = await app.createUser('voids');
  const password = 'another long password 17';
  const changes = [
    () => app.admin('PATCH', `/users/${user.id}`, { password }),
    () => app.admin('POST', `/users/${user.id}/revoke-sessions`),
    async () => {
      await app.admin('POST', `/users/${user.id}/deactivate`);
      return app.admin('POST', `/users/${user.id}/reactivate`);
    },
  ];
  let current = PASSWORD;
  for (const change of changes) {
    const owner = new Agent(app);
    await owner.signIn(client.id, { username: 'voids', password: current });
    await guess('voids');
    assert.ok((await change()).status < 300);
    current = password;
    await guess('voids', 5);
    assert.equal(
      isAccepted(await (await openSignIn(app, client.id, {}, owner)).attempt('voids', current)),
      false,
    );
    await app.admin('POST', `/users/${user.id}/unlock`);
  }
});

test('unlock: clears every counter, including known browsers', async () => {
  const user = await app.createUser('cleared');
  const owner = new Agent(app);
  await owner.signIn(client.id, user);
  const form = await askAgain(owner);
  for (let n = 0; n < 9; n += 1) await form.attempt('cleared', WRONG);
  await guess('cleared');
  await app.admin('POST', '/users/unlock', { user_id: user.id });
  const shown = await userOf(user.id);
  assert.deepEqual([shown.locked_until, shown.failed_login_attempts], [null, 0]);
  await guess('cleared');
  for (let n = 0; n < 9; n += 1) await form.attempt('cleared', WRONG);
  assert.equal(isAccepted(await form.attempt('cleared')), true);
});

test('attack: strangers use up an address’s limits; a known browser behind it signs in', async () => {
  const user = await app.createUser('office');
  const owner = new Agent(app);
  await owner.signIn(client.id, user);
  const form = await askAgain(owner);
  await app.admin('PATCH', '/settings', { limit_login_ip: 5, limit_login_account_ip: 3 });
  try {
    const stranger = await openSignIn(app, client.id);
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await stranger.attempt('office', WRONG)).status);
    assert.equal(statuses.at(-1), 429);
    assert.equal((await stranger.attempt('office')).status, 429);
    assert.equal(isAccepted(await form.attempt('office')), true);
  } finally {
    await app.admin('PATCH', '/settings', { limit_login_ip: 1_000_000, limit_login_account_ip: 1_000_000 });
  }
});

test('attack: a flood of guesses fills the queue of a known browser', async () => {
  const user = await app.createUser('queue');
  const owner = new Agent(app);
  await owner.signIn(client.id, user);
  const form = await askAgain(owner);
  const stranger = await openSignIn(app, client.id);
  const flood = Array.from({ length: 120 }, () => stranger.attempt('queue', WRONG));
  const own = await form.attempt('queue');
  await Promise.all(flood);
  assert.equal(isAccepted(own), true);
});

test('account page: reports guessing and that this browser is not affected', async () => {
  const user = await app.createUser('noticed', { email: 'noticed@example.com', is_email_verified: true });
  const owner = new Agent(app);
  await owner.signIn(client.id, user);
  assert.doesNotMatch((await owner.get('/account')).body, /id="guesses"/);
  await guess('noticed');
  const page = await owner.get('/account');
  assert.match(page.body, /id="guesses"[\s\S]*This browser is not affected/);
  // In a copy of the session without the cookie the page does not claim so.
  const bare = new Agent(app);
  bare.plant(
    owner
      .cookiesFor('/')
      .split('; ')
      .filter((one) => !one.startsWith('latchkey_known'))
      .join('; '),
  );
  assert.doesNotMatch((await bare.get('/account')).body, /This browser is not affected/);
});

test('change-password page: usable in a known browser despite guesses by strangers', async () => {
  const user = await app.createUser('changes');
  const owner = new Agent(app);
  await owner.signIn(client.id, user);
  await guess('changes');
  const form = await owner.get('/account/password');
  const next = 'another long password 17';
  const change = (current_password: string) =>
    owner.post('/account/password', {
      ...hiddenFields(form.body),
      current_password,
      password: next,
      confirm_password: next,
    });
  assert.notEqual((await change(WRONG)).status, 303);
  assert.equal((await change(PASSWORD)).status, 303, 'the lock from afar does not stop the owner');
  await guess('changes');
  const again = await openSignIn(app, client.id, { prompt: 'login' }, owner);
  assert.equal(isAccepted(await again.attempt('changes', next)), true, 'this browser stays known');
});
