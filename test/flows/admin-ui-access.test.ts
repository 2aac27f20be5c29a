// Access to the Admin UI and what a form there needs: attack by attack, over HTTP, on every declared page.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminPages } from '../../src/admin/console/page-list.ts';
import * as model from '../../src/store/collections.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let client: { id: string; secret: string };
let admin: Agent;
let victim: { id: string };

before(async () => {
  app = await startApp();
  client = await app.register();
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('second-admin', { role: 'admin' });
  await app.createUser('somebody');
  victim = await app.createUser('victim', { email: 'victim@example.com' });
  admin = await enter('root-admin');
});
after(() => app.stop());

/** A browser whose person went the whole way into /admin. */
async function enter(username: string): Promise<Agent> {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  const done = await agent.submit(page, { username, password: PASSWORD });
  equal(done.status, username === 'somebody' ? 403 : 200);
  return agent;
}

const addressOf = (path: string): string =>
  `/admin${path
    .replace('/applications/:id', `/applications/${client.id}`)
    .replace('/sessions/:id', '/sessions/none')
    .replace('/users/:id', `/users/${victim.id}`)
    .replace(':group', 'mail')
    .replace(/:\w+/g, 'none')}`;

const addresses = (wanted: 'GET' | 'POST'): string[] =>
  adminPages.filter(({ method }) => method === wanted).map(({ path }) => addressOf(path));

const isSentToSignIn = ({ status, location }: Page): boolean =>
  status === 303 && location?.startsWith(`${app.url}/oauth2/authorize?client_id=latchkey-admin`) === true;

/** Everything that the forms could change. */
async function world(): Promise<unknown> {
  const read = async (path: string): Promise<unknown> => (await app.admin('GET', path)).body.data;
  return [
    await read(`/users/${victim.id}`),
    await read(`/clients/${client.id}`),
    (await app.admin('GET', '/users')).body.data.total,
    (await app.admin('GET', '/clients')).body.data.total,
    await read('/settings'),
    (await app.admin('GET', '/groups')).body.data.total,
    (await app.admin('GET', '/api-keys')).body.data.total,
    (await app.admin('GET', '/mails')).body.data.total,
  ];
}

const tokenOf = async (agent: Agent): Promise<string> =>
  hiddenFields((await agent.get('/admin/users/new')).body).csrf ?? '';

/** What would be done if the form were taken. */
const wanted = {
  username: 'made-by-attack',
  password: PASSWORD,
  confirm: 'victim',
  name: 'made-by-attack',
  type: 'machine',
  role: 'admin',
  days: '1',
  who: 'groups',
  product_name: 'Owned',
  'was.mail_from': '',
  mail_from: 'owned@example.com',
  to: 'owned@example.com',
};

test('without a session: every page leads to the sign-in, no form has an effect', async () => {
  const before = await world();
  for (const path of addresses('GET')) {
    const answer = await new Agent(app).get(path);
    // A script asks for it again and again: no sign-in begins each time.
    if (/\/(?:audit\/live|branding\/sample)$/.test(path)) equal(answer.status, 401, path);
    else ok(isSentToSignIn(answer), `${path}: ${answer.status}`);
    equal(answer.headers.get('cache-control'), 'no-store');
  }
  for (const path of addresses('POST')) {
    const answer = await new Agent(app).post(path, { ...wanted, csrf: await tokenOf(admin) });
    ok(isSentToSignIn(answer), `${path}: ${answer.status}`);
  }
  deepEqual(await world(), before);
});

test('user without the role: refused on every page and form', async () => {
  const before = await world();
  const agent = await enter('somebody');
  for (const { method, path } of adminPages) {
    const address = addressOf(path);
    const answer = method === 'GET' ? await agent.get(address) : await agent.post(address, wanted);
    equal(answer.status, 403, address);
    match(answer.body, /administrator/);
    ok(!answer.body.includes('name="csrf"'));
  }
  deepEqual(await world(), before);
});

test('attack: forms without token, with a forged or foreign one, or from another site', async () => {
  const before = await world();
  const other = await enter('second-admin');
  const [own, foreign] = [await tokenOf(admin), await tokenOf(other)];
  notEqual(own, foreign);
  for (const path of addresses('POST')) {
    for (const csrf of [undefined, '', 'x', foreign]) {
      const answer = await admin.post(path, { ...wanted, ...(csrf !== undefined && { csrf }) });
      equal(answer.status, 403, `${path} with ${csrf}`);
    }
    const headers = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    equal((await admin.post(path, { ...wanted, csrf: own }, { headers })).status, 403, path);
    const origin = { origin: 'https://evil.example' };
    equal((await admin.post(path, { ...wanted, csrf: own }, { headers: origin })).status, 403, path);
  }
  deepEqual(await world(), before);
});

