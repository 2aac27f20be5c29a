// Attack: a stranger spends what may be mailed to a person, so that the person's own mails are not sent: a reset, a sign-in
// link, a code. They ask from many networks, sign up with the address, and add it to their own account.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newPerson, open, press } from '../flows/account-support.ts';
import { change } from '../flows/support.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox, tokenIn } from '../support/mailbox.ts';
import { isAccepted, openSignIn } from './sign-in-form.ts';

const STRANGERS = 8;

let app: TestApp;
let mailbox: Mailbox;
let client: { id: string; secret: string };

before(async () => {
  app = await startApp({ store: 'sqlite', limits: 'shipped', env: { TRUST_PROXY: '1' } });
  mailbox = await openMailbox(app);
  client = await app.register();
  await change(app, { allow_magic_link: true, allow_self_signup: true });
});
after(async () => {
  await app.stop();
  await mailbox.close();
});

let networks = 0;
/** Of a network that nobody has used, in a /48 of its own. */
function elsewhere(): RequestInit {
  networks += 1;
  return { headers: { 'x-forwarded-for': `2001:db8:${networks.toString(16)}::1` } };
}

async function submit(agent: Agent, page: Page, fields: Record<string, string>, from: RequestInit) {
  const { pathname } = new URL(page.url);
  return agent.post(pathname, { ...hiddenFields(page.body), ...fields }, from);
}

async function askForReset(email: string, agent = new Agent(app), from = elsewhere()): Promise<Page> {
  return submit(agent, await agent.get('/oauth2/forgot-password', from), { email }, from);
}

/** @returns the browser that asked, in a sign-in of its own */
async function askForLink(email: string, from = elsewhere()): Promise<Agent> {
  const agent = new Agent(app);
  const { interaction = '' } = (await openSignIn(app, client.id, {}, agent)).hidden;
  const page = await agent.get(`/oauth2/forgot-password?interaction=${interaction}&action=magic_link`, from);
  await submit(agent, page, { email, action: 'magic_link' }, from);
  return agent;
}

const newOwner = () => newPerson(app);

/** Subjects of what this address got. */
async function mailsTo(email: string): Promise<string[]> {
  await mailbox.deliver();
  return mailbox.received.filter(({ to }) => to.includes(email)).map(({ mail }) => mail.subject ?? '');
}
const resetsOf = async (email: string) =>
  (await mailsTo(email)).filter((one) => /password/i.test(one)).length;

test('attack: a reset is asked for again and again; one mail, whose link stays valid', async () => {
  const owner = await newOwner();
  for (let time = 0; time < STRANGERS; time += 1) await askForReset(owner.email);
  assert.equal(await resetsOf(owner.email), 1);
  app.advance(20 * 60_000);
  await askForReset(owner.email);
  assert.equal(await resetsOf(owner.email), 1, 'the first is still valid for ten minutes');
  // Each leaves a trace, for whoever is asked why nothing came.
  const { body } = await app.admin('GET', `/audit?event=password.reset_withheld&target_id=${owner.id}`);
  assert.equal(body.data.total, STRANGERS);
  // The owner has one that works, whoever asked for it.
  const agent = new Agent(app);
  const page = await agent.get(`/oauth2/reset-password?token=${tokenIn(await mailbox.linkTo(owner.email))}`);
  const password = 'seven tall lanterns';
  assert.equal((await agent.submit(page, { password, confirm_password: password })).status, 200);
  assert.ok(isAccepted(await (await openSignIn(app, client.id)).attempt(owner.username, password)));
  // That one is used: another is due.
  await askForReset(owner.email);
  assert.equal(await resetsOf(owner.email), 3, 'with the notice of the change');
});

test('attack: mails of every kind are spent by strangers; the owner’s reset arrives', async () => {
  const owner = await newOwner();
  const thief = await newOwner();
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: thief.username, password: PASSWORD });
  for (let time = 0; time < STRANGERS; time += 1) {
    await askForLink(owner.email);
    assert.equal((await signUp(`other${time}`, owner.email, elsewhere())).status, 303);
  }
  const page = await open(browser, thief, '/account/email');
  const added = await press(browser, page, '/account/email', { email: owner.email });
  assert.equal(added.status, 200);
  assert.ok((await mailsTo(owner.email)).length > 2 * STRANGERS, 'all that was sent');
  await askForReset(owner.email);
  assert.equal(await resetsOf(owner.email), 1);
});

