// /account/delete and POST /account/api/deletion: what ends at once, how it is undone, and what is left afterwards.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Agent, codeRequest, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { testOnSoundStore } from '../support/real-mongodb.ts';
import { startReceiver } from '../support/receiver.ts';
import { accessTokenOf, eventsOf, newPerson, open, press, STALE_MS } from './account-support.ts';
import { change, claimsOf, isActive, tokensOf, type User } from './support.ts';

const DELETE = '/account/delete';
const DAY_MS = 86_400_000;

let app: TestApp;
let client: { id: string; secret: string };
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let user: User & { email: string };
let browser: Agent;

// One for each test: most move the clock, and a sign-in of the protocol core is then never fresh.
beforeEach(async () => {
  receiver = await startReceiver();
  app = await startApp({ env: { OUTBOUND_ALLOW: `127.0.0.1:${receiver.port}` } });
  client = await app.register({ client_name: 'Acme Mail', ...opensAccounts });
  user = await newPerson(app);
  browser = new Agent(app);
});
afterEach(async () => {
  await app.stop();
  receiver.close();
});

const ask = async (typed = user.username, agent = browser, person = user): Promise<Page> =>
  press(agent, await open(agent, person, DELETE), DELETE, { username: typed });

const stored = async ({ id }: { id: string } = user) => app.admin('GET', `/users/${id}`);

test('deletion: the page names what is lost, and wants the username typed', async () => {
  await redeem(app, client, await browser.signIn(client.id, user));
  assert.match((await open(browser, user)).body, /href="\/account\/delete"/);
  const page = await open(browser, user, DELETE);
  assert.match(page.body, /Acme Mail/);
  assert.match(page.body, /Devices that are signed in: 1/);
  assert.match(page.body, /For 14 days/);
  const refused = await press(browser, page, DELETE, { username: 'someone-else' });
  assert.equal(refused.status, 400);
  assert.match(refused.body, /This is not your username/);
  assert.equal((await stored()).body.data.deletion_due_at, null);
});

test('deletion: sessions and tokens end, applications are told, the day is shown and recorded', async () => {
  const told = await app.register({
    scope: 'openid offline_access',
    backchannel_logout_uri: `http://127.0.0.1:${receiver.port}/logout`,
  });
  const elsewhere = new Agent(app);
  const scope = { scope: 'openid offline_access', prompt: 'consent' };
  const { body: tokens } = await redeem(app, told, await elsewhere.signIn(told.id, user, scope));
  const { sid } = claimsOf(tokens.id_token);
  const done = await ask();
  assert.match(done.body, /Your account will be deleted/);
  for (const agent of [browser, elsewhere])
    assert.match((await agent.get('/account')).location ?? '', /authorize/);
  assert.equal(await isActive(app, tokens.access_token), false);
  assert.equal(await isActive(app, tokens.refresh_token), false);
  await app.app.jobs.tick();
  const sent = receiver.received.map(({ body }) => new URLSearchParams(body).get('logout_token') ?? '');
  assert.ok(sent.some((token) => claimsOf(token).sid === sid));
  const dueAt = Date.parse(String((await stored()).body.data.deletion_due_at));
  assert.ok(Math.abs(dueAt - app.now() - 14 * DAY_MS) < 60_000);
  const [event] = await eventsOf(app, 'user.deletion_requested', user);
  assert.equal(event?.actor_id, user.id);
});

test('deletion: administrators see it on the page of the user', async () => {
  const chief = await newPerson(app, { role: 'admin' });
  const path = `/admin/users/${user.id}`;
  const agent = new Agent(app);
  assert.match((await open(agent, chief, path)).body, /Can sign in/);
  await ask();
  const page = await agent.get(path);
  assert.match(page.body, /Account being deleted/);
  assert.match(page.body, /Until then they can sign in only to undo it\. Deletion: <time/);
});

test('deletion: a sign-in undoes it, and goes on to where it was meant to go', async () => {
  await ask();
  const page = await new Agent(app).get('/account');
  assert.ok(page.location);
  const agent = new Agent(app);
  const asked = await open(agent, user);
  assert.match(asked.body, /Keep your account\?/);
  const home = await agent.submit(asked, { action: 'keep' });
  assert.equal(home.status, 200);
  assert.match(home.body, /Account kept, deletion undone/);
  assert.equal((await stored()).body.data.deletion_due_at, null);
  assert.equal((await eventsOf(app, 'user.deletion_undone', user)).length, 1);
  app.advance(20 * DAY_MS);
  await app.app.jobs.tick();
  assert.equal((await stored()).status, 200, 'and stays');
});

