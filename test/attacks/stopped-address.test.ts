// What somebody with a stolen session does at the same moment as, or before, the owner stops a change of an address.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { newPerson, open, press } from '../flows/account-support.ts';
import { change, type User } from '../flows/support.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createGuardedStore } from '../support/guarded-store.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';

const EMAIL = '/account/email';

let app: TestApp;
let mailbox: Mailbox;
let user: User & { email: string };
let thief: Agent;
let addresses = 0;

let hasStarted = false;
/** What waits for a link to be used up, before it is. */
let beforeUse: () => Promise<void> = async () => {};
const store = createGuardedStore(
  createMemoryStore({ clock: () => (hasStarted ? app.now() : Date.now()) }),
  (name, method) => (name === 'email_changes' && method === 'remove' ? beforeUse() : undefined),
);

before(async () => {
  app = await startApp({ shared: store });
  hasStarted = true;
  mailbox = await openMailbox(app);
  // Every test here is one person at one network.
  await change(app, { limit_mail_address: 1000, allow_magic_link: true });
});
after(async () => {
  await mailbox.close();
  await app.stop();
});
beforeEach(async () => {
  user = await newPerson(app);
  thief = new Agent(app);
});

const fresh = (): string => {
  addresses += 1;
  return `thief-${addresses}@example.net`;
};

const stored = async () => (await app.admin('GET', `/users/${user.id}`)).body.data;

/** Opens a link of a mail and presses its button. */
async function use(link: string, agent = new Agent(app)): Promise<Page> {
  const page = await agent.follow(await agent.get(link));
  return page.body.includes('name="token"') ? agent.submit(page, {}) : page;
}

/** @returns the link of the mail to the primary address that stops it */
async function add(to: string): Promise<string> {
  await press(thief, await open(thief, user, EMAIL), EMAIL, { email: to });
  assert.match((await use(await mailbox.linkTo(to), thief)).body, /Address added/);
  return mailbox.linkTo(user.email);
}

async function makePrimary(to: string): Promise<Page> {
  return press(thief, await open(thief, user, EMAIL), `${EMAIL}/primary`, { id: to });
}

/** Asks for a mail with a link for signing in or a new password, in this browser. */
async function mailedTo(
  address: string,
  path: 'reset-password' | 'magic-link',
  agent: Agent,
): Promise<string> {
  const action = path === 'magic-link' ? { action: 'magic_link' } : {};
  const page = await agent.follow(await agent.get(action.action ? '/account' : '/oauth2/forgot-password'));
  const asked = await agent.submit(page, { email: address, username: address, ...action });
  if (action.action) await agent.submit(asked, { email: address, ...action });
  await mailbox.deliver();
  const mail = mailbox.received.findLast(({ to }) => to.includes(address));
  const found = new RegExp(`https?://\\S+${path}\\?token=[\\w-]+`).exec(mail?.mail.text ?? '')?.[0] ?? '';
  assert.notEqual(found, '', 'the thief has a link');
  return found;
}

test('race: both links against two added addresses at once; neither address comes back', async () => {
  const stops = [await add(fresh()), await add(fresh())];
  const both = Promise.withResolvers<void>();
  let arrived = 0;
  beforeUse = () => {
    arrived += 1;
    if (arrived === stops.length) both.resolve();
    return both.promise;
  };
  const pages = await Promise.all(stops.map((stop) => use(stop)));
  beforeUse = async () => {};
  for (const { body } of pages) assert.match(body, /The address is removed/);
  assert.deepEqual((await stored()).other_emails, []);
});

test('race: the thief moves the primary address on while the owner stops the first change', async () => {
  const [first, second] = [fresh(), fresh()];
  await add(first);
  await add(second);
  assert.match((await makePrimary(first)).body, /Primary address changed/);
  const stop = await mailbox.linkTo(user.email);
  const form = await open(thief, user, EMAIL);
  let moved: Page | undefined;
  beforeUse = async () => {
    beforeUse = async () => {};
    moved = await press(thief, form, `${EMAIL}/primary`, { id: second });
  };
  assert.match((await use(stop)).body, /The change is stopped/);
  assert.match(moved?.body ?? '', /Primary address changed/);
  assert.equal((await stored()).is_email_verified, false);
  const owner = new Agent(app);
  const decision = await open(owner, user, EMAIL);
  assert.match(decision.body, /was stopped/);
  await press(owner, decision, `${EMAIL}/settle`, { id: 'undo' });
  assert.equal((await stored()).email, user.email);
});

