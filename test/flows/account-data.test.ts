// /account/data and GET /account/api/export: everything about the person, no secret, nothing about others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Agent, hiddenFields, redeem } from '../support/agent.ts';
import type { TestApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { accessTokenOf, eachWithPerson, eventsOf, newPerson, open, STALE_MS } from './account-support.ts';
import type { User } from './support.ts';

const DATA = '/account/data';

let app: TestApp;
let client: { readonly id: string; readonly secret: string };
let user: User & { email: string };
let browser: Agent;

eachWithPerson(
  (given) => {
    ({ app, client, user, browser } = given);
  },
  {
    fields: { given_name: 'Grace', nickname: '</dd><script>alert(1)</script>' },
  },
);

async function download(format: 'json' | 'html') {
  const page = await open(browser, user, DATA);
  const { csrf = '' } = hiddenFields(page.body);
  return browser.post(DATA, { csrf, id: format });
}

test('own data: JSON has the account, sessions, applications, mails and activity', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  await redeem(app, client, await browser.signIn(client.id, user, { scope: 'openid offline_access' }));
  const { status, body, headers } = await download('json');
  assert.equal(status, 200);
  assert.equal(headers.get('content-disposition'), 'attachment; filename="my-data.json"');
  assert.equal(headers.get('cache-control'), 'no-store');
  const data = JSON.parse(body);
  assert.equal(data.account.email, user.email);
  assert.equal(data.account.has_password, true);
  assert.equal(data.sessions.length, 1);
  assert.equal(data.applications[0].application, client.id);
  assert.ok(data.activity.some(({ event }: { event: string }) => event === 'signin.success'));
  const [event] = await eventsOf(app, 'user.data_exported', user);
  assert.deepEqual(event?.details, { format: 'json' });
  await mailbox.deliver();
  assert.match(mailbox.received.at(-1)?.mail.subject ?? '', /was downloaded/);
  assert.equal(JSON.parse((await download('json')).body).mails.length, 1);
});

test('own data: no hash, digest, sealed value or token is in it', async () => {
  const { body: tokens } = await redeem(app, client, await browser.signIn(client.id, user));
  const { body } = await download('json');
  for (const secret of ['$argon2', 'passwordHash', 'sealed', 'digest', String(tokens.access_token)])
    assert.ok(!body.includes(secret), secret);
  const cookies = browser.cookiesFor('/account').split('; ');
  // What it remembers is a word without authority (interactions/preference-cookie.ts).
  const secrets = cookies.filter((cookie) => !cookie.startsWith('latchkey_method='));
  for (const [name, value = ''] of secrets.map((cookie) => cookie.split('=')))
    assert.ok(value.length < 8 || !body.includes(value), name);
});

test('own data: of an administrator what was done and when, not who and from where', async () => {
  const chief = await newPerson(app, { role: 'admin' });
  await app.admin('PATCH', `/users/${user.id}`, { family_name: 'Hopper' });
  const { activity } = JSON.parse((await download('json')).body);
  const change = activity.find(({ event }: { event: string }) => event === 'user.updated');
  assert.ok(change);
  assert.deepEqual(['ip_address' in change, 'details' in change], [false, false]);
  assert.ok(!JSON.stringify(activity).includes(chief.id));
});

test('attack: stored XSS in the readable copy of the own data', async () => {
  const { status, body, headers } = await download('html');
  assert.equal(status, 200);
  assert.equal(headers.get('content-disposition'), 'attachment; filename="my-data.html"');
  assert.doesNotMatch(body, /<script>/);
  assert.match(body, /&lt;script&gt;/);
  assert.doesNotMatch(body, /(?:src|href)=/, 'loads nothing');
});

test('attack: own data downloaded by a thief with an old session or an old token', async () => {
  const page = await open(browser, user, DATA);
  const { csrf = '' } = hiddenFields(page.body);
  const token = await accessTokenOf(app, client, user);
  app.advance(STALE_MS);
  const refused = await browser.post(DATA, { csrf, id: 'json' });
  assert.equal(refused.status, 303);
  assert.equal(refused.body.includes(user.email), false);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${app.url}/account/api/export`, { headers });
  assert.equal(answer.status, 403);
  assert.equal((await eventsOf(app, 'user.data_exported', user)).length, 0);
});

test('attack: own data by a link of another site', async () => {
  await open(browser, user, DATA);
  assert.equal((await browser.post(DATA, { id: 'json' })).status, 403);
  assert.equal((await browser.post(DATA, { csrf: 'made-up', id: 'json' })).status, 403);
});

test('attack: mails to another person, by an account with their address, unverified', async (t) => {
  const mailbox = await openMailbox(app);
  t.after(() => mailbox.close());
  const email = 'somebody.else@example.com';
  await app.admin('POST', '/invitations', { email });
  await mailbox.deliver();
  assert.match(mailbox.received.at(-1)?.mail.subject ?? '', /invitation/);
  user = { ...(await newPerson(app, { email, is_email_verified: false })), email };
  assert.deepEqual(JSON.parse((await download('json')).body).mails, []);
});

test('account API: own data', async () => {
  const headers = { authorization: `Bearer ${await accessTokenOf(app, client, user)}` };
  const answer = await fetch(`${app.url}/account/api/export`, { headers });
  assert.equal(answer.status, 200);
  assert.equal(JSON.parse(await answer.text()).data.account.id, user.id);
});
