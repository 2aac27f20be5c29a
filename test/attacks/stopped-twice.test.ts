// What a thief, or who has the former mailbox, does around a stop of a changed address: before it, so that it fails; after it,
// so that it was for nothing.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { accounts, consents } from '../../src/store/collections.ts';
import { newPerson, open, press } from '../flows/account-support.ts';
import { change, isActive, type User } from '../flows/support.ts';
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';

const EMAIL = '/account/email';
const DAY_MS = 86_400_000;

let app: TestApp;
let mailbox: Mailbox;
let user: User & { email: string };
let thief: Agent;
let addresses = 0;
let hasStarted = false;
const store = createMemoryStore({ clock: () => (hasStarted ? app.now() : Date.now()) });

before(async () => {
  app = await startApp({ shared: store });
  hasStarted = true;
  mailbox = await openMailbox(app);
  await change(app, { limit_mail_address: 1000, allow_username_change: true, allow_account_deletion: true });
});
after(async () => {
  await mailbox.close();
  await app.stop();
});
beforeEach(async () => {
  user = await newPerson(app);
  thief = new Agent(app);
});

const stored = async () => (await app.admin('GET', `/users/${user.id}`)).body.data;

async function use(link: string, agent = new Agent(app)): Promise<Page> {
  const page = await agent.follow(await agent.get(link));
  return page.body.includes('name="token"') ? agent.submit(page, {}) : page;
}

/** The thief, whose session is fresh, makes an own address the primary one. @returns it, and the owner's links that stop it */
async function taken(): Promise<{ to: string; stops: readonly [string, string] }> {
  addresses += 1;
  const to = `other-thief-${addresses}@example.net`;
  await press(thief, await open(thief, user, EMAIL), EMAIL, { email: to });
  assert.match((await use(await mailbox.linkTo(to), thief)).body, /Address added/);
  const added = await mailbox.linkTo(user.email);
  await press(thief, await open(thief, user, EMAIL), `${EMAIL}/primary`, { id: to });
  return { to, stops: [added, await mailbox.linkTo(user.email)] };
}

async function settle(choice: 'keep' | 'undo', agent = new Agent(app)): Promise<Page> {
  return press(agent, await open(agent, user, EMAIL), `${EMAIL}/settle`, { id: choice });
}

test('attack: what was settled is stopped again by the other link of the same change', async () => {
  const { to, stops } = await taken();
  await use(stops[1]);
  app.advance(DAY_MS);
  await settle('keep');
  assert.equal((await stored()).is_email_verified, true);
  assert.equal((await use(stops[0])).status, 410);
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [to, true]);
});

test('attack: the former mailbox stops what an administrator decided for', async () => {
  const { stops } = await taken();
  const given = { email: `given-${addresses}@example.net`, is_email_verified: true, other_emails: [] };
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, given)).status, 200);
  for (const stop of stops) assert.equal((await use(stop)).status, 410);
  assert.equal((await stored()).is_email_verified, true);
});

test('attack: the username of before is taken by an accomplice, so that the stop fails', async () => {
  const { to, stops } = await taken();
  const page = await open(thief, user, '/account/profile');
  // By the session that the change began in: the former class is fresh, so the name stays; then by one that rests on it.
  assert.equal(page.status, 200);
  app.advance(301_000);
  const agent = new Agent(app);
  const forgot = await agent.follow(await agent.get('/oauth2/forgot-password'));
  await agent.submit(forgot, { email: to, username: to });
  const link = await mailbox.linkTo(to);
  const password = 'seven tall lanterns of the thief';
  await agent.submit(await agent.get(link), { password, confirm_password: password });
  const inside = new Agent(app);
  const profile = await open(inside, user, '/account/profile', password);
  await inside.follow(await inside.submit(profile, { username: `${user.username}-x` }));
  assert.equal((await stored()).username, `${user.username}-x`);
  await app.createUser(user.username, {});
  assert.match((await use(stops[1])).body, /The change is stopped/);
  assert.equal((await stored()).is_email_verified, false);
});

