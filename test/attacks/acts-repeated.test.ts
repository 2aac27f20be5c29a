// Acts of a person, or of nobody, again and again: each sends a mail, or keeps something, and somebody else pays for it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, beforeEach, test } from 'node:test';
import { accessTokenOf, eventsOf, newPerson, open, press } from '../flows/account-support.ts';
import type { User } from '../flows/support.ts';
import { Agent, type Page } from '../support/agent.ts';
import { opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';

/** The default of `limit_mail_acts`. */
const LIMIT = 3;
const TIMES = 6;

let app: TestApp;
let mailbox: Mailbox;
let user: User & { email: string };
let browser: Agent;

before(async () => {
  app = await startApp({ store: 'sqlite', limits: 'shipped' });
  mailbox = await openMailbox(app);
});
after(async () => {
  await mailbox.close();
  await app.stop();
});
beforeEach(async () => {
  user = await newPerson(app);
  browser = new Agent(app);
});

async function repeat(act: (time: number) => Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < TIMES; time += 1) statuses.push(await act(time));
  return statuses;
}

const mails = (to: string, subject: RegExp): number =>
  mailbox.received.filter((one) => one.to.includes(to) && subject.test(one.mail.subject ?? '')).length;

/** Opens a link of a mail and presses its button. */
async function use(link: string): Promise<Page> {
  return browser.submit(await browser.get(link), {});
}

test('attack: administrators drowned in mails by reports of "this was not me"', async () => {
  const chief = await newPerson(app, { role: 'admin' });
  const path = '/account/not-me';
  const statuses = await repeat(
    async () => (await press(browser, await open(browser, user, path), path)).status,
  );
  assert.deepEqual(new Set(statuses), new Set([200]), 'a report is never refused');
  await mailbox.deliver();
  assert.equal(mails(chief.email, /activity reported/), LIMIT);
  assert.equal((await eventsOf(app, 'user.compromise_reported', user)).length, TIMES, 'each is recorded');
});

test('attack: the owner drowned in mails about downloads of the own data', async () => {
  const { id, secret } = await app.register(opensAccounts);
  const headers = { authorization: `Bearer ${await accessTokenOf(app, { id, secret }, user)}` };
  const byApi = async () => (await fetch(`${app.url}/account/api/export`, { headers })).status;
  const path = '/account/data';
  const page = await open(browser, user, path);
  const statuses = await repeat(async (time) =>
    time % 2 === 0 ? (await press(browser, page, path, { id: 'json' })).status : byApi(),
  );
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429]);
  assert.match((await press(browser, page, path, { id: 'json' })).body, /Too many attempts/);
  await mailbox.deliver();
  assert.equal(mails(user.email, /data was downloaded/), LIMIT);
});

const FACTOR = '/account/second-factor';

/** With the second step that the account has by now: a code by mail. */
async function openFactor(): Promise<Page> {
  const page = await open(browser, user, FACTOR);
  const [, url] = /href="([^"]*acr_values[^"]*)"/.exec(page.body) ?? [];
  if (url === undefined) return page;
  app.advance(61_000);
  let asked = await browser.follow(await browser.get(url.replaceAll('&amp;', '&')));
  if (asked.body.includes('name="password"'))
    asked = await browser.submit(asked, { username: user.username, password: PASSWORD });
  await mailbox.deliver();
  const mail = mailbox.received.findLast(({ to }) => to.includes(user.email))?.mail;
  const code = /\n {4}(\d{6})\n/.exec(mail?.text ?? '')?.[1] ?? '';
  return browser.submit(asked, { method: 'email', code });
}

test('attack: the owner drowned in mails about new recovery codes', async () => {
  await press(browser, await openFactor(), `${FACTOR}/email`);
  const page = await openFactor();
  const statuses = await repeat(async () => (await press(browser, page, `${FACTOR}/codes`)).status);
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429]);
  assert.match((await press(browser, page, `${FACTOR}/codes`)).body, /Too many attempts/);
  await mailbox.deliver();
  assert.equal(mails(user.email, /new recovery codes/i), LIMIT);
});

test('attack: codes by mail switched on and off; the warning is lost among its copies', async () => {
  const statuses: number[] = [];
  for (const act of ['email', 'email/remove', 'email', 'email/remove'])
    statuses.push((await press(browser, await openFactor(), `${FACTOR}/${act}`)).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  assert.equal((await eventsOf(app, 'mfa.enrolled', user)).length, 2);
  assert.equal((await eventsOf(app, 'mfa.removed', user)).length, 1);
});

test('attack: two addresses take turns as the primary one; the warning is lost among its copies', async () => {
  const other = `other-of-${user.email}`;
  const path = '/account/email';
  await press(browser, await open(browser, user, path), path, { email: other });
  assert.match((await use(await mailbox.linkTo(other))).body, /Address added/);
  const statuses: number[] = [];
  for (let time = 0; time <= LIMIT; time += 1) {
    const page = await open(browser, user, path);
    const id = time % 2 === 0 ? other : user.email;
    statuses.push((await press(browser, page, `${path}/primary`, { id })).status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 429]);
  await mailbox.deliver();
  assert.equal(mails(user.email, /was changed/) + mails(other, /was changed/), LIMIT);
});

test('attack: a stranger without cookies fills the store by links to confirm an address', async () => {
  const kept = (): number => {
    const database = new DatabaseSync(join(app.dataDir, 'latchkey.db'), { readOnly: true });
    const { rows } = { rows: 0, ...database.prepare('SELECT count(*) AS rows FROM one_time').get() };
    database.close();
    return Number(rows);
  };
  const path = '/account/email';
  await press(browser, await open(browser, user, path), path, { email: `new-of-${user.email}` });
  const link = await mailbox.linkTo(`new-of-${user.email}`);
  const before = kept();
  for (const token of ['', 'x'.repeat(43), 'A'.repeat(6000)])
    assert.equal((await new Agent(app).get(`${path}/confirm?token=${token}`)).status, 303);
  assert.equal(kept(), before, 'nothing of an address that is no link of ours');
  assert.equal((await new Agent(app).get(link)).status, 303);
  assert.equal(kept(), before + 1);
  await app.admin('PATCH', '/settings', { limit_public_requests_ip: 2 });
  for (let times = 0; times < TIMES; times += 1) await new Agent(app).get(link);
  assert.ok(kept() <= before + 3, 'of a link that counts so many of one network');
});
