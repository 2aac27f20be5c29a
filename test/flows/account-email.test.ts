// /account/email: the primary address changes to one whose mailbox was shown, the old one is told, and its link stops it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox, tokenIn } from '../support/mailbox.ts';
import { eventsOf, newPerson, open, press, STALE_MS } from './account-support.ts';
import { change, type User } from './support.ts';

const EMAIL = '/account/email';
const DAY_MS = 86_400_000;

let app: TestApp;
let mailbox: Mailbox;
let user: User & { email: string };
let browser: Agent;
let moves = 0;

before(async () => {
  app = await startApp();
  mailbox = await openMailbox(app);
  // Every test here is one person at one network.
  await change(app, { limit_mail_acts: 20 });
});
after(async () => {
  await mailbox.close();
  await app.stop();
});
beforeEach(async () => {
  user = await newPerson(app);
  browser = new Agent(app);
});

const fresh = (): string => {
  moves += 1;
  return `moved-${moves}@example.net`;
};

const stored = async ({ id }: { id: string } = user) => (await app.admin('GET', `/users/${id}`)).body.data;

async function ask(to: string, page?: Page, agent = browser): Promise<Page> {
  return press(agent, page ?? (await open(agent, user, EMAIL)), EMAIL, { email: to });
}

/** Opens a link of a mail and presses its button. */
async function use(link: string, agent = browser): Promise<Page> {
  const page = await agent.follow(await agent.get(link));
  if (!page.body.includes('name="token"')) return page;
  return agent.submit(page, {});
}

/** Adds the address and makes it the primary one. @returns the page after it */
async function moveIn(agent: Agent, to: string): Promise<Page> {
  await ask(to, undefined, agent);
  const added = await use(await mailbox.linkTo(to), agent);
  assert.match(added.body, /Address added/);
  return press(agent, added, `${EMAIL}/primary`, { id: to });
}

/** @returns the link of the mail to the old address */
async function move(to: string): Promise<string> {
  assert.match((await moveIn(browser, to)).body, /Primary address changed/);
  return mailbox.linkTo(user.email);
}

const mailsTo = (address: string): number => mailbox.received.filter(({ to }) => to.includes(address)).length;

test('own e-mail: the primary one changes; signed out elsewhere; the old one is told', async () => {
  const to = fresh();
  const other = new Agent(app);
  await open(other, user);
  const sent = await ask(to);
  assert.match(sent.body, /sending a link to the new address/);
  assert.ok(sent.body.includes(to));
  assert.equal((await stored()).email, user.email, 'nothing changes before the link is used');
  const link = await mailbox.linkTo(to);
  const shown = await browser.get(link);
  assert.ok(shown.body.includes(to));
  assert.equal((await stored()).email, user.email, 'a scanner that follows the link changes nothing');
  const added = await use(link);
  assert.match(added.body, /Address added/);
  assert.deepEqual([(await stored()).email, (await stored()).other_emails], [user.email, [to]]);
  assert.equal((await other.get('/account')).status, 200, 'one more ends nothing');
  const page = await press(browser, added, `${EMAIL}/primary`, { id: to });
  assert.match(page.body, /Primary address changed/);
  const { email, is_email_verified: isVerified, other_emails: others } = await stored();
  assert.deepEqual([email, isVerified, others], [to, true, [user.email]]);
  assert.match((await other.get('/account')).location ?? '', /authorize/, 'every other session has ended');
  assert.equal((await browser.get('/account')).status, 200);
  assert.match((await open(new Agent(app), { username: to }, EMAIL)).body, /New address/);
  const link2 = await mailbox.linkTo(user.email);
  assert.match(link2, /\/account\/email\/stop\?token=/);
  assert.equal((await eventsOf(app, 'email.changed', user)).length, 1);
  assert.equal((await eventsOf(app, 'email.change_requested', user)).length, 1);
});

