// The page of one's own passkeys (decision 0023): who may read and change it.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, hiddenFields, type Page, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { openMailbox } from '../support/mailbox.ts';
import {
  type Answer,
  enrol,
  finish,
  goOn,
  openSignIn,
  originOf,
  send,
  usePasskey,
} from '../support/passkeys.ts';
import { park } from './parked-sign-in.ts';

const PAGE = '/account/passkeys';

let app: TestApp;
let client: { id: string; secret: string };
let agent: Agent;
let key: Authenticator;
let user: { id: string; username: string };
let people = 0;

before(async () => {
  app = await startApp();
  client = await app.register();
});
after(() => app.stop());
beforeEach(async () => {
  people += 1;
  user = await app.createUser(`user-${people}`, {
    email: `user-${people}@example.com`,
    is_email_verified: true,
  });
  agent = new Agent(app);
  key = newKey();
});

const newKey = (): Authenticator => new Authenticator({ origin: originOf(app) });

/** The page, after the sign-in that it leads to. */
async function open(browser: Agent, person: { username: string }): Promise<Page> {
  const first = await browser.follow(await browser.get(PAGE));
  if (!first.body.includes('name="password"')) return first;
  return browser.submit(first, { username: person.username, password: PASSWORD });
}

async function add(browser: Agent, page: Page, authenticator: Authenticator): Promise<Answer> {
  const begun = await send(browser, page, `${PAGE}/register/begin`);
  if (begun.status !== 200) return begun;
  return send(browser, page, `${PAGE}/register/finish`, { response: authenticator.create(begun.body) });
}

/** Signs in anew, by passkey, as the page asks for. */
async function confirm(browser: Agent, page: Page, authenticator: Authenticator): Promise<Page> {
  const [, url = ''] = /href="([^"]*prompt=login[^"]*)"/.exec(page.body) ?? [];
  const login = await browser.get(url.replaceAll('&amp;', '&'));
  return goOn(browser, await usePasskey(browser, login, authenticator));
}

const count = async (): Promise<unknown> =>
  (await app.admin('GET', `/users/${user.id}`)).body.data.passkey_count;

const change = (browser: Agent, page: Page, act: string, fields: Record<string, string>): Promise<Page> =>
  browser.post(`${PAGE}/${act}`, { csrf: hiddenFields(page.body).csrf ?? '', ...fields });

test('own passkeys: add, rename, remove; each is audited and mailed to the owner', async () => {
  const mailbox = await openMailbox(app);
  const page = await open(agent, user);
  assert.match(page.body, /You don’t have any passkeys yet/);
  assert.equal((await add(agent, page, key)).status, 200);
  const stale = await agent.get(PAGE);
  // R098: what the account has now is stronger than the password.
  assert.doesNotMatch(stale.body, /data-passkey/);
  const fresh = await confirm(agent, stale, key);
  assert.match(fresh.body, /Rename or remove/);
  const id = key.keys[0]?.id ?? '';
  const renamed = await change(agent, fresh, 'rename', { id, label: '  My\u202ekey\n<b> ' });
  assert.equal(renamed.status, 303);
  const { body } = await app.admin('GET', `/users/${user.id}/passkeys`);
  assert.equal(body.data.items?.[0]?.label, 'My key <b>');
  assert.equal((await change(agent, fresh, 'rename', { id, label: ' ' })).status, 400);
  const removed = await agent.follow(await change(agent, fresh, 'remove', { id }));
  assert.match(removed.body, /Passkey removed/);
  assert.equal(await count(), 0);
  for (const event of ['passkey.added', 'passkey.renamed', 'passkey.removed', 'passkey.used']) {
    const events = await app.admin('GET', `/audit?event=${event}&target_id=${user.id}`);
    assert.equal(events.body.data.items?.length, 1, event);
  }
  await mailbox.deliver();
  const subjects = mailbox.received.map(({ mail }) => mail.subject ?? '');
  await mailbox.close();
  assert.ok(
    subjects.some((subject) => /passkey was added/.test(subject)),
    subjects.join(),
  );
  assert.ok(
    subjects.some((subject) => /passkey was removed from your/.test(subject)),
    subjects.join(),
  );
});

test('attack: changes with a sign-in of six minutes ago', async () => {
  const page = await open(agent, user);
  app.advance(361_000);
  const answer = await send(agent, page, `${PAGE}/register/begin`);
  assert.equal(answer.status, 403);
  assert.match(answer.body.redirect ?? '', /prompt=login/);
  for (const act of ['rename', 'remove']) {
    const posted = await change(agent, page, act, { id: 'x', label: 'x' });
    assert.match(posted.location ?? '', /prompt=login/);
  }
});

test('attack: a passkey registration begun before the sign-in aged, or in another session', async () => {
  const page = await open(agent, user);
  const begun = await send(agent, page, `${PAGE}/register/begin`);
  const response = key.create(begun.body);
  const other = new Agent(app);
  const theirs = await open(other, user);
  assert.equal((await send(other, theirs, `${PAGE}/register/finish`, { response })).status, 401);
  app.advance(301_000);
  assert.equal((await send(agent, page, `${PAGE}/register/finish`, { response })).status, 403);
  assert.equal(await count(), 0);
});

