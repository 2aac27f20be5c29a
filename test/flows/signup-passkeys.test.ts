// Passkey-only sign-up: by the form, an invitation and an administrator's link no password is asked for or accepted, and the
// first sign-in creates a passkey.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import { Agent, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { openMailbox } from '../support/mailbox.ts';
import { goOn, makePasskey, originOf, usePasskey } from '../support/passkeys.ts';
import { begin, codeTo, openSignup, tokensOf, userNamed } from '../support/signup.ts';

const app = await startApp({ store: 'sqlite' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const client = await app.register({ initiate_login_uri: 'https://rp.example/start' });
await app.app.settings.patch({ auth_mode: 'passkey_only', allow_self_signup: true }, 'test');

const authenticatorOf = () => new Authenticator({ origin: originOf(app) });

/** From the page that makes a passkey to the application; recovery codes come in between. */
async function make(agent: Agent, page: Page, authenticator = authenticatorOf()): Promise<Page> {
  const next = await goOn(agent, await makePasskey(agent, page, authenticator));
  return next.location === undefined ? agent.submit(next, {}) : next;
}

test('passkey-only sign-up: no password, the code, a passkey, signed in, then by it alone', async () => {
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  ok(!form.body.includes('type="password"'));
  const page = await agent.submit(form, { username: 'ann', email: 'ann@example.com' });
  const enrol = await agent.submit(page, { code: await codeTo(mailbox, 'ann@example.com') });
  equal(enrol.location, undefined);
  match(enrol.url, /\/oauth2\/mfa/);
  const authenticator = authenticatorOf();
  const arrived = await make(agent, enrol, authenticator);
  const claims = decodeJwt((await tokensOf(app, client, arrived)).id_token);
  equal(claims.preferred_username, 'ann');
  equal((await userNamed(app, 'ann'))?.password_changed_at, null);

  const other = new Agent(app);
  const login = await begin(other, client.id);
  const again = await goOn(other, await usePasskey(other, login, authenticator));
  match(again.location ?? '', /code=/);
});

test('attack: a password sent to a passkey-only sign-up', async () => {
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const fields = { username: 'bob', email: 'bob@example.com', password: PASSWORD };
  equal((await agent.submit(form, fields)).status, 400);
});

test('passkey-only sign-up: existing users are told by mail, without a password link', async () => {
  await app.createUser('owner', { email: 'owner@example.com', is_email_verified: true });
  const agent = new Agent(app);
  await agent.submit(await openSignup(app, client.id, agent), {
    username: 'x-y',
    email: 'owner@example.com',
  });
  await mailbox.deliver();
  const mail = mailbox.received.at(-1)?.mail;
  match(mail?.subject ?? '', /already have/);
  ok(!mail?.text?.includes('forgot-password'));
});

test('passkey-only sign-up: leaving before the passkey exists signs no one in', async () => {
  const agent = new Agent(app);
  const form = await openSignup(app, client.id, agent);
  const page = await agent.submit(form, { username: 'cleo', email: 'cleo@example.com' });
  const enrol = await agent.submit(page, { code: await codeTo(mailbox, 'cleo@example.com') });
  match(enrol.url, /\/oauth2\/mfa/);
  const back = await begin(agent, client.id);
  equal(back.location, undefined);
  const { body } = await app.admin('GET', '/sessions');
  const items = body.data.items ?? [];
  ok(!items.some(({ username }) => username === 'cleo'));
});

test('passkey-only invitation: no password or session; a passkey at the next sign-in here', async () => {
  await app.admin('POST', '/invitations', { email: 'guest@example.com', client_id: client.id });
  const link = await mailbox.linkTo('guest@example.com');
  const agent = new Agent(app);
  const form = await agent.get(link);
  ok(!form.body.includes('type="password"'));
  const done = await agent.submit(form, { username: 'guest' });
  match(done.body, /Your account is ready/);
  // Another browser is asked who it is.
  const stranger = await begin(new Agent(app), client.id);
  ok(stranger.body.includes('action="/oauth2/login"'));
  const enrol = await agent.follow(await begin(agent, client.id));
  match(enrol.url, /\/oauth2\/mfa/);
  const arrived = await make(agent, enrol);
  const claims = decodeJwt((await tokensOf(app, client, arrived)).id_token);
  deepEqual([claims.preferred_username, claims.email_verified], ['guest', true]);
  // The ticket is used up with the passkey.
  const later = new Agent(app);
  later.plant(
    agent
      .cookiesFor('/')
      .split('; ')
      .filter((one) => one.includes('_browser='))
      .join('; '),
  );
  ok((await begin(later, client.id)).body.includes('action="/oauth2/login"'));
});

test('passkey-only enrolment link: also for a user who lost every passkey', async () => {
  const user = await app.createUser('dora', { email: 'dora@example.com' });
  for (const turn of ['first', 'again']) {
    equal((await app.admin('POST', `/users/${user.id}/send-enrolment-link`)).status, 200);
    const link = await mailbox.linkTo('dora@example.com');
    const agent = new Agent(app);
    const page = await agent.get(link);
    ok(!page.body.includes('type="password"'), turn);
    const done = await agent.submit(page, {});
    match(done.body, /\/account"/);
    const enrol = await agent.follow(await begin(agent, client.id));
    const arrived = await make(agent, enrol);
    equal(decodeJwt((await tokensOf(app, client, arrived)).id_token).preferred_username, 'dora');
  }
  equal((await app.admin('GET', `/users/${user.id}`)).body.data.passkey_count, 2);
});

test('enrolment ticket: after ten minutes the browser must authenticate', async () => {
  const user = await app.createUser('emil', { email: 'emil@example.com' });
  await app.admin('POST', `/users/${user.id}/send-enrolment-link`);
  const agent = new Agent(app);
  await agent.submit(await agent.get(await mailbox.linkTo('emil@example.com')), {});
  app.advance(600_001);
  ok((await begin(agent, client.id)).body.includes('action="/oauth2/login"'));
});