test('own e-mail: the link opened signed out waits for the sign-in', async () => {
  const to = fresh();
  await ask(to);
  const elsewhere = new Agent(app);
  const login = await elsewhere.follow(await elsewhere.get(await mailbox.linkTo(to)));
  const page = await elsewhere.submit(login, {
    username: user.username,
    password: 'correct horse battery staple',
  });
  assert.match(page.body, /Add this address\?/);
  assert.match((await elsewhere.submit(page, {})).body, /Address added/);
  assert.deepEqual((await stored()).other_emails, [to]);
});

test('own e-mail: an address that is the username moves both', async () => {
  user = {
    ...(await newPerson(app, { username: 'by-address@example.org', email: 'by-address@example.org' })),
  };
  user = { ...user, username: 'by-address@example.org', email: 'by-address@example.org' };
  const to = fresh();
  await move(to);
  assert.deepEqual([(await stored()).username, (await stored()).email], [to, to]);
});

test('attack: takeover by a change of e-mail with an old session', async () => {
  const page = await open(browser, user, EMAIL);
  app.advance(STALE_MS);
  const to = fresh();
  const refused = await ask(to, page);
  assert.match(refused.url, /authorize|login/);
  await mailbox.deliver();
  assert.equal(mailsTo(to), 0);
  assert.equal((await stored()).email, user.email);
});

test('attack: pre-hijacking; an address that was asked for reserves and signs in nothing', async () => {
  const victim = fresh();
  await ask(victim);
  assert.match((await open(new Agent(app), { username: victim }, EMAIL)).body, /name="password"/);
  const owner = await newPerson(app, { email: victim });
  // The owner of the mailbox opens the mail that the attacker caused, signed in to their own account.
  const agent = new Agent(app);
  await open(agent, owner);
  const link = await mailbox.linkTo(victim);
  assert.equal((await use(link, agent)).status, 410);
  assert.equal((await stored()).email, user.email);
  assert.equal((await stored(owner)).email, victim);
  // And the attacker, with the link, finds it taken.
  const taken = await use(link);
  assert.equal(taken.status, 409);
  assert.equal((await stored()).email, user.email);
});

test('attack: the link of another account, by form', async () => {
  const to = fresh();
  await ask(to);
  const token = tokenIn(await mailbox.linkTo(to));
  const other = await newPerson(app);
  const agent = new Agent(app);
  const page = await open(agent, other, EMAIL);
  const { csrf = '' } = hiddenFields(page.body);
  assert.equal((await agent.post(`${EMAIL}/confirm`, { csrf, token })).status, 403);
  assert.deepEqual([(await stored(other)).email, (await stored()).email], [other.email, user.email]);
});

test('own e-mail: a second link leaves the first valid; one used, neither counts', async () => {
  const to = fresh();
  await ask(to);
  const first = await mailbox.linkTo(to);
  await ask(to);
  const second = await mailbox.linkTo(to);
  assert.notEqual(second, first);
  assert.match((await use(first)).body, /Address added/);
  assert.equal((await use(second)).status, 410);
  assert.equal((await eventsOf(app, 'email.added', user)).length, 1);
});

test('attack: links used twice, and after a new password', async () => {
  const first = fresh();
  await ask(first);
  const link = await mailbox.linkTo(first);
  await app.admin('PATCH', `/users/${user.id}`, { password: 'a password of the owner 1815' });
  await open(browser, user, EMAIL, 'a password of the owner 1815');
  assert.equal((await use(link)).status, 410, 'void with the password that asked for it');
  const third = fresh();
  await ask(third, await open(browser, user, EMAIL, 'a password of the owner 1815'));
  const good = await mailbox.linkTo(third);
  assert.equal((await use(good)).status, 200);
  assert.equal((await use(good)).status, 410);
  assert.equal((await eventsOf(app, 'email.added', user)).length, 1);
});