test('deletion: who lets it be is signed in nowhere, and gone on the day with every trace', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await ask();
  const agent = new Agent(app);
  const left = await agent.submit(await open(agent, user), { action: 'cancel' });
  assert.doesNotMatch(left.body, /Devices and sessions/);
  assert.match((await agent.get('/account')).location ?? '', /authorize/);
  await mailbox.deliver();
  const first = mailbox.received.findLast(({ to }) => to.includes(user.email));
  assert.match(first?.mail.subject ?? '', /will be deleted/);
  assert.match(first?.mail.text ?? '', new RegExp(`${app.url}/account\\n`), 'a link without a token');
  app.advance(13 * DAY_MS);
  await app.app.jobs.tick();
  assert.equal((await stored()).status, 200);
  app.advance(2 * DAY_MS);
  await app.app.jobs.tick();
  assert.equal((await stored()).status, 404);
  assert.equal((await eventsOf(app, 'user.deletion_carried_out', user)).length, 1);
  await mailbox.deliver();
  const last = mailbox.received.findLast(({ to }) => to.includes(user.email));
  assert.match(last?.mail.subject ?? '', /was deleted/);
});

test('deletion: without days of grace it happens at once, and the owner is told', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await change(app, { account_deletion_days: 0 });
  const done = await ask();
  assert.match(done.body, /Your account was deleted/);
  assert.equal((await stored()).status, 404);
  await mailbox.deliver();
  const subjects = mailbox.received.map(({ mail }) => mail.subject);
  assert.ok(subjects.some((subject) => /was deleted/.test(subject ?? '')));
});

test('deletion: where it is forbidden there is no way to it', async () => {
  const page = await open(browser, user, DELETE);
  const token = await accessTokenOf(app, client, user);
  await change(app, { allow_account_deletion: false });
  assert.doesNotMatch((await open(browser, user)).body, /account\/delete/);
  assert.equal((await browser.get(DELETE)).status, 403);
  assert.equal((await press(browser, page, DELETE, { username: user.username })).status, 403);
  const answer = await fetch(`${app.url}/account/api/deletion`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: user.username }),
  });
  assert.equal(JSON.parse(await answer.text()).error.reason, 'account.deletion_off');
  assert.equal((await stored()).body.data.deletion_due_at, null);
});

test('account API: deletion answers with its day, and the token has ended with it', async () => {
  const headers = {
    authorization: `Bearer ${await accessTokenOf(app, client, user)}`,
    'content-type': 'application/json',
  };
  const call = async (username: string) => {
    const body = JSON.stringify({ username });
    const answer = await fetch(`${app.url}/account/api/deletion`, { method: 'POST', headers, body });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  assert.deepEqual((await call('no')).body.error.fields, { username: 'Must be your username.' });
  const { status, body } = await call(user.username);
  assert.equal(status, 200);
  assert.equal(body.data.due_at, (await stored()).body.data.deletion_due_at);
  assert.equal((await call(user.username)).status, 401);
});

test('attack: an account deleted by a thief with an old session or an old token', async () => {
  const page = await open(browser, user, DELETE);
  const { csrf = '' } = hiddenFields(page.body);
  const token = await accessTokenOf(app, client, user);
  app.advance(STALE_MS);
  const refused = await browser.post(DELETE, { csrf, username: user.username });
  assert.match(refused.location ?? '', /authorize.*prompt=login/);
  const answer = await fetch(`${app.url}/account/api/deletion`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ username: user.username }),
  });
  assert.equal(answer.status, 403);
  assert.equal((await stored()).body.data.deletion_due_at, null);
});

test('attack: an account deleted by a form of another site', async () => {
  await open(browser, user, DELETE);
  for (const csrf of ['', 'made-up'])
    assert.equal((await browser.post(DELETE, { csrf, username: user.username })).status, 403);
  assert.equal((await stored()).body.data.deletion_due_at, null);
});

test('attack: a stranger undoes the deletion by mail link, wrong password or another account', async () => {
  await ask();
  const stranger = new Agent(app);
  const other = await newPerson(app);
  await open(stranger, other);
  assert.equal((await stranger.get('/oauth2/mfa')).status, 400);
  const wrong = await open(new Agent(app), user, '/account', 'not the password');
  assert.doesNotMatch(wrong.body, /Keep your account/);
  assert.notEqual((await stored()).body.data.deletion_due_at, null);
});

test('attack: the step that undoes a deletion, pressed without the second factor', async () => {
  await ask();
  const { id } = user;
  await app.admin('PATCH', `/users/${id}`, { totp_verified: false });
  const agent = new Agent(app);
  const page = await open(agent, user);
  assert.match(page.body, /name="code"/, 'a factor is asked for first');
  const { csrf = '', interaction = '' } = hiddenFields(page.body);
  await agent.follow(await agent.post('/oauth2/mfa', { csrf, interaction, action: 'keep' }));
  assert.notEqual((await stored()).body.data.deletion_due_at, null);
});

test('attack: an account in its days of grace gets a code, a token or a page without undoing', async () => {
  const legacy = await app.register({ grant_types: ['password'], response_types: [], redirect_uris: [] });
  await ask();
  const agent = new Agent(app);
  const first = await agent.authorize(codeRequest(client.id));
  const asked = await agent.submit(first, { username: user.username, password: PASSWORD });
  assert.match(asked.body, /Keep your account\?/);
  assert.match((await agent.get('/account')).location ?? '', /authorize/);
  const silent = await agent.authorize({ ...codeRequest(client.id), prompt: 'none' });
  assert.match(silent.location ?? '', /error=login_required/);
  const { id, secret } = legacy;
  const granted = await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'password', username: user.username, password: PASSWORD }),
  });
  assert.equal(granted.status, 400);
  assert.match(await granted.text(), /invalid_grant/);
});