test('old sign-in: destructive pages and forms ask for authentication again', async () => {
  const agent = await enter('root-admin');
  const csrf = await tokenOf(agent);
  const sensitive = adminPages.filter(({ isSensitive }) => isSensitive === true);
  ok(sensitive.length >= 12);
  app.advance(301_000);
  equal((await agent.get('/admin')).status, 200);
  const before = await world();
  for (const { method, path } of sensitive) {
    const address = addressOf(path);
    const answer =
      method === 'GET' ? await agent.get(address) : await agent.post(address, { ...wanted, csrf });
    ok(isSentToSignIn(answer), `${method} ${address}: ${answer.status}`);
    match(answer.location ?? '', /prompt=login/);
  }
  deepEqual(await world(), before);
});

test('idle session: the sign-in is asked for, and an older one does not suffice', async () => {
  const agent = await enter('root-admin');
  app.advance(899_000);
  equal((await agent.get('/admin/users')).status, 200);
  app.advance(899_000);
  equal((await agent.get('/admin/users')).status, 200);
  app.advance(901_000);
  const answer = await agent.get('/admin/users?role=admin');
  ok(isSentToSignIn(answer));
  match(answer.location ?? '', /max_age=900/);
  await app.admin('PATCH', '/settings', { admin_idle_seconds: 60 });
  const short = await enter('root-admin');
  app.advance(61_000);
  ok(isSentToSignIn(await short.get('/admin/users')));
  await app.admin('PATCH', '/settings', { admin_idle_seconds: 900 });
});