test('attack: whose address it is; the answer is one, and only its owner hears', async () => {
  const owner = await newPerson(app);
  const page = await ask(owner.email);
  assert.match(page.body, /sending a link to the new address/);
  await mailbox.deliver();
  const mail = mailbox.received.findLast(({ to }) => to.includes(owner.email));
  assert.match(mail?.mail.subject ?? '', /already has/);
  assert.doesNotMatch(mail?.mail.text ?? '', new RegExp(`${user.username}\\b|token=`));
});

test('attack: mailing strangers by addresses to add', async () => {
  await change(app, { limit_mail_acts: 3 });
  for (let turn = 0; turn < 3; turn += 1) assert.equal((await ask(fresh())).status, 200);
  const last = await ask(fresh());
  assert.equal(last.status, 429);
  await change(app, { limit_mail_acts: 20 });
});

test('stopped change: signs out, no one in; neither address counts until the owner decides', async () => {
  const to = fresh();
  const stop = await move(to);
  const thief = new Agent(app);
  await open(thief, user);
  app.advance(6 * DAY_MS);
  const stranger = new Agent(app);
  assert.equal((await stored()).is_email_verified, true);
  await stranger.get(stop);
  assert.equal((await stored()).is_email_verified, true, 'opening it does nothing');
  const page = await use(stop, stranger);
  assert.match(page.body, /The change is stopped/);
  assert.match((await stranger.get('/account')).location ?? '', /authorize/, 'signs no one in');
  assert.match((await thief.get('/account')).location ?? '', /authorize/, 'ends every session');
  const { email, is_email_verified: isVerified } = await stored();
  assert.deepEqual([email, isVerified], [to, false]);
  assert.match((await open(new Agent(app), { username: to }, EMAIL)).body, /name="password"/);
  assert.equal((await use(stop, stranger)).status, 410, 'once');

  const decision = await open(browser, user, EMAIL);
  assert.match(decision.body, /was stopped/);
  assert.equal((await ask(fresh(), decision)).status, 409, 'no further change before');
  const done = await press(browser, decision, `${EMAIL}/settle`, { id: 'undo' });
  assert.match(done.body, /Former address restored/);
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [user.email, true]);
  assert.deepEqual((await stored()).other_emails, [], 'whoever moved it may have added the others');
  assert.equal((await eventsOf(app, 'email.change_stopped', user)).length, 1);
});

test('stopped change: kept by its owner', async () => {
  const to = fresh();
  await use(await move(to), new Agent(app));
  // Not before (decision 0038).
  app.advance(DAY_MS);
  const decision = await open(browser, user, EMAIL);
  const kept = await press(browser, decision, `${EMAIL}/settle`, { id: 'keep' });
  assert.match(kept.body, /stays as it is now/);
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [to, true]);
  assert.equal((await press(browser, kept, `${EMAIL}/settle`, { id: 'undo' })).status, 404);
});

test('attack: a second change by the thief does not void the stop of the first', async () => {
  const [first, second] = [fresh(), fresh()];
  const stop = await move(first);
  browser.clearCookies();
  assert.match((await moveIn(browser, second)).body, /Primary address changed/);
  // The thief has the mailbox in between, and stops first.
  await use(await mailbox.linkTo(first), new Agent(app));
  assert.match((await use(stop, new Agent(app))).body, /The change is stopped/);
  browser.clearCookies();
  const decision = await open(browser, user, EMAIL);
  await press(browser, decision, `${EMAIL}/settle`, { id: 'undo' });
  assert.equal((await stored()).email, user.email);
});

test('attack: stopping a change after a week, or with a made-up link', async () => {
  const stop = await move(fresh());
  app.advance(7 * DAY_MS + 1000);
  assert.equal((await use(stop, new Agent(app))).status, 410);
  const invented = stop.replace(/token=.*/, `token=${'x'.repeat(tokenIn(stop).length)}`);
  assert.equal((await use(invented, new Agent(app))).status, 410);
  assert.equal((await stored()).is_email_verified, true);
});

test('attack: an address that is script', async () => {
  const page = await ask('"><script>alert(1)</script>@example.com');
  assert.equal(page.status, 400);
  assert.doesNotMatch(page.body, /<script>alert/);
});