test('attack: a change that began under an earlier version is kept right after the stop', async () => {
  const { stops } = await taken();
  const collection = store.collection(accounts);
  const held = await collection.find(user.id);
  assert.ok(held);
  const { addressChange, ...rest } = held.value;
  assert.ok(addressChange);
  await collection.replace(held.id, held.version, rest);
  app.advance(2 * DAY_MS);
  assert.match((await use(stops[1])).body, /The change is stopped/);
  const early = new Agent(app);
  assert.equal((await settle('keep', early)).status, 409);
  assert.equal((await stored()).is_email_verified, false);
  app.advance(DAY_MS);
  await settle('keep');
  assert.equal((await stored()).is_email_verified, true);
});

test('attack: the former mailbox sets passwords after an administrator gave another address', async () => {
  const { stops } = await taken();
  await use(stops[1]);
  const email = `given-${addresses}-b@example.net`;
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, { email, other_emails: [] })).status, 200);
  assert.equal((await app.admin('POST', `/users/${user.id}/send-email-verification`)).status, 200);
  await use(await mailbox.linkTo(email));
  assert.equal((await stored()).is_email_verified, true);
  app.advance(8 * DAY_MS);
  const agent = new Agent(app);
  const forgot = await agent.follow(await agent.get('/oauth2/forgot-password'));
  await agent.submit(forgot, { email: user.email, username: user.email });
  assert.doesNotMatch(await mailbox.linkTo(user.email), /reset-password/);
});

test('attack: an administrator whose address was changed settles the own stop at once', async () => {
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, { role: 'admin' })).status, 200);
  const { to, stops } = await taken();
  await use(stops[1]);
  const root = new Agent(app);
  await open(root, user, '/admin', PASSWORD);
  const page = await root.get(`/admin/users/${user.id}`);
  assert.equal(page.status, 200);
  await press(root, page, `/admin/users/${user.id}/keep-email-change`);
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [to, false]);
  const edit = `/admin/users/${user.id}/edit`;
  const form = await root.get(edit);
  const vouched = await root.post(edit, {
    ...hiddenFields(form.body),
    username: user.username,
    email: to,
    is_email_verified: 'on',
  });
  assert.equal(vouched.status, 409, 'nor by vouching for it');
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [to, false]);
});

test('attack: consent, tokens, passkey and deletion by the new mailbox outlive the stop', async () => {
  const { to, stops } = await taken();
  const asked = new Agent(app);
  await asked.submit(await asked.follow(await asked.get('/oauth2/forgot-password')), {
    email: to,
    username: to,
  });
  const password = 'seven tall lanterns of the thief';
  await asked.submit(await asked.get(await mailbox.linkTo(to)), { password, confirm_password: password });
  const client = await app.register({ skip_consent: false });
  const inside = new Agent(app);
  await open(inside, user, '/account', password);
  const wants = { scope: 'openid email' };
  const { body } = await redeem(app, client, await inside.signIn(client.id, { ...user, password }, wants));
  const token = String(body.access_token);
  assert.equal(await isActive(app, token), true);
  const wanted = await inside.follow(await inside.get('/account/delete'));
  await press(inside, wanted, '/account/delete', { username: user.username });
  const collection = store.collection(accounts);
  const held = await collection.find(user.id);
  assert.ok(held);
  // As a registration in this session writes it (test/attacks/passkey-registrations.test.ts has the ceremony).
  const passkeys = [{ id: 'passkey-of-the-thief', kind: 'passkey' as const }];
  await collection.replace(held.id, held.version, { ...held.value, passkeys });
  assert.notEqual((await collection.find(user.id))?.value.deletion, undefined);
  assert.match((await use(stops[1])).body, /The change is stopped/);
  const left = (await collection.find(user.id))?.value;
  assert.deepEqual([left?.deletion, left?.passkeys], [undefined, undefined]);
  assert.equal(await isActive(app, token), false);
  assert.equal(await store.collection(consents).find(`${user.id}:${client.id}`), undefined);
  const owner = new Agent(app);
  await open(owner, user);
  assert.equal((await owner.get('/account')).status, 200, 'by the password of before');
});
