// Several addresses of one account: what counts, for what, from when on; and what a thief, or two at once, can do with them.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { ADMIN_TOKEN, opensAccounts, PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { testOnSoundStore } from '../support/real-mongodb.ts';
import { accessTokenOf, eventsOf, newPerson, open, press, STALE_MS } from './account-support.ts';
import { change, type User } from './support.ts';

const EMAIL = '/account/email';
const SIGNED_OUT = /name="password"/;

let app: TestApp;
let mailbox: Mailbox;
let client: { id: string; secret: string };
let user: User & { email: string };
let browser: Agent;
let addresses = 0;

before(async () => {
  app = await startApp();
  mailbox = await openMailbox(app);
  client = await app.register(opensAccounts);
  // Every test here is one person at one network.
  await change(app, { limit_mail_acts: 50 });
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
  addresses += 1;
  return `other-${addresses}@example.net`;
};

const stored = async ({ id }: { id: string } = user) => (await app.admin('GET', `/users/${id}`)).body.data;

async function ask(to: string, agent = browser, owner: User = user): Promise<Page> {
  return press(agent, await open(agent, owner, EMAIL), EMAIL, { email: to });
}

/** Opens a link of a mail and presses its button. */
async function use(link: string, agent = browser): Promise<Page> {
  const page = await agent.follow(await agent.get(link));
  return page.body.includes('name="token"') ? agent.submit(page, {}) : page;
}

async function add(to: string, agent = browser, owner: User = user): Promise<Page> {
  await ask(to, agent, owner);
  const page = await use(await mailbox.linkTo(to), agent);
  assert.match(page.body, /Address added/);
  return page;
}

/** Asks for a link to a new password at this address. @returns it, or '' when no such mail came */
async function resetLinkTo(address: string): Promise<string> {
  const before = mailbox.received.length;
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/oauth2/forgot-password'));
  await agent.submit(page, { email: address });
  await mailbox.deliver();
  const mail = mailbox.received.slice(before).find(({ to }) => to.includes(address));
  return /https?:\/\/\S+reset-password\?token=[\w-]+/.exec(mail?.mail.text ?? '')?.[0] ?? '';
}

const mailsTo = (address: string) => mailbox.received.filter(({ to }) => to.includes(address));

async function userInfo(token: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return JSON.parse(await response.text());
}

test('addresses: one that was added signs in, in any spelling; the claim stays the primary one', async () => {
  const to = fresh();
  await add(to);
  assert.deepEqual((await stored()).other_emails, [to]);
  assert.match((await open(new Agent(app), { username: to.toUpperCase() }, EMAIL)).body, /New address/);
  const token = await accessTokenOf(app, client, { ...user, username: to });
  const { email, sub } = await userInfo(token);
  assert.deepEqual([email, sub], [user.email, user.id]);
  for (const query of [`email=${to.toUpperCase()}`, `search=${to.slice(0, -3)}`]) {
    const { items = [] } = (await app.admin('GET', `/users?${query}`)).body.data;
    assert.deepEqual(
      items.map(({ id }) => id),
      [user.id],
      query,
    );
  }
});

test('addresses: a reset link goes where it was asked for; notices to the primary one', async () => {
  const to = fresh();
  await add(to);
  const link = await resetLinkTo(to);
  assert.notEqual(link, '');
  const agent = new Agent(app);
  const next = 'seven green kettles on a shelf';
  await agent.submit(await agent.get(link), { password: next, confirm_password: next });
  await mailbox.deliver();
  assert.match(mailsTo(user.email).at(-1)?.mail.subject ?? '', /password/i);
  assert.equal(mailsTo(to).filter(({ mail }) => /was (added|changed)/.test(mail.subject ?? '')).length, 0);
});

test('addresses: the primary one is told of one more, and its link removes that and signs out', async () => {
  const to = fresh();
  await add(to);
  const stop = await mailbox.linkTo(user.email);
  assert.match(mailsTo(user.email).at(-1)?.mail.subject ?? '', /was added/);
  const stranger = new Agent(app);
  const shown = await stranger.get(stop);
  assert.match(shown.body, /Remove the added address\?/);
  assert.deepEqual((await stored()).other_emails, [to], 'opening it does nothing');
  const page = await use(stop, stranger);
  assert.match(page.body, /The address is removed/);
  assert.deepEqual([(await stored()).other_emails, (await stored()).is_email_verified], [[], true]);
  assert.match((await browser.get('/account')).location ?? '', /authorize/, 'signed out');
  assert.match((await stranger.get('/account')).location ?? '', /authorize/, 'and no one in');
  assert.equal((await use(stop, stranger)).status, 410, 'once');
  assert.equal((await eventsOf(app, 'email.addition_stopped', user)).length, 1);
});

test('addresses: five at most, those included that wait', async () => {
  const verified = fresh();
  await add(verified);
  const waiting = [fresh(), fresh(), fresh()];
  for (const one of waiting) assert.match((await ask(one)).body, /sending a link to the new address/);
  const page = await open(browser, user, EMAIL);
  assert.match(page.body, /as many addresses as it can have/);
  const [first = ''] = waiting;
  const refused = await press(browser, page, EMAIL, { email: fresh() });
  assert.equal(refused.status, 409);
  // Once more to one that waits is no further one.
  assert.match((await press(browser, page, EMAIL, { id: first })).body, /sending a link to the new address/);
  const withdrawn = await press(browser, page, `${EMAIL}/remove`, { id: first });
  assert.match(withdrawn.body, /no longer work/);
  assert.equal((await use(await mailbox.linkTo(first))).status, 410);
  assert.match((await ask(fresh())).body, /sending a link to the new address/);
});

test('addresses: removed ones sign no one in, void their links, and are free for others', async () => {
  const to = fresh();
  const page = await add(to);
  const link = await resetLinkTo(to);
  const other = new Agent(app);
  await open(other, { username: to });
  const removed = await press(browser, page, `${EMAIL}/remove`, { id: to });
  assert.match(removed.body, /Address removed/);
  assert.match((await other.get('/account')).location ?? '', /authorize/, 'other sessions end');
  assert.match((await open(new Agent(app), { username: to }, EMAIL)).body, SIGNED_OUT);
  assert.equal((await new Agent(app).get(link)).status, 410);
  await mailbox.deliver();
  assert.match(mailsTo(user.email).at(-1)?.mail.subject ?? '', /was removed/);
  const next = await newPerson(app);
  const agent = new Agent(app);
  await add(to, agent, next);
  assert.deepEqual((await stored(next)).other_emails, [to]);
  assert.deepEqual((await stored()).other_emails, []);
  // What the one before still has of it opens nothing of the next one.
  assert.equal((await new Agent(app).get(link)).status, 410);
});

test('addresses: the primary one cannot be removed, nor can one that is not there', async () => {
  const page = await open(browser, user, EMAIL);
  for (const id of [user.email, fresh(), ''])
    assert.equal((await press(browser, page, `${EMAIL}/remove`, { id })).status, 404, id);
  assert.equal((await press(browser, page, `${EMAIL}/primary`, { id: fresh() })).status, 404);
  assert.equal((await stored()).email, user.email);
});

test('attack: acts on addresses with an old session', async () => {
  const to = fresh();
  const page = await add(to);
  app.advance(STALE_MS);
  for (const path of ['primary', 'remove'])
    assert.match((await press(browser, page, `${EMAIL}/${path}`, { id: to })).url, /authorize|login/);
  const next = fresh();
  assert.match((await press(browser, page, EMAIL, { email: next })).url, /authorize|login/);
  await mailbox.deliver();
  assert.equal(mailsTo(next).length, 0);
  assert.deepEqual([(await stored()).email, (await stored()).other_emails], [user.email, [to]]);
});

test('attack: an address that waits opens, blocks and gains nothing (pre-hijacking)', async () => {
  const victim = fresh();
  await ask(victim);
  const link = await mailbox.linkTo(victim);
  assert.match((await open(new Agent(app), { username: victim }, EMAIL)).body, SIGNED_OUT);
  assert.equal(await resetLinkTo(victim), '');
  // Its owner takes it as one more address of their account.
  const owner = await newPerson(app);
  await add(victim, new Agent(app), owner);
  const late = await use(link);
  assert.equal(late.status, 409);
  assert.deepEqual((await stored()).other_emails, []);
  assert.deepEqual((await stored(owner)).other_emails, [victim]);
});

test('attack: whose address it is, primary or another; the pages are the same', async () => {
  const owner = await newPerson(app);
  const theirs = fresh();
  await add(theirs, new Agent(app), owner);
  const shown = new Set<string>();
  for (const address of [owner.email, theirs, fresh()]) {
    const person = await newPerson(app);
    const page = await ask(address, new Agent(app), person);
    const body = page.body
      .replaceAll(address, 'ADDRESS')
      .replaceAll(person.email, 'OWN')
      .replaceAll(person.username, 'NAME')
      .replace(/nonce="[^"]+"/, 'nonce');
    shown.add(body.replaceAll(hiddenFields(page.body).csrf ?? '', 'CSRF'));
  }
  assert.equal(shown.size, 1);
  await mailbox.deliver();
  for (const address of [owner.email, theirs]) {
    const mail = mailsTo(address).at(-1)?.mail;
    assert.match(mail?.subject ?? '', /already has/);
    assert.doesNotMatch(mail?.text ?? '', /token=/);
  }
});

testOnSoundStore('attack: of two accounts that verify one address at once, one gets it', async () => {
  const rounds = process.env.LONG === '1' ? 20 : 1;
  for (let round = 0; round < rounds; round += 1) {
    const shared = fresh();
    const contenders = await Promise.all(
      [1, 2, 3].map(async () => ({ person: await newPerson(app), agent: new Agent(app) })),
    );
    const pages: { agent: Agent; page: Page }[] = [];
    for (const { person, agent } of contenders) {
      await ask(shared, agent, person);
      const link = await mailbox.linkTo(shared);
      pages.push({ agent, page: await agent.follow(await agent.get(link)) });
    }
    const answers = await Promise.all(pages.map(({ agent, page }) => agent.submit(page, {})));
    const winners = answers.filter(({ body }) => /Address added/.test(body));
    assert.equal(winners.length, 1);
    const { total } = (await app.admin('GET', `/users?email=${shared}`)).body.data;
    assert.equal(total, 1);
  }
});

testOnSoundStore('attack: a new account with the address of another one, primary or not', async () => {
  const to = fresh();
  await add(to);
  const created = await app.admin('POST', '/users', {
    username: `taker-${addresses}`,
    password: PASSWORD,
    email: to.toUpperCase(),
  });
  assert.equal(created.status, 409);
  const named = await app.admin('POST', '/users', { username: to, email: to, password: PASSWORD });
  assert.equal(named.status, 409);
  const moved = await app.admin('PATCH', `/users/${(await newPerson(app)).id}`, { email: to });
  assert.equal(moved.status, 409);
});

test('attack: while a change of the primary one is stopped, no other address counts', async () => {
  const [first, second] = [fresh(), fresh()];
  await add(first);
  const page = await add(second);
  await press(browser, page, `${EMAIL}/primary`, { id: first });
  await use(await mailbox.linkTo(user.email), new Agent(app));
  for (const address of [user.email, first, second]) {
    assert.match((await open(new Agent(app), { username: address }, EMAIL)).body, SIGNED_OUT, address);
    // The former one gets a link, which waits for a day (decision 0038).
    assert.equal((await resetLinkTo(address)) === '', address !== user.email, address);
  }
  const decision = await open(new Agent(app), user, EMAIL);
  assert.match(decision.body, /was stopped/);
});

test('attack: the link about an addition stops a later change of the primary one, too', async () => {
  const to = fresh();
  const page = await add(to);
  const stop = await mailbox.linkTo(user.email);
  await press(browser, page, `${EMAIL}/primary`, { id: to });
  await press(browser, await open(browser, user, EMAIL), `${EMAIL}/remove`, { id: user.email });
  assert.deepEqual([(await stored()).email, (await stored()).other_emails], [to, []]);
  assert.match((await use(stop, new Agent(app))).body, /The change is stopped/);
  assert.equal((await stored()).is_email_verified, false);
});

test('attack: an address of a domain that may not sign up, added to an account that is there', async () => {
  const waiting = `waiting-${addresses}@outside.example`;
  await press(browser, await open(browser, user, EMAIL), EMAIL, { email: waiting });
  const link = await mailbox.linkTo(waiting);
  await change(app, {
    signup_allowed_email_domains: '*.example.net example.com',
    signup_blocked_email_domains: 'bad.example.net',
  });
  try {
    const token = await accessTokenOf(app, client, user);
    for (const address of [
      'a@outside.example',
      'a@OUTSIDE.example',
      'a@x.bad.example.net',
      'a@example.com.outside.example',
    ]) {
      const page = await press(browser, await open(browser, user, EMAIL), EMAIL, { email: address });
      assert.equal(page.status, 400, address);
      assert.match(page.body, /this provider can’t be used here/);
      const byApi = await fetch(`${app.url}/account/api/email`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email: address }),
      });
      assert.deepEqual(
        [byApi.status, JSON.parse(await byApi.text()).error.reason],
        [400, 'account.email_domain'],
      );
    }
    const refused = await use(link);
    assert.match(
      refused.body,
      /this provider can’t be used here/,
      'the lists as they are when it would count',
    );
    assert.deepEqual((await stored()).other_emails, []);
    const good = `good-${addresses}@mail.example.net`;
    await press(browser, await open(browser, user, EMAIL), EMAIL, { email: good });
    assert.match((await use(await mailbox.linkTo(good))).body, /Address added/);
  } finally {
    await change(app, { signup_allowed_email_domains: '', signup_blocked_email_domains: '' });
  }
  assert.match((await use(link)).body, /Address added/, 'nothing was used up');
});