test('attack: a mailbox is filled from very many networks; it has an end, the reset arrives', async () => {
  const owner = await newOwner();
  await change(app, { limit_mail_requester_ip: 1 });
  try {
    for (let time = 0; time < 30; time += 1) await askForLink(owner.email);
    const sent = (await mailsTo(owner.email)).filter((one) => !/password/i.test(one)).length;
    // Twenty times a network's, and what this process adds up before it tells the others.
    assert.ok(sent >= 20 && sent <= 22, `${sent} mails`);
    await askForReset(owner.email);
    assert.equal(await resetsOf(owner.email), 1);
  } finally {
    await change(app, { limit_mail_requester_ip: 5 });
  }
});

test('attack: sign-in links asked for from many networks; the owner’s arrives in their browser', async () => {
  const owner = await newOwner();
  for (let time = 0; time < STRANGERS; time += 1) await askForLink(owner.email);
  const agent = await askForLink(owner.email);
  const links = (await mailsTo(owner.email)).length;
  assert.equal(links, STRANGERS + 1);
  const opened = await agent.get(`/oauth2/magic-link?token=${tokenIn(await mailbox.linkTo(owner.email))}`);
  assert.ok((await agent.submit(opened, {})).location?.includes('code='), 'signed in');
  // One network fills no mailbox.
  const other = await newOwner();
  const from = elsewhere();
  for (let time = 0; time < STRANGERS; time += 1) await askForLink(other.email, from);
  assert.equal((await mailsTo(other.email)).length, 5);
});

test('attack: a stranger’s reset is valid; the owner in a known browser gets one at once', async () => {
  const owner = await newOwner();
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: owner.username, password: PASSWORD });
  for (let time = 0; time < STRANGERS; time += 1) await askForReset(owner.email);
  assert.equal(await resetsOf(owner.email), 1);
  const known = await askForReset(owner.email, browser);
  assert.equal(await resetsOf(owner.email), 2);
  // Nothing on the page tells that this browser is known, or that the account exists.
  const strange = await askForReset('nobody@example.com');
  assert.equal(known.status, strange.status);
  // Both links work.
  for (const { mail } of mailbox.received.filter(({ to }) => to.includes(owner.email))) {
    const token = tokenIn(/https?:\S+token=\S+/.exec(mail.text ?? '')?.[0] ?? '');
    assert.equal((await new Agent(app).get(`/oauth2/reset-password?token=${token}`)).status, 200);
  }
});

test('attack: another account’s known browser asks for a reset; it counts as unknown', async () => {
  const [owner, thief] = [await newOwner(), await newOwner()];
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: thief.username, password: PASSWORD });
  for (let time = 0; time < 4; time += 1) await askForReset(owner.email, browser);
  assert.equal(await resetsOf(owner.email), 1);
});

/** The page that asks for the code of a sign-up with this address. */
async function signUp(username: string, email: string, from: RequestInit) {
  const agent = new Agent(app);
  const form = await openSignIn(app, client.id, {}, agent);
  const page = await agent.get(
    `/oauth2/signup?interaction=${form.hidden.interaction}&client_id=${client.id}`,
    from,
  );
  const fields = { username, email, password: PASSWORD, confirm_password: PASSWORD };
  const answer = await submit(agent, page, fields, from);
  const enter = (code: string) =>
    agent.post('/oauth2/signup/verify', { ...hiddenFields(page.body), code }, from);
  return { status: answer.status, enter };
}

