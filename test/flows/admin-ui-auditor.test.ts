// The Admin UI for auditors: everything but mails to read, nothing to change; attack by attack, over HTTP, on every declared
// page. Under a BASE_URL with a path, so that links are checked as well.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adminPages } from '../../src/admin/console/page-list.ts';
import { accounts } from '../../src/store/collections.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let client: { id: string; secret: string };
let victim: { id: string };
let apiKey: { id: string; value: string };
let api: string;
let token: string;

before(async () => {
  app = await startApp({ path: '/id' });
  client = await app.register({ client_name: 'Ledger' });
  await app.createUser('root-admin', { role: 'admin' });
  await app.createUser('ann', { role: 'auditor', email: 'ann@example.com' });
  victim = await app.createUser('victim', { email: 'victim@example.com' });
  await app.admin('POST', '/groups', { name: 'staff', display_name: 'Staff' });
  await app.admin('POST', '/groups/staff/members', { user_id: victim.id });
  await app.admin('PATCH', `/clients/${client.id}`, { allowed_groups: ['staff'] });
  const { data } = (
    await app.admin('POST', '/resources', {
      identifier: 'https://api.example.com',
      name: 'Orders',
      scopes: [{ name: 'orders:read', description: 'See your orders' }],
    })
  ).body;
  api = String(data.id);
  await app.admin('PATCH', '/settings', { smtp_url: 'smtp://relay:smtp-pass-canary@127.0.0.1:1' });
  const { data: key } = (await app.admin('POST', '/api-keys', { name: 'Backup' })).body;
  apiKey = { id: String(key.id), value: String(key.api_key) };
  token = String((await app.admin('POST', '/initial-access-tokens', { label: 'Printer' })).body.data.token);
  await app.admin('POST', `/users/${victim.id}/send-password-reset`);
});
after(() => app.stop());

/** A browser whose person went the whole way to /admin. @returns it, and the page that came */
async function enter(username: string): Promise<{ agent: Agent; page: Page }> {
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get(`${app.url}/admin`));
  return { agent, page: await agent.submit(signIn, { username, password: PASSWORD }) };
}

const addressOf = (path: string): string =>
  `${app.url}/admin${path
    .replace('/applications/:id', `/applications/${client.id}`)
    .replace('/users/:id', `/users/${victim.id}`)
    .replace('/groups/:id', '/groups/staff')
    .replace('/groups/:group_id', '/groups/staff')
    .replace('/apis/:id', `/apis/${api}`)
    .replace(':scope', 'orders:read')
    .replace('/api-keys/:id', `/api-keys/${apiKey.id}`)
    .replace(':user_id', victim.id)
    .replace(':group', 'mail')
    .replace(':guide', 'express')
    .replace(':kind', 'web')
    .replace(/:\w+/g, 'none')}`;

/** A token of the auditor's own browser and session, such as a page would carry if it had a form. */
async function tokenFor(agent: Agent, id: string): Promise<string> {
  const collection = app.store.collection(accounts);
  const set = async (role: 'admin' | 'auditor'): Promise<void> => {
    const stored = await collection.find(id);
    ok(stored);
    await collection.replace(id, stored.version, { ...stored.value, role });
  };
  await set('admin');
  const page = await agent.get(`${app.url}/admin/users/new`);
  await set('auditor');
  equal(page.status, 200);
  return hiddenFields(page.body).csrf ?? '';
}

/** Everything that the forms could change. */
async function world(): Promise<unknown> {
  const paths = [
    `/users/${victim.id}`,
    `/clients/${client.id}`,
    '/settings',
    '/groups',
    '/groups/staff/members',
    '/resources',
    '/api-keys',
    '/initial-access-tokens',
    '/keys',
    '/invitations',
    '/users?sort=id',
    '/clients?sort=id',
    '/mails',
  ];
  const read = async (path: string): Promise<unknown> => {
    const { data } = (await app.admin('GET', path)).body;
    // Looking about is activity, and that is all.
    return JSON.parse(JSON.stringify(data, (name, value) => (name === 'next' ? null : value)));
  };
  return Promise.all(paths.map(read));
}

/** What would be done if the form were taken; complete for every form, so that nothing but the role stops it. */
const wanted = {
  username: 'made-by-auditor',
  password: PASSWORD,
  confirm: 'victim',
  name: 'made-by-auditor',
  display_name: 'Made by auditor',
  type: 'machine',
  role: 'admin',
  product_name: 'Owned',
  'was.mail_from': '',
  mail_from: 'owned@example.com',
  to: 'owned@example.com',
  email: 'owned@example.com',
  label: 'made-by-auditor',
  uses: '1',
  hours: '1',
  days: '1',
  access: 'all',
  who: 'ann',
  group: 'staff',
  mode: 'compromised',
};

const idOf = async (username: string): Promise<string> =>
  String((await app.admin('GET', `/users?username=${username}`)).body.data.items?.[0]?.id);