test('attack: stolen or altered Admin UI cookie without its session', async () => {
  const agent = await enter('root-admin');
  const jar = agent.cookiesFor('/admin').split('; ');
  const admission = jar.find((pair) => pair.startsWith('latchkey_admin=')) ?? '';
  ok(admission !== '');
  const thief = new Agent(app);
  thief.plant(admission);
  ok(isSentToSignIn(await thief.get('/admin')));
  // Signed in, but not by way of the administrator's flow.
  const user = new Agent(app);
  await user.signIn(client.id, { username: 'second-admin' });
  user.plant(admission);
  ok(isSentToSignIn(await user.get('/admin/users')));
  const [name = '', value = ''] = admission.split('=');
  const [content = '', proof = ''] = value.split('.');
  const later = Buffer.from(
    Buffer.from(content, 'base64url')
      .toString()
      .replace(/^\[\d+/, '[99999999999999'),
  ).toString('base64url');
  for (const forged of [`${later}.${proof}`, `${content}.`, content, `${content}.${proof}.x`, '.', 'a.b']) {
    agent.plant(`${name}=${forged}`);
    const answer = await agent.get('/admin/users');
    ok(isSentToSignIn(answer), `${forged}: ${answer.status}`);
  }
});

test('session ended, administrator demoted or deactivated: out at the next request', async () => {
  const { id } = await app.createUser('short-lived', { role: 'admin' });
  const ended = await enter('short-lived');
  equal((await app.admin('POST', `/users/${id}/revoke-sessions`)).status, 200);
  ok(isSentToSignIn(await ended.get('/admin')));

  const demoted = await enter('short-lived');
  equal((await app.admin('PATCH', `/users/${id}`, { role: 'user' })).status, 200);
  ok([303, 403].includes((await demoted.get('/admin/users')).status));

  await app.admin('PATCH', `/users/${id}`, { role: 'admin' });
  const inactive = await enter('short-lived');
  equal((await app.admin('POST', `/users/${id}/deactivate`)).status, 200);
  ok(isSentToSignIn(await inactive.get('/admin/users')));
});

test('attack: a callback with another browser’s code, another state or issuer, or none', async () => {
  const attacker = new Agent(app);
  const page = await attacker.follow(await attacker.get('/admin'));
  const resumed = await attacker.post('/oauth2/login', {
    ...hiddenFields(page.body),
    username: 'second-admin',
    password: PASSWORD,
  });
  let step = resumed;
  while (step.location !== undefined && !step.location.includes('/admin/callback'))
    step = await attacker.get(step.location);
  const back = step.location ?? '';
  match(back, /[?&]code=/);

  const isAdmitted = async (agent: Agent): Promise<boolean> =>
    (await agent.get('/admin/users')).status === 200;
  // Someone who was sent the attacker's way back has not asked for it.
  const other = new Agent(app);
  await other.get('/admin');
  await other.get(back);
  equal(await isAdmitted(other), false);
  for (const [name, value] of [
    ['state', 'other'],
    ['iss', 'https://evil.example'],
    ['code', ''],
  ] as const) {
    const agent = new Agent(app);
    const begun = await agent.get('/admin');
    const state = new URL(begun.location ?? '').searchParams.get('state') ?? '';
    const url = new URL(back);
    url.searchParams.set('state', state);
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
    const answer = await agent.get(url.href);
    ok(answer.status !== 200, name);
    equal(await isAdmitted(agent), false, name);
  }
  // With a right state but without the verifier of this browser the code is refused: PKCE.
  const thief = new Agent(app);
  const own = new URL((await thief.get('/admin')).location ?? '').searchParams.get('state') ?? '';
  const stolen = new URL(back);
  stolen.searchParams.set('state', own);
  equal((await thief.get(stolen.href)).status, 500);
  equal(await isAdmitted(thief), false);
});

test('Admin UI cookies: HttpOnly, and not sent by other sites', async () => {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  let step = await agent.post('/oauth2/login', {
    ...hiddenFields(page.body),
    username: 'root-admin',
    password: PASSWORD,
  });
  const lines: string[] = [];
  for (; step.location !== undefined; step = await agent.get(step.location))
    lines.push(...step.headers.getSetCookie());
  const admission = lines.find((line) => line.startsWith('latchkey_admin=')) ?? '';
  match(admission, /; samesite=strict/i);
  match(admission, /; httponly/i);
  ok(admission.length < 4096);
  const answer = await new Agent(app).get('/admin', {
    headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  });
  equal(answer.status, 200);
  match(answer.body, /http-equiv="refresh" content="0;url=http:\/\/127\.0\.0\.1:\d+\/admin"/);
});

test('MFA: the password alone never opens /admin to a user with a second factor', async () => {
  const { id } = await app.createUser('with-factor', { role: 'admin' });
  const agent = await enter('with-factor');
  // As if enrolled elsewhere in the meantime.
  const accounts = app.store.collection(model.accounts);
  const record = await accounts.find(id);
  ok(record);
  await accounts.put(id, { ...record.value, passkeys: [{ id: 'x', kind: 'passkey' }] });
  const answer = await agent.get('/admin/users');
  ok(isSentToSignIn(answer));
  match(answer.location ?? '', /acr_values=urn%3Alatchkey%3Aacr%3Amulti-factor/);
});

test('concurrent edits: a stale form is reported, keeps its input, overwrites nothing unasked', async () => {
  const agent = await enter('root-admin');
  const edit = await agent.get(`/admin/users/${victim.id}/edit`);
  await app.admin('PATCH', `/users/${victim.id}`, { name: 'Saved by a colleague' });
  const typed = {
    ...hiddenFields(edit.body),
    username: 'victim',
    name: 'Typed by me',
    email: 'victim@example.com',
  };
  const refused = await agent.post(`/admin/users/${victim.id}/edit`, typed);
  equal(refused.status, 412);
  match(refused.body, /was changed since you opened it/);
  match(refused.body, /value="Typed by me"/);
  match(refused.body, /Saved by a colleague/);
  equal((await app.admin('GET', `/users/${victim.id}`)).body.data.name, 'Saved by a colleague');
  const again = { ...typed, ...hiddenFields(refused.body) };
  equal((await agent.post(`/admin/users/${victim.id}/edit`, again)).status, 303);
  equal((await app.admin('GET', `/users/${victim.id}`)).body.data.name, 'Typed by me');

  const page = await agent.get('/admin/settings/branding');
  const fields = hiddenFields(page.body);
  await app.admin('PATCH', '/settings', { product_name: 'Colleague’s' });
  const clash = await agent.post('/admin/settings/branding', { ...fields, product_name: 'Mine' });
  equal(clash.status, 412);
  match(clash.body, /value="Mine"/);
  match(clash.body, /Stored now: Colleague’s/);
  await app.admin('PATCH', '/settings', { product_name: 'Latchkey' });
});

test('audit: an act by a page is logged as one by the API', async () => {
  const agent = await enter('root-admin');
  const csrf = await tokenOf(agent);
  const { id } = await app.createUser('to-deactivate');
  equal((await agent.post(`/admin/users/${id}/deactivate`, { csrf })).status, 303);
  const { items = [] } = (await app.admin('GET', `/audit?target_id=${id}&event=user.deactivated`)).body.data;
  equal(items.length, 1);
  const root = (await app.admin('GET', '/users?search=root-admin')).body.data.items?.[0];
  equal(items[0]?.actor_id, root?.id);
  equal(items[0]?.actor_kind, 'user');
  deepEqual(items[0]?.details, { before: { is_active: true }, after: { is_active: false } });
});