test('attack: an administrator who is leaving goes on with an API key', async () => {
  const [boss] = [await newPerson(app, { role: 'admin' }), await newPerson(app, { role: 'admin' })];
  const { access_token: token } = await tokensOf(app, await app.register({ scope: 'openid admin' }), boss, {
    scope: 'openid admin',
  });
  const send = (bearer: string, path: string, body?: object) =>
    fetch(`${app.url}/admin/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const made = await send(token, '/api-keys', { name: 'k', scopes: ['admin'] });
  const key = String(JSON.parse(await made.text()).data.api_key);
  assert.equal((await send(key, '/users')).status, 200);
  await ask(boss.username, new Agent(app), boss);
  for (const bearer of [key, token]) assert.equal((await send(bearer, '/users')).status, 401);
});

test('attack: a mailed link signs in to an account that is leaving without asking', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await change(app, { allow_magic_link: true });
  await ask();
  const agent = new Agent(app);
  const first = await agent.authorize(codeRequest(client.id));
  const { interaction = '' } = hiddenFields(first.body);
  const asked = await agent.get(`/oauth2/forgot-password?interaction=${interaction}&action=magic_link`);
  await agent.submit(asked, { email: user.email, action: 'magic_link' });
  const opened = await agent.follow(await agent.get(await mailbox.linkTo(user.email)));
  const pressed = await agent.submit(opened, {});
  assert.match(pressed.body, /Keep your account\?/);
  assert.match((await agent.get('/account')).location ?? '', /authorize/);
});

test('attack: the name of an account in its days of grace, registered by someone else', async () => {
  await ask();
  for (const fields of [{ username: user.username }, { username: 'usurper', email: user.email }]) {
    const { status } = await app.admin('POST', '/users', { password: PASSWORD, ...fields });
    assert.equal(status, 409);
  }
});

test('attack: the last administrator deletes himself, or both of two do', async () => {
  const admins = (await app.admin('GET', '/users?role=admin')).body.data.items ?? [];
  for (const { id } of admins) await app.admin('DELETE', `/users/${String(id)}`);
  const [one, two] = [await newPerson(app, { role: 'admin' }), await newPerson(app, { role: 'admin' })];
  assert.match((await ask(one.username, new Agent(app), one)).body, /will be deleted/);
  const refused = await ask(two.username, new Agent(app), two);
  assert.equal(refused.status, 409);
  assert.match(refused.body, /You are the last administrator/);
  const { status } = await app.admin('DELETE', `/users/${two.id}`);
  assert.equal(status, 409, 'who leaves is none any more');
});

testOnSoundStore(
  'attack: two administrators, the only ones, delete themselves at the same moment',
  async () => {
    const admins = (await app.admin('GET', '/users?role=admin')).body.data.items ?? [];
    assert.equal(admins.length, 0);
    const [one, two] = [await newPerson(app, { role: 'admin' }), await newPerson(app, { role: 'admin' })];
    const due = app.now() + DAY_MS;
    const outcomes = await Promise.allSettled(
      [one, two].map(({ id }) => app.app.accounts.requestDeletion(id, due)),
    );
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  },
);

test('deletion: an administrator’s removal before its day is not the owner’s', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await ask();
  assert.equal((await app.admin('DELETE', `/users/${user.id}`)).status, 204);
  assert.equal((await eventsOf(app, 'user.deletion_carried_out', user)).length, 0);
  await mailbox.deliver();
  assert.equal(
    mailbox.received.some(({ mail }) => /was deleted/.test(mail.subject ?? '')),
    false,
  );
});

test('attack: a thief asks for the deletion, the account is deactivated, and its day comes', async () => {
  await ask();
  const url = `/users/${user.id}`;
  assert.equal((await app.admin('PATCH', url, { is_active: false })).status, 200);
  app.advance(15 * DAY_MS);
  await app.app.jobs.tick();
  assert.equal((await stored()).status, 200, 'its owner could not sign in to keep it');
  assert.equal((await app.admin('PATCH', url, { is_active: true })).status, 200);
  app.advance(DAY_MS);
  await app.app.jobs.tick();
  assert.equal((await stored()).status, 404);
});

testOnSoundStore('deletion: two processes carry it out at once, and it is recorded once', async () => {
  await ask();
  app.advance(15 * DAY_MS);
  const { ownDeletions } = app.app.accounts;
  const removed = await Promise.all([ownDeletions.run(), ownDeletions.run()]);
  assert.ok(removed.some((count) => count > 0));
  assert.equal((await stored()).status, 404);
  assert.equal((await eventsOf(app, 'user.deletion_carried_out', user)).length, 1);
});
