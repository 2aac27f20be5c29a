// What somebody with a stolen session does at the same moment as, or before, the owner stops a change of an address.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { generateSync } from 'otplib';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { apiKeys } from '../../src/store/administration.ts';
import { newPerson, open, press } from '../flows/account-support.ts';
import { change, type User } from '../flows/support.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { createGuardedStore } from '../support/guarded-store.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';

const EMAIL = '/account/email';

let app: TestApp;
let mailbox: Mailbox;
let user: User & { email: string };
let thief: Agent;
let addresses = 0;

let hasStarted = false;
/** What comes between the reading of an account that is stopped, and the writing. */
let beforeUse: () => Promise<void> = async () => {};
const store = createGuardedStore(
  createMemoryStore({ clock: () => (hasStarted ? app.now() : Date.now()) }),
  (name, method) =>
    `${name} ${method}` === 'accounts replace' || `${name} ${method}` === 'email_changes insert'
      ? beforeUse()
      : undefined,
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
  // The former one gets a link that waits for a day (decision 0038).
  assert.deepEqual([await resetMails(user.email), await resetMails(to)], [1, 0]);
  const given = { email: user.email, is_email_verified: true, other_emails: [] };
  assert.equal((await app.admin('PATCH', `/users/${user.id}`, given)).status, 200);
  assert.deepEqual([await resetMails(user.email), await resetMails(to)], [2, 0]);
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

/** The thief, whose session is fresh, makes an own address the primary one. @returns it, and the owner's link that stops it */
async function taken(): Promise<{ to: string; stop: string }> {
  const to = fresh();
  await add(to);
  await makePrimary(to);
  return { to, stop: await mailbox.linkTo(user.email) };
}

const OTHER = 'seven tall lanterns of the thief';

/** A new password by a mailed link. */
async function reset(
  address: string,
  fields: Record<string, string> = {},
  agent = new Agent(app),
): Promise<Page> {
  const link = await mailedTo(address, 'reset-password', agent);
  const page = await agent.get(link);
  if (page.status !== 200) return page;
  const given = { password: OTHER, confirm_password: OTHER, ...fields };
  return agent.follow(await agent.submit(page, given));
}

async function isIn(password: string): Promise<boolean> {
  const agent = new Agent(app);
  await open(agent, user, '/account', password);
  return (await agent.get('/account')).status === 200;
}

test('attack: a thief resets the password by the new address, is stopped, and keeps it', async () => {
  const { to, stop } = await taken();
  assert.match((await reset(to)).body, /Password changed/);
  assert.equal(await isIn(PASSWORD), false);
  const inside = new Agent(app);
  await open(inside, user, '/account', OTHER);
  assert.match((await use(stop)).body, /The change is stopped/);
  // What rests on the change is void, and the password of before is back.
  assert.equal(await isIn(OTHER), false);
  assert.match((await inside.get('/account')).location ?? '', /authorize/);
  const owner = new Agent(app);
  const decision = await open(owner, user, EMAIL);
  assert.match(decision.body, /24 hours/);
  assert.equal((await press(owner, decision, `${EMAIL}/settle`, { id: 'keep' })).status, 409, 'too early');
  await press(owner, decision, `${EMAIL}/settle`, { id: 'undo' });
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [user.email, true]);
});

test('stopped change: kept a day later by the ways of before, told to both addresses', async () => {
  const { to, stop } = await taken();
  await use(stop);
  app.advance(86_400_000);
  const owner = new Agent(app);
  await press(owner, await open(owner, user, EMAIL), `${EMAIL}/settle`, { id: 'keep' });
  assert.deepEqual([(await stored()).email, (await stored()).is_email_verified], [to, true]);
  await mailbox.deliver();
  const told = mailbox.received.filter(({ mail }) => /keeps its new address/.test(mail.subject ?? ''));
  assert.deepEqual(
    told
      .flatMap((one) => one.to)
      .filter((one) => [to, user.email].includes(one))
      .sort(),
    [user.email, to].sort(),
  );
});

test('attack: app, codes, key and address of a sign-in that used the new mailbox', async () => {
  const { to, stop } = await taken();
  await reset(to);
  thief = new Agent(app);
  await open(thief, user, '/account', OTHER);
  const further = fresh();
  await press(thief, await thief.get(EMAIL), EMAIL, { email: further });
  await use(await mailbox.linkTo(further), thief);
  const page = await thief.follow(await thief.get('/account/second-factor/app'));
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '';
  const code = generateSync({ secret, epoch: Math.floor(app.now() / 1000) });
  assert.match((await thief.follow(await thief.submit(page, { code }))).body, /recovery codes/i);
  assert.equal((await stored()).totp_verified, true);
  await store.collection(apiKeys).insert(
    'key-of-the-thief',
    {
      name: 'of the thief',
      scopes: ['admin'],
      createdBy: `user:${user.id}`,
      owner: null,
      digest: 'x',
      createdAt: app.now(),
    },
    { expiresAt: app.now() + 86_400_000 },
  );
  const keys = async () =>
    (await app.admin('GET', '/api-keys')).body.data.items?.filter(({ name }) => name === 'of the thief')
      .length;
  assert.equal(await keys(), 1);
  assert.match((await use(stop)).body, /The change is stopped/);
  const left = await stored();
  assert.deepEqual(
    [left.totp_verified, Object(left.other_emails).includes(further), await keys()],
    [false, false, 0],
  );
  assert.equal(await isIn(PASSWORD), true, 'nothing but the password of before is asked for');
});