test('attack: another user’s passkey by its id', async () => {
  const victim = await app.createUser(`victim-${people}`);
  const theirs = newKey();
  await enrol(new Agent(app), client, victim, theirs);
  const id = theirs.keys[0]?.id ?? '';
  const page = await open(agent, user);
  for (const act of ['rename', 'remove'])
    assert.equal((await change(agent, page, act, { id, label: 'mine' })).status, 404, act);
  const { body } = await app.admin('GET', `/users/${victim.id}/passkeys`);
  assert.notEqual(body.data.items?.[0]?.label, 'mine');
  // Nor by an administrator's path for another user.
  assert.equal((await app.admin('DELETE', `/users/${user.id}/passkeys/${id}`)).status, 404);
});

test('attack: forms and ceremonies without token, of another session or site, signed out', async () => {
  const page = await open(agent, user);
  for (const act of ['rename', 'remove'])
    assert.equal((await agent.post(`${PAGE}/${act}`, { csrf: 'x', id: 'x', label: 'x' })).status, 403);
  assert.equal((await send(agent, page, `${PAGE}/register/begin`, { csrf: 'x' })).status, 403);
  const foreign = await agent.post(
    `${PAGE}/remove`,
    { csrf: hiddenFields(page.body).csrf ?? '', id: 'x' },
    { headers: { origin: 'https://evil.example' } },
  );
  assert.equal(foreign.status, 403);
  const out = new Agent(app);
  assert.equal((await send(out, page, `${PAGE}/register/begin`)).status, 400);
  assert.match((await out.post(`${PAGE}/remove`, { id: 'x' })).location ?? '', /oauth2\/authorize/);
});

test('own passkeys: the last sign-in method cannot be removed', async () => {
  const page = await open(agent, user);
  await add(agent, page, key);
  const fresh = await confirm(agent, await agent.get(PAGE), key);
  const admin = await app.createUser(`admin-${people}`, { role: 'admin' });
  await enrol(new Agent(app), client, admin, newKey());
  await app.admin('PATCH', '/settings', { auth_mode: 'passkey_only' });
  try {
    const id = key.keys[0]?.id ?? '';
    assert.match((await agent.get(PAGE)).body, /only way to sign in to your account/);
    assert.equal((await change(agent, fresh, 'remove', { id })).status, 409);
    const second = newKey();
    assert.equal((await add(agent, fresh, second)).status, 200);
    assert.equal((await change(agent, fresh, 'remove', { id })).status, 303);
    assert.equal(await count(), 1);
    // Two at once leave one.
    const third = newKey();
    const again = await agent.get(PAGE);
    assert.equal((await add(agent, again, third)).status, 200);
    const ids = [second, third].map(({ keys }) => keys[0]?.id ?? '');
    const all = await Promise.all(ids.map((one) => change(agent, again, 'remove', { id: one })));
    // The other one is refused, or asked to sign in: the removal has given the browser a new session.
    assert.equal(all.filter(({ location }) => location?.includes('?notice=removed~')).length, 1);
    assert.equal(await count(), 1);
  } finally {
    await app.admin('PATCH', '/settings', { auth_mode: 'password_and_passkey' });
  }
});

test('own passkeys: adding or removing one ends other sessions and sign-ins under way', async () => {
  const thief = new Agent(app);
  const stolen = await redeem(
    app,
    client,
    await thief.signIn(client.id, user, { scope: 'openid offline_access', prompt: 'consent' }),
  );
  const parked = await park(app, client, user);
  const page = await open(agent, user);
  assert.equal((await add(agent, page, key)).status, 200);
  assert.equal((await thief.get(PAGE)).status, 303);
  assert.equal((await refresh(app, client, stolen.body.refresh_token ?? '')).status, 400);
  await parked.isWorthless();
  assert.equal((await agent.get(PAGE)).status, 200, 'whoever did it stays');

  const other = new Agent(app);
  await goOn(other, await usePasskey(other, await openSignIn(other, client), key));
  assert.equal((await other.get(PAGE)).status, 200);
  const fresh = await confirm(agent, await agent.get(PAGE), key);
  const removed = await change(agent, fresh, 'remove', { id: key.keys[0]?.id ?? '' });
  assert.match(removed.location ?? '', /notice=removed/);
  assert.equal((await other.get(PAGE)).status, 303);
});

test('own passkeys: where a second step is required the last factor cannot be removed', async () => {
  const page = await open(agent, user);
  await add(agent, page, key);
  const fresh = await confirm(agent, await agent.get(PAGE), key);
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  try {
    const removed = await change(agent, fresh, 'remove', { id: key.keys[0]?.id ?? '' });
    assert.equal(removed.status, 409);
    assert.equal(await count(), 1);
  } finally {
    await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
  }
});

test('own passkeys: a reset by an administrator removes them and their records', async () => {
  await enrol(agent, client, user, key);
  assert.equal((await app.admin('POST', `/users/${user.id}/reset-mfa`)).body.data.passkey_count, 0);
  const browser = new Agent(app);
  const login = await browser.follow(await browser.get(PAGE));
  const begun = await send(browser, login, '/oauth2/passkey/login/begin');
  const answer = await finish(browser, login, key.get(begun.body));
  assert.equal(answer.body.reason, 'passkey.unknown');
  // Ended with the factor: the page asks to sign in.
  assert.match((await agent.get(PAGE)).location ?? '', /oauth2\/authorize/);
  const next = await agent.submit(await agent.follow(await agent.get(PAGE)), {
    username: user.username,
    password: PASSWORD,
  });
  assert.match(next.body, /data:image\/png;base64/, 'no second factor is enrolled after a reset');
});
