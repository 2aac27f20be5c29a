// /account/not-me: what one press ends, what stays, who is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import type { TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { createPhone } from '../support/phone.ts';
import { eachWithPerson, eventsOf, newPerson, open, press, STALE_MS } from './account-support.ts';
import { change, isActive, type User } from './support.ts';

const NOT_ME = '/account/not-me';
const DAY_MS = 86_400_000;

let app: TestApp;
let client: { readonly id: string; readonly secret: string };
let user: User & { email: string };
let browser: Agent;

eachWithPerson((given) => {
  ({ app, client, user, browser } = given);
});

test('not me: other sessions, grants and tokens end; this session goes on to a new password', async () => {
  const thief = new Agent(app);
  await open(thief, user);
  const scope = { scope: 'openid offline_access account' };
  const { body: stolen } = await redeem(app, client, await thief.signIn(client.id, user, scope));
  const { body: own } = await redeem(app, client, await browser.signIn(client.id, user, scope));
  const page = await open(browser, user, NOT_ME);
  assert.match(page.body, /Every other device is signed out/);
  const next = await press(browser, page, NOT_ME);
  assert.match(next.url, /\/account\/password/);
  assert.match(next.body, /Everything was ended/);
  assert.match((await thief.get('/account')).location ?? '', /authorize/);
  for (const { access_token: access, refresh_token: refresh } of [stolen, own]) {
    assert.equal(await isActive(app, access), false);
    assert.equal(await isActive(app, refresh), false);
  }
  assert.match((await open(browser, user)).body, /Suspicious activity reported/);
});

test('recent activity: ten entries, and the older ones by a link', async () => {
  const listed = ({ body }: { body: string }): number =>
    (/<ul class="rows log">([\s\S]*?)<\/ul>/.exec(body)?.[1] ?? '').split('<li>').length - 1;
  assert.doesNotMatch((await open(browser, user)).body, /activity=all/);
  for (let times = 0; times < 12; times += 1) await new Agent(app).signIn(client.id, user);
  const few = await open(browser, user);
  assert.equal(listed(few), 10);
  const [, path = ''] = /href="(\/account\?activity=all)#activity"/.exec(few.body) ?? [];
  const all = await browser.get(path);
  assert.ok(listed(all) > 12, String(listed(all)));
  assert.doesNotMatch(all.body, /activity=all/);
});

test('not me: administrators hear of it by audit event and mail', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await newPerson(app, { role: 'admin', email: 'chief@example.com' });
  await press(browser, await open(browser, user, NOT_ME), NOT_ME);
  const [event] = await eventsOf(app, 'user.compromise_reported', user);
  assert.equal(event?.actor_id, user.id);
  await mailbox.deliver();
  const mail = mailbox.received.find(({ to }) => to.includes('chief@example.com'));
  assert.match(mail?.mail.text ?? '', new RegExp(user.username));
  assert.equal(
    mailbox.received.some(({ to }) => to.includes(user.email)),
    false,
  );
});

test('attack: a thief at an open desk sets a password by "this was not me"', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const next = await press(browser, await open(browser, user, NOT_ME), NOT_ME);
  const password = 'a wholly different phrase';
  const typed = { current_password: '', password, confirm_password: password };
  const refused = await press(browser, next, '/account/password', typed);
  assert.match(refused.body, /name="current_password"/);
  assert.doesNotMatch((await open(new Agent(app), user, '/account', password)).body, /Devices and sessions/);
  assert.match((await open(new Agent(app), user)).body, /Devices and sessions/);
});

test('attack: a thief with an old session shuts the owner out by "this was not me"', async () => {
  const page = await open(browser, user, NOT_ME);
  const owner = new Agent(app);
  app.advance(STALE_MS);
  await open(owner, user);
  const refused = await press(browser, page, NOT_ME);
  assert.doesNotMatch(refused.url, /account\/password/);
  assert.equal((await owner.get('/account')).status, 200);
  assert.equal((await eventsOf(app, 'user.compromise_reported', user)).length, 0);
});

test('account API: recent activity, and reporting it', async () => {
  const { body } = await redeem(app, client, await browser.signIn(client.id, user));
  const headers = { authorization: `Bearer ${body.access_token}` };
  const activity = await fetch(`${app.url}/account/api/activity`, { headers });
  const { data } = JSON.parse(await activity.text());
  assert.equal(data.items[0].kind, 'signin');
  const url = `${app.url}/account/api/report-compromise`;
  assert.equal((await fetch(url, { method: 'POST', headers })).status, 204);
  assert.equal((await fetch(url, { method: 'POST', headers })).status, 401, 'the caller itself has lost it');
});

test('attack: what a thief began before "this was not me" is gone on with afterwards', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const thief = new Agent(app);
  await press(thief, await open(thief, user, '/account/email'), '/account/email', {
    email: 'thief@example.net',
  });
  const confirm = await mailbox.linkTo('thief@example.net');
  assert.match(confirm, /email\/confirm/);
  const forgot = await thief.get('/oauth2/forgot-password');
  await thief.submit(forgot, { email: user.email });
  const reset = await mailbox.linkTo(user.email);
  assert.match(reset, /reset-password/);
  await press(browser, await open(browser, user, NOT_ME), NOT_ME);
  assert.doesNotMatch((await browser.get('/account/email')).body, /thief@example\.net/);
  assert.equal((await browser.get(confirm)).status, 410, 'nor by an owner who is talked into it');
  assert.equal((await thief.get(reset)).status, 410);
});