test('stopped change: a factor that the owner added by the ways of before stays', async () => {
  const { stop } = await taken();
  const owner = new Agent(app);
  await open(owner, user);
  const page = await owner.follow(await owner.get('/account/second-factor/app'));
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '';
  const code = generateSync({ secret, epoch: Math.floor(app.now() / 1000) });
  await owner.follow(await owner.submit(page, { code }));
  await use(stop);
  assert.equal((await stored()).totp_verified, true);
  assert.equal(await isIn(PASSWORD), false, 'the code is asked for');
});

test('former address: a reset waits a day, or asks for a factor of before; told to both', async () => {
  const { to, stop } = await taken();
  const waits = await reset(user.email);
  assert.equal(waits.status, 409);
  assert.match(waits.body, /does not work yet/);
  await mailbox.deliver();
  assert.ok(
    mailbox.received.some(
      (one) => one.to.includes(to) && /new password was requested/.test(one.mail.subject ?? ''),
    ),
  );
  await use(stop);
  const agent = new Agent(app);
  const link = await mailedTo(user.email, 'reset-password', agent);
  assert.equal((await agent.get(link)).status, 409);
  app.advance(86_400_000);
  const page = await agent.get(link);
  await agent.submit(page, { password: OTHER, confirm_password: OTHER });
  const owner = new Agent(app);
  await press(owner, await open(owner, user, EMAIL, OTHER), `${EMAIL}/settle`, { id: 'undo' });
  assert.equal((await stored()).email, user.email);
});

test('former address: with an authenticator app of before, a reset asks for its code', async () => {
  const owner = new Agent(app);
  await open(owner, user);
  const page = await owner.follow(await owner.get('/account/second-factor/app'));
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '';
  const codeNow = () => generateSync({ secret, epoch: Math.floor(app.now() / 1000) });
  await owner.follow(await owner.submit(page, { code: codeNow() }));
  thief = owner;
  await taken();
  app.advance(60_000);
  assert.match((await reset(user.email, { code: '000000' })).body, /This code is not right/);
  assert.match((await reset(user.email, { code: codeNow() })).body, /Password changed/);
});

test('stopped change: an administrator settles it on the user’s page and by the API', async () => {
  const { to, stop } = await taken();
  await use(stop);
  assert.deepEqual(
    [Object((await stored()).stopped_email_change).from, Object((await stored()).stopped_email_change).to],
    [user.email, to],
  );
  const root = new Agent(app);
  const name = `root-of-${user.username}`;
  await app.createUser(name, { role: 'admin' });
  await root.submit(await root.follow(await root.get('/admin')), { username: name, password: PASSWORD });
  const page = await root.get(`/admin/users/${user.id}`);
  assert.match(page.body, /A change of the e-mail address was stopped/);
  const { csrf = '' } = hiddenFields(page.body);
  const path = `/admin/users/${user.id}/undo-email-change`;
  app.advance(301_000);
  assert.match((await root.post(path, { csrf })).location ?? '', /prompt=login/, 'stale');
  const settled = await app.admin('POST', `/users/${user.id}/settle-email-change`, { choice: 'undo' });
  assert.equal(settled.status, 200);
  assert.deepEqual([(await stored()).email, (await stored()).stopped_email_change], [user.email, null]);
  const none = await app.admin('POST', `/users/${user.id}/settle-email-change`, { choice: 'keep' });
  assert.equal(none.body.error?.reason, 'account.no_stopped_change');
});

test('attack: the former address is another account’s when its owner wants it back', async () => {
  const { stop } = await taken();
  await press(thief, await open(thief, user, EMAIL), `${EMAIL}/remove`, { id: user.email });
  const other = await app.admin('POST', '/users', {
    username: fresh().replace('@example.net', ''),
    password: PASSWORD,
    email: user.email,
  });
  assert.equal(other.status, 409);
  await use(stop);
  const owner = new Agent(app);
  await press(owner, await open(owner, user, EMAIL), `${EMAIL}/settle`, { id: 'undo' });
  assert.equal((await stored()).email, user.email);
});