test('attack: an auditor posts every form with a valid token: 403, nothing changes', async () => {
  const { agent } = await enter('ann');
  const csrf = await tokenFor(agent, await idOf('ann'));
  const before = await world();
  const posts = adminPages.filter(({ method }) => method === 'POST');
  ok(posts.length > 25);
  for (const { path } of posts) {
    const address = addressOf(path);
    const answer = await agent.post(address, { ...wanted, csrf });
    equal(answer.status, 403, `${path}: ${answer.status} ${answer.location ?? ''}`);
    match(answer.body, /Your role is auditor/, path);
  }
  deepEqual(await world(), before);
  // The token was right: without the role in the way it is taken.
  equal(
    (await agent.post(addressOf('/users/new'), { ...wanted, csrf: 'x' })).body.includes('auditor:'),
    false,
  );
  const { items } = (await app.admin('GET', '/audit?event=user.created&limit=5')).body.data;
  ok(!JSON.stringify(items).includes('made-by-auditor'));
});

test('attack: an administrator demoted to auditor sends a form still open', async () => {
  const { id } = await app.createUser('late', { role: 'admin' });
  const { agent } = await enter('late');
  const { csrf = '' } = hiddenFields((await agent.get(`${app.url}/admin/users/new`)).body);
  const collection = app.store.collection(accounts);
  const stored = await collection.find(id);
  ok(stored);
  // In the store alone, so that the session lives on.
  await collection.replace(id, stored.version, { ...stored.value, role: 'auditor' });
  equal((await agent.post(addressOf('/users/new'), { ...wanted, csrf })).status, 403);
  equal((await app.admin('GET', '/users?username=made-by-auditor')).body.data.total, 0);
});

/** Their own browser's language, at the foot of each page, is for them to change. */
const changesSomething = ({ body }: Page): boolean =>
  /<form[^>]*method="post"(?! action="\/id\/oauth2\/language")/.test(body);

test('auditor: reads every page; forms and mails are refused with a reason', async () => {
  const { agent, page } = await enter('ann');
  equal(page.status, 200);
  for (const { method, path, needs } of adminPages) {
    if (method !== 'GET' || path === '/second-factor') continue;
    const answer = await agent.get(addressOf(path));
    if (needs === 'admin') {
      equal(answer.status, 403, path);
      match(answer.body, /For administrators only/, path);
      match(answer.body, /Your role is auditor/, path);
    } else ok([200, 404].includes(answer.status), `${path}: ${answer.status}`);
    ok(!changesSomething(answer), `${path} shows a form that changes something`);
    ok(!answer.body.includes('name="csrf"'), path);
  }
});

test('auditor: every visible link leads to a readable page without secrets', async () => {
  const { agent, page } = await enter('ann');
  const seen = new Set<string>([`${app.url}/admin`]);
  const waiting: { page: Page; from: string }[] = [{ page, from: 'the sign-in' }];
  const secrets = [apiKey.value, token, client.secret, 'smtp-pass-canary'];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { page: shown, from } = next;
    equal(shown.status, 200, `${shown.url}, linked from ${from}`);
    ok(!changesSomething(shown), `${shown.url} shows a form that changes something`);
    for (const secret of secrets) ok(!shown.body.includes(secret), `${shown.url} holds a secret`);
    for (const [, href = ''] of shown.body.matchAll(/<(?:a|form)\s[^>]*(?:href|action)="([^"]*)"/g)) {
      const url = new URL(href.replaceAll('&amp;', '&'), shown.url);
      if (!url.href.startsWith(`${new URL(app.url).origin}/`) || url.pathname.endsWith('/oauth2/logout'))
        continue;
      ok(url.pathname.startsWith('/id/'), `${href} on ${shown.url} has lost the path of BASE_URL`);
      url.hash = '';
      // Sorting and filtering are seen once for each list; the way to an own second factor leaves the pages.
      const isSame =
        seen.has(url.href) || seen.has(`${url.pathname}?…`) || url.pathname.endsWith('/second-factor');
      if (isSame || !url.pathname.startsWith('/id/admin')) continue;
      if (seen.size > 150) continue;
      seen.add(url.href);
      waiting.push({ page: await agent.get(url.href), from: shown.url });
    }
  }
  ok(seen.size > 40, String(seen.size));
});

test('auditor: the overview shows status and asks for nothing they cannot do', async () => {
  const { page } = await enter('ann');
  match(page.body, /Read only/);
  match(page.body, /<h1>Overview<\/h1>/);
  match(page.body, /There is only one administrator/);
  ok(!/Add your first application|A few steps|Add a second administrator|Outbox|Set up</.test(page.body));
});

test('auditor demoted or deactivated during the session: out at the next request', async () => {
  const { id } = await app.createUser('otto', { role: 'auditor' });
  const demoted = await enter('otto');
  equal(demoted.page.status, 200);
  const collection = app.store.collection(accounts);
  const stored = await collection.find(id);
  ok(stored);
  // In the store alone: the session lives on, the role is read afresh.
  await collection.replace(id, stored.version, { ...stored.value, role: 'user' });
  equal((await demoted.agent.get(`${app.url}/admin/users`)).status, 403);
  equal((await app.admin('PATCH', `/users/${id}`, { role: 'auditor' })).status, 200);
  const inactive = await enter('otto');
  equal(inactive.page.status, 200);
  equal((await app.admin('POST', `/users/${id}/deactivate`)).status, 200);
  const answer = await inactive.agent.get(`${app.url}/admin/users`);
  equal(answer.status, 303);
  match(answer.location ?? '', /\/oauth2\/authorize\?/);
});

test('user: refused, even as a member of every group', async () => {
  equal((await enter('victim')).page.status, 403);
});
