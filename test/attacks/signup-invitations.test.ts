// Attacks on invitations: used again, expired, withdrawn, as another kind of link, read from the database (authentik CVE-2025-64708).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allCollections } from '../../src/store/all-collections.ts';
import { invitations } from '../../src/store/signups.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Mailbox, openMailbox, tokenIn } from '../support/mailbox.ts';
import { answersOf, userNamed } from '../support/signup.ts';

let app: TestApp;
let mailbox: Mailbox;
before(async () => {
  app = await startApp({ store: 'sqlite' });
  mailbox = await openMailbox(app);
});
after(async () => {
  await app.stop();
  await mailbox.close();
});

async function invite(name: string, more: Record<string, unknown> = {}) {
  const email = `${name}@example.com`;
  const { body } = await app.admin('POST', '/invitations', { email, ...more });
  return { id: String(body.data.id), handed: String(body.data.url), mailed: await mailbox.linkTo(email) };
}

const answers = (name: string): Record<string, string> => {
  const { email: _, ...rest } = answersOf(name);
  return rest;
};

test('attack: an invitation used again by either link or the form still open', async () => {
  const { handed, mailed } = await invite('twice');
  assert.notEqual(tokenIn(handed), tokenIn(mailed));
  const [first, second] = [new Agent(app), new Agent(app)];
  const [one, other] = [await first.get(mailed), await second.get(handed)];
  assert.equal((await first.submit(one, answers('twice'))).status, 200);
  assert.equal((await second.submit(other, answers('twice-more'))).status, 410);
  assert.equal((await first.submit(one, answers('twice-more'))).status, 410);
  for (const url of [handed, mailed]) assert.equal((await first.get(url)).status, 410);
  assert.equal(await userNamed(app, 'twice-more'), undefined);
});

test('attack: an invitation expired by a second, also from a form open before', async () => {
  const { handed, mailed } = await invite('late', { expires_in: 60 });
  const agent = new Agent(app);
  const form = await agent.get(mailed);
  assert.equal(form.status, 200);
  app.advance(60_000);
  for (const url of [handed, mailed]) assert.equal((await agent.get(url)).status, 410);
  assert.equal((await agent.submit(form, answers('late'))).status, 410);
  assert.equal(await userNamed(app, 'late'), undefined);
});

test('attack: an invitation withdrawn by an administrator, also from a form open before', async () => {
  const { id, handed, mailed } = await invite('withdrawn');
  const agent = new Agent(app);
  const form = await agent.get(mailed);
  assert.equal((await app.admin('DELETE', `/invitations/${id}`)).status, 204);
  for (const url of [handed, mailed]) assert.equal((await agent.get(url)).status, 410);
  assert.equal((await agent.submit(form, answers('withdrawn'))).status, 410);
  assert.equal(await userNamed(app, 'withdrawn'), undefined);
});

test('attack: an invitation as another kind of link, its id as token, and the reverse', async () => {
  const { id, mailed } = await invite('kinds');
  const token = tokenIn(mailed);
  const agent = new Agent(app);
  for (const path of ['reset-password', 'verify-email', 'magic-link']) {
    assert.equal((await agent.get(`/oauth2/${path}?token=${token}`)).status, 410);
  }
  assert.equal((await agent.get(`/oauth2/signup?token=${id}`)).status, 410);
  await app.createUser('resetter', { email: 'resetter@example.com', is_email_verified: true });
  const ask = await agent.get('/oauth2/forgot-password');
  await agent.submit(ask, { email: 'resetter@example.com' });
  const reset = await mailbox.linkTo('resetter@example.com');
  assert.equal((await agent.get(`/oauth2/signup?token=${tokenIn(reset)}`)).status, 410);
});

test('attack: an invitation for an address meanwhile taken by another user', async () => {
  const { mailed } = await invite('meanwhile');
  const owner = await app.createUser('owner', { email: 'meanwhile@example.com' });
  const agent = new Agent(app);
  const refused = await agent.submit(await agent.get(mailed), answers('meanwhile'));
  assert.equal(refused.status, 400);
  assert.match(refused.body, /already in use/);
  assert.equal(await userNamed(app, 'meanwhile'), undefined);
  const { body } = await app.admin('GET', `/users/${owner.id}`);
  assert.deepEqual([body.data.username, body.data.is_email_verified], ['owner', false]);
});

test('attack: an invitation form of one browser sent by another, or by another site', async () => {
  const { mailed } = await invite('foreign');
  const [mine, theirs] = [new Agent(app), new Agent(app)];
  const hidden = hiddenFields((await mine.get(mailed)).body);
  await theirs.get('/oauth2/forgot-password');
  const fields = { ...hidden, ...answers('foreign') };
  assert.equal((await theirs.post('/oauth2/signup', fields)).status, 403);
  const crossSite = {
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  };
  assert.equal((await mine.post('/oauth2/signup', fields, crossSite)).status, 403);
  assert.equal(await userNamed(app, 'foreign'), undefined);
});

test('attack: invitations read from the database; digests and sealed mails only', async () => {
  const { handed, mailed, id } = await invite('stolen');
  const stored = await app.store.collection(invitations).find(id);
  for (const link of [handed, mailed]) assert.ok(!JSON.stringify(stored).includes(tokenIn(link)));
  const agent = new Agent(app);
  for (const digest of [stored?.value.mailedDigest, stored?.value.handedDigest]) {
    assert.equal((await agent.get(`/oauth2/signup?token=${digest}`)).status, 410);
  }
  assert.ok(allCollections.some(({ name }) => name === 'invitations'));
});
