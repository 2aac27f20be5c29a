// /account/profile and PATCH /account/api/profile: names, language, time zone, and the username where it may change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, type Page, redeem } from '../support/agent.ts';
import type { TestApp } from '../support/app.ts';
import { eachWithPerson, eventsOf, newPerson, open, press, STALE_MS } from './account-support.ts';
import { change, type User } from './support.ts';

const PROFILE = '/account/profile';

let app: TestApp;
let client: { readonly id: string; readonly secret: string };
let user: User & { email: string };
let browser: Agent;

eachWithPerson(
  (given) => {
    ({ app, client, user, browser } = given);
  },
  { settings: { allow_username_change: false } },
);

const save = async (fields: Record<string, string>, page?: Page): Promise<Page> =>
  press(browser, page ?? (await open(browser, user, PROFILE)), PROFILE, fields);

const stored = async () => (await app.admin('GET', `/users/${user.id}`)).body.data;

async function api(method: string, path: string, body?: unknown, token?: string) {
  const { body: tokens } = await redeem(app, client, await new Agent(app).signIn(client.id, user));
  const response = await fetch(`${app.url}/account/api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token ?? tokens.access_token}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

test('own profile: names, language and time zone are saved, recorded and shown in the header', async () => {
  const page = await save({
    given_name: ' Grace ',
    family_name: 'Hopper',
    locale: 'de',
    zoneinfo: 'Europe/Zurich',
  });
  assert.equal(page.status, 200);
  assert.match(page.body, /<html lang="de"/, 'in the language that was chosen');
  assert.match(page.body, /Profil gespeichert/);
  assert.match(page.body, /class="who"><bdi>Grace Hopper</);
  const { given_name, family_name, locale, zoneinfo, name } = await stored();
  assert.deepEqual(
    [given_name, family_name, locale, zoneinfo, name],
    ['Grace', 'Hopper', 'de', 'Europe/Zurich', null],
  );
  const [event] = await eventsOf(app, 'profile.changed', user);
  assert.deepEqual(event?.details, { fields: ['given_name', 'family_name', 'locale', 'zoneinfo'] });
  assert.equal(event?.actor_id, user.id);
  assert.match((await open(browser, user)).body, /Profil geändert/);
});

test('own profile: other members of a form change nothing', async () => {
  await save({ given_name: 'Grace', role: 'admin', email: 'x@example.com', picture: 'https://x.example' });
  const { role, email, picture, given_name: name } = await stored();
  assert.deepEqual([role, email, picture, name], ['user', user.email, null, 'Grace']);
});

test('own profile: what was typed stays beside what is wrong with it', async () => {
  const page = await save({ given_name: 'Grace', locale: 'no such tongue', zoneinfo: 'Moon/Base' });
  assert.equal(page.status, 400);
  assert.match(page.body, /value="Grace"/);
  assert.match(page.body, /href="#locale"/);
  assert.match(page.body, /href="#zoneinfo"/);
  assert.equal((await stored()).given_name, null);
});

test('own profile: a language and a time zone of the API stay in the form', async () => {
  await app.admin('PATCH', `/users/${user.id}`, { locale: 'de_CH', zoneinfo: 'Asia/Calcutta' });
  const page = await open(browser, user, PROFILE);
  assert.match(page.body, /<option value="de_CH" selected>/);
  assert.match(page.body, /<option[^>]* selected>Asia\/Calcutta</);
});

test('attack: stored XSS by every field of the own profile', async () => {
  const payload = '"><script>alert(1)</script>';
  await change(app, { allow_username_change: true });
  const fields = ['given_name', 'family_name', 'name', 'nickname'];
  const page = await save(Object.fromEntries(fields.map((name) => [name, payload])));
  assert.equal(page.status, 200);
  for (const path of [
    '/account',
    PROFILE,
    '/account/password',
    '/account/second-factor',
    '/account/passkeys',
  ])
    assert.doesNotMatch((await open(browser, user, path)).body, /<script>alert/, path);
  for (const name of ['locale', 'zoneinfo', 'username']) {
    const refused = await save({ [name]: payload });
    assert.equal(refused.status, 400, name);
    assert.doesNotMatch(refused.body, /<script>alert/, name);
  }
});

test('attack: a name that turns the text around it is refused', async () => {
  assert.equal((await save({ name: 'Grace \u202egnp.exe' })).status, 400);
  assert.equal((await save({ name: `Grace${'x'.repeat(300)}` })).status, 400);
});

test('own username: fixed unless the setting allows it, in the form and in the API', async () => {
  const page = await open(browser, user, PROFILE);
  assert.doesNotMatch(page.body, /name="username"/);
  assert.equal((await save({ username: 'grace' }, page)).status, 403);
  const { status, body } = await api('PATCH', 'profile', { username: 'grace' });
  assert.deepEqual([status, body.error.reason], [403, 'account.username_fixed']);
  assert.equal((await stored()).username, user.username);
});

test('own username: changed where allowed; no one signs in with the former one', async () => {
  await change(app, { allow_username_change: true });
  const renamed = `${user.username}-new`;
  const page = await save({ username: renamed });
  assert.equal(page.status, 200);
  assert.equal((await stored()).username, renamed);
  const [event] = await eventsOf(app, 'username.changed', user);
  assert.deepEqual(event?.details, { from: user.username, to: renamed });
  const former = await open(new Agent(app), user);
  assert.match(former.body, /name="password"/);
  assert.match((await open(new Agent(app), { username: renamed })).body, /Your account|account/);
});

test('attack: another username by a thief with an old session', async () => {
  await change(app, { allow_username_change: true });
  const page = await open(browser, user, PROFILE);
  app.advance(STALE_MS);
  const refused = await save({ username: 'stolen', given_name: 'Typed' }, page);
  assert.equal(refused.status, 403);
  assert.match(refused.body, /value="Typed"/, 'what was typed stays');
  assert.equal((await stored()).username, user.username);
  assert.doesNotMatch((await open(browser, user, PROFILE)).body, /name="username"/);
});

test('attack: the name of another person, or their e-mail address as a username', async () => {
  await change(app, { allow_username_change: true });
  const victim = await newPerson(app);
  assert.equal((await save({ username: victim.username.toUpperCase() })).status, 400);
  assert.equal((await save({ username: victim.email })).status, 400);
  assert.equal((await stored()).username, user.username);
});

test('attack: listing who exists by asking for their usernames', async () => {
  await change(app, { allow_username_change: true, limit_username_account: 3 });
  const victim = await newPerson(app);
  for (let tries = 0; tries < 3; tries += 1)
    assert.equal((await save({ username: victim.username })).status, 400);
  assert.equal((await save({ username: victim.username })).status, 429);
  await change(app, { limit_username_account: 10 });
});

test('account API: a change of the profile sets, clears and leaves; others are named', async () => {
  assert.equal((await api('PATCH', 'profile', { given_name: 'Grace', locale: 'fr' })).status, 204);
  assert.equal((await api('PATCH', 'profile', { locale: null })).status, 204);
  const { body } = await api('GET', 'profile');
  assert.deepEqual(
    [body.data.given_name, body.data.locale, body.data.can_change_username],
    ['Grace', null, false],
  );
  const refused = await api('PATCH', 'profile', { role: 'admin', locale: 7 });
  assert.equal(refused.status, 400);
  assert.deepEqual(Object.keys(refused.body.error.fields).sort(), ['locale', 'role']);
  assert.equal((await api('PATCH', 'profile', [])).status, 400);
  assert.equal((await api('PATCH', 'profile', { zoneinfo: 'Moon/Base' })).status, 400);
});