for (const path of ['reset-password', 'magic-link'] as const)
  test(`attack: a ${path} link, mailed to the address of the thief before the change is stopped`, async () => {
    const to = fresh();
    await add(to);
    await makePrimary(to);
    const stop = await mailbox.linkTo(user.email);
    const agent = new Agent(app);
    const link = await mailedTo(to, path, agent);
    assert.match((await use(stop)).body, /The change is stopped/);
    assert.equal((await agent.get(link)).status, 410);
    assert.match((await agent.get('/account')).location ?? '', /authorize/, 'signed in nowhere');
  });

test('attack: the owner, who has not decided yet, is asked to verify the address of the thief', async () => {
  const to = fresh();
  await add(to);
  await makePrimary(to);
  assert.match((await use(await mailbox.linkTo(user.email))).body, /The change is stopped/);
  const owner = new Agent(app);
  const home = await open(owner, user);
  assert.doesNotMatch(home.body, /\/account\/email\/verify/);
  assert.match(home.body, /A change of your address was stopped/);
  const { csrf = '' } = hiddenFields(home.body);
  assert.equal((await owner.post('/account/email/verify', { csrf })).status, 409);
  const byAdministrator = await app.admin('POST', `/users/${user.id}/send-email-verification`);
  assert.equal(byAdministrator.body.error?.reason, 'account.email_frozen');
  assert.doesNotMatch(await mailbox.linkTo(to), /verify-email/);
});

test('attack: a set-up link, sent to the address of the thief by an administrator', async () => {
  const to = fresh();
  await add(to);
  await makePrimary(to);
  const stop = await mailbox.linkTo(user.email);
  const send = () => app.admin('POST', `/users/${user.id}/send-enrolment-link`);
  assert.equal((await send()).status, 200);
  const link = await mailbox.linkTo(to);
  assert.match(link, /\/oauth2\/enrol\?token=/);
  assert.match((await use(stop)).body, /The change is stopped/);
  assert.equal((await new Agent(app).get(link)).status, 410, 'sent before');
  assert.equal((await send()).body.error?.reason, 'account.email_frozen');
});

test('attack: an owner without a password, shut out by a stop; an administrator decides', async () => {
  const to = fresh();
  await add(to);
  await makePrimary(to);
  assert.match((await use(await mailbox.linkTo(user.email))).body, /The change is stopped/);
  const resetMails = async (address: string): Promise<number> => {
    const agent = new Agent(app);
    await agent.submit(await agent.get('/oauth2/forgot-password'), { email: address });
    await mailbox.deliver();
    const mails = mailbox.received.filter((one) => one.to.includes(address));
    return mails.filter(({ mail }) => /reset-password\?token=/.test(mail.text ?? '')).length;
  };
  assert.deepEqual([await resetMails(user.email), await resetMails(to)], [0, 0], 'no mailbox counts');
  const given = { email: user.email, is_email_verified: true, other_emails: [] };
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, given)).status, 200);
  assert.deepEqual([await resetMails(user.email), await resetMails(to)], [1, 0]);
  assert.doesNotMatch((await open(new Agent(app), user, EMAIL)).body, /was stopped/);
});

test('stopped change: an administrator who verifies the new address settles it', async () => {
  const to = fresh();
  await add(to);
  await makePrimary(to);
  assert.match((await use(await mailbox.linkTo(user.email))).body, /The change is stopped/);
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, { given_name: 'Ann' })).status, 200);
  assert.match((await open(new Agent(app), user, EMAIL)).body, /was stopped/, 'not by another change');
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, { is_email_verified: true })).status, 200);
  const agent = new Agent(app);
  assert.doesNotMatch((await open(agent, user, EMAIL)).body, /was stopped/);
  await press(agent, await open(agent, user, EMAIL), EMAIL, { email: fresh() });
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [to, true]);
});