/** The names of the checkboxes: those that are ticked, and all. */
const boxesOf = ({ body }: Page) => {
  const all = [...body.matchAll(/<input type="checkbox" name="(remove:[^"]+)"( checked)?/g)];
  return {
    all: all.map(([, name = '']) => name),
    ticked: all.filter(([, , ticked]) => ticked !== undefined).map(([, name = '']) => name),
  };
};

const chosen = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'on']));
const storedUser = async () => (await app.admin('GET', `/users/${user.id}`)).body.data;

/** By somebody who knows the password. */
async function addAddress(thief: Agent, mailbox: Mailbox, email: string): Promise<void> {
  await press(thief, await open(thief, user, '/account/email'), '/account/email', { email });
  const page = await thief.follow(await thief.get(await mailbox.linkTo(email)));
  assert.match((await thief.submit(page, {})).body, /Address added/);
}

test('attack: an address that a thief added outlives "this was not me"', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await newPerson(app, { role: 'admin', email: 'warden@example.com' });
  await addAddress(new Agent(app), mailbox, 'thief-in@example.net');
  const page = await open(browser, user, NOT_ME);
  assert.match(page.body, /Added in the last 7 days/);
  const { ticked } = boxesOf(page);
  assert.deepEqual(ticked, ['remove:email:thief-in@example.net']);
  const next = await press(browser, page, NOT_ME, chosen(ticked));
  assert.match(next.url, /\/account\/password/);
  assert.deepEqual((await storedUser()).other_emails, []);
  const [event] = await eventsOf(app, 'user.compromise_reported', user);
  assert.match(JSON.stringify(event?.details), /"removed":\["email"\]/);
  assert.equal((await eventsOf(app, 'email.removed', user)).length, 1);
  await mailbox.deliver();
  const told = mailbox.received.find(({ to }) => to.includes('warden@example.com'));
  assert.match(told?.mail.text ?? '', /Removed by the owner, of what had been added in the last days: 1\./);
});

test('not me: what stays unticked stays, and the mailbox of the owner as well', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await addAddress(browser, mailbox, `own-${user.email}`);
  const page = await open(browser, user, NOT_ME);
  await press(browser, page, NOT_ME);
  assert.deepEqual((await storedUser()).other_emails, [`own-${user.email}`]);
  const [event] = await eventsOf(app, 'user.compromise_reported', user);
  assert.doesNotMatch(JSON.stringify(event?.details), /removed/);
});

test('attack: a thief removes what the owner has had for long by "this was not me"', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const own = `old-${user.email}`;
  await addAddress(browser, mailbox, own);
  app.advance(2 * DAY_MS);
  const later = await open(new Agent(app), user, NOT_ME);
  assert.deepEqual(boxesOf(later), { all: [`remove:email:${own}`], ticked: [] }, 'listed, not ticked');
  app.advance(6 * DAY_MS);
  const thief = new Agent(app);
  const page = await open(thief, user, NOT_ME);
  assert.deepEqual(boxesOf(page).all, []);
  await press(
    thief,
    page,
    NOT_ME,
    chosen([`remove:email:${own}`, `remove:email:${user.email}`, 'remove:app']),
  );
  const { email, other_emails: others } = await storedUser();
  assert.deepEqual([email, others], [user.email, [own]]);
});

test('attack: an old session removes what is new by "this was not me"', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const thief = new Agent(app);
  const page = await open(thief, user, NOT_ME);
  app.advance(STALE_MS);
  const own = `new-${user.email}`;
  await addAddress(browser, mailbox, own);
  await press(thief, page, NOT_ME, chosen([`remove:email:${own}`]));
  assert.doesNotMatch((await thief.get(NOT_ME)).body, /name="remove:/, 'nor is it told');
  assert.deepEqual((await storedUser()).other_emails, [own]);
});

test('attack: the owner loses the only second factor by "this was not me"', async () => {
  await change(app, { mfa_mode: 'optional' });
  await open(browser, user);
  const page = await browser.get('/account/second-factor/app');
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '';
  const phone = createPhone(secret, app);
  const pending = hiddenFields(page.body).pending ?? '';
  await press(browser, page, '/account/second-factor/app', { pending, code: phone.code() });
  const shown = await open(browser, user, NOT_ME);
  assert.deepEqual(boxesOf(shown), { all: ['remove:app'], ticked: [] }, 'used for this sign-in');
  await change(app, { mfa_mode: 'required' });
  try {
    const kept = await press(browser, shown, NOT_ME, chosen(['remove:app']));
    assert.equal(kept.status, 409);
    assert.match(kept.body, /something couldn’t be removed/);
    assert.equal((await storedUser()).totp_verified, true);
    const [event] = await eventsOf(app, 'user.compromise_reported', user);
    assert.match(JSON.stringify(event?.details), /"kept":\["app"\]/);
    await change(app, { mfa_mode: 'optional' });
    await press(browser, kept, NOT_ME, chosen(['remove:app']));
    assert.equal((await storedUser()).totp_verified, false);
  } finally {
    await change(app, { mfa_mode: 'optional' });
  }
});