test('addresses: administrators see and remove them; their change of `email` keeps the rest', async () => {
  const [first, second] = [fresh(), fresh()];
  await add(first);
  await add(second);
  const added = await app.admin('PATCH', `/users/${user.id}`, { other_emails: [first, second, fresh()] });
  assert.equal(added.status, 400);
  assert.match(added.body.error?.fields?.other_emails ?? '', /owners add/);
  await app.admin('PATCH', `/users/${user.id}`, { email: first });
  assert.deepEqual(
    [(await stored()).email, (await stored()).is_email_verified, (await stored()).other_emails],
    [first, true, [second]],
    'one that was verified stays so; the one before is gone',
  );
  assert.match((await open(new Agent(app), { username: user.email }, EMAIL)).body, SIGNED_OUT);
  await app.admin('PATCH', `/users/${user.id}`, { other_emails: [] });
  assert.deepEqual((await stored()).other_emails, []);
});

test('addresses: the account API has them, and asks for a fresh sign-in', async () => {
  const to = fresh();
  await add(to);
  const call = async (token: string, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return fetch(`${app.url}/account/api/${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
  };
  const token = await accessTokenOf(app, client, user);
  const { data } = JSON.parse(await (await call(token, 'GET', 'email')).text());
  assert.deepEqual([data.email, data.other_emails, data.pending], [user.email, [to], []]);
  assert.equal((await call(token, 'POST', 'email/remove', { email: user.email })).status, 404);
  assert.equal((await call(token, 'POST', 'email/make-primary', { email: to })).status, 204);
  assert.deepEqual([(await stored()).email, (await stored()).other_emails], [to, [user.email]]);
  assert.equal((await call(token, 'GET', 'email')).status, 401, 'its own tokens end with every session');
  const next = await accessTokenOf(app, client, user);
  app.advance(STALE_MS);
  const stale = await call(next, 'POST', 'email/remove', { email: user.email });
  assert.ok([401, 403].includes(stale.status));
  assert.deepEqual((await stored()).other_emails, [user.email]);
});

test('addresses: import takes them; the data download and the deletion cover them', async () => {
  const [email, other] = [fresh(), fresh()];
  const person = { username: `imported-${addresses}`, email, is_email_verified: true };
  const response = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: JSON.stringify({ ...person, other_emails: [other, email] }),
  });
  const [id] = /(?<="id":")[^"]+/.exec(await response.text()) ?? [''];
  assert.deepEqual((await stored({ id })).other_emails, [other]);
  const to = fresh();
  await add(to);
  const token = await accessTokenOf(app, client, user);
  const headers = { authorization: `Bearer ${token}` };
  const exported = await (await fetch(`${app.url}/account/api/export`, { headers })).text();
  assert.match(exported, new RegExp(`"other_emails":\\["${to}"\\]`));
  assert.match(exported, /"subject":"Confirm your new e-mail address/);
  await app.admin('DELETE', `/users/${user.id}`);
  const next = await newPerson(app);
  await add(to, new Agent(app), next);
  assert.deepEqual((await stored(next)).other_emails, [to]);
});