test('attack: wrong sign-up codes for another’s address keep its owner from signing up', async () => {
  const email = 'future-owner@example.com';
  const thief = elsewhere();
  const statuses: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { status, enter } = await signUp(`thief-${round}`, email, thief);
    assert.equal(status, 303);
    await mailbox.deliver();
    for (let n = 0; n < 5; n += 1) statuses.push((await enter('000000')).status);
  }
  assert.deepEqual(statuses, [...Array(20).fill(401), ...Array(5).fill(429)]);
  assert.equal((await signUp('thief-6', email, thief)).status, 429, 'nor are more mails sent for them');
  const owner = await signUp('future-owner', email, elsewhere());
  await mailbox.deliver();
  const mail = mailbox.received.findLast(({ to }) => to.includes(email));
  const code = /\b\d{6}\b/.exec(mail?.mail.text ?? '')?.[0] ?? '';
  assert.equal((await owner.enter(code)).status, 303);
});

test('attack: wrong sign-up codes from very many networks; the owner’s right one counts', async () => {
  await change(app, { limit_signup_codes: 20 });
  try {
    const email = 'wanted@example.com';
    const codeOf = async () => {
      await mailbox.deliver();
      const mail = mailbox.received.findLast(({ to }) => to.includes(email));
      return /\b\d{6}\b/.exec(mail?.mail.text ?? '')?.[0] ?? '';
    };
    const wrong = async (enter: (code: string) => Promise<Page>, code: string, times: number) => {
      const other = code === '111111' ? '222222' : '111111';
      const statuses: number[] = [];
      for (let n = 0; n < times; n += 1) statuses.push((await enter(other)).status);
      return statuses;
    };
    for (let round = 0; round < 4; round += 1) {
      const { enter } = await signUp(`crowd-${round}`, email, elsewhere());
      assert.deepEqual(await wrong(enter, await codeOf(), 5), Array(5).fill(401));
    }
    // From now on one guess for each mail that it takes.
    const more = await signUp('crowd-more', email, elsewhere());
    const next = await codeOf();
    assert.deepEqual(await wrong(more.enter, next, 3), [401, 429, 429]);
    assert.equal((await more.enter(next)).status, 429, 'nor the right one after a wrong one');
    const racing = await signUp('crowd-racing', email, elsewhere());
    const raced = await codeOf();
    const pages = await Promise.all(Array.from({ length: 8 }, () => wrong(racing.enter, raced, 1)));
    assert.deepEqual(pages.flat().toSorted(), [401, ...Array(7).fill(429)]);

    const owner = await signUp('wanted-owner', email, elsewhere());
    assert.equal((await owner.enter(await codeOf())).status, 303);
  } finally {
    await change(app, { limit_signup_codes: 200 });
  }
});

test('attack: wrong sign-up codes tell by the limit whose address has an account', async () => {
  const owner = await newOwner();
  const all: number[][] = [];
  for (const email of [owner.email, 'nobody-yet@example.com']) {
    const from = elsewhere();
    const statuses: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const { enter } = await signUp(`prober-${networks}-${round}`, email, from);
      await mailbox.deliver();
      for (let n = 0; n < 5; n += 1) statuses.push((await enter('000000')).status);
    }
    all.push(statuses);
  }
  assert.deepEqual(all[0], all[1]);
  assert.ok(all[0]?.includes(429));
});

test('attack: strangers spend the limits of a network; a mailed link of it still works', async () => {
  const owner = await newOwner();
  const from = elsewhere();
  await askForReset(owner.email, new Agent(app), from);
  const link = await mailbox.linkTo(owner.email);
  const stranger = new Agent(app);
  const page = await stranger.get('/oauth2/forgot-password', from);
  let last = 0;
  for (let time = 0; time < 25; time += 1)
    last = (await submit(stranger, page, { email: `nobody-${time}@example.com` }, from)).status;
  assert.equal(last, 429, 'requests for mails are spent');
  const { hidden } = await openSignIn(app, client.id, {}, stranger);
  for (let time = 0; time < 120; time += 1)
    last = (await stranger.post('/oauth2/mfa', { ...hidden, method: 'totp', code: '000000' }, from)).status;
  assert.equal(last, 429, 'wrong codes are spent');
  const agent = new Agent(app);
  const reset = await agent.get(`/oauth2/reset-password?token=${tokenIn(link)}`, from);
  const password = 'seven tall lanterns';
  const done = await submit(agent, reset, { password, confirm_password: password }, from);
  assert.equal(done.status, 303, done.body);
});
