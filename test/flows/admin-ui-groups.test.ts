// Pages of groups, application access and API keys outside the normal case: names in use, concurrent changes, groups in use,
// values that no form sends.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let user: { id: string };
let client: { id: string };

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  user = await app.createUser('grace', { email: 'grace@example.com' });
  client = await app.register({ client_name: 'Ledger' });
  for (const name of ['staff', 'on-call']) await app.admin('POST', '/groups', { name });
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const open = (path: string): Promise<Page> => admin.get(`/admin${path}`);

/** Sends what the page's forms hide, and the given fields. */
async function post(from: string, to: string, fields: Record<string, string> = {}): Promise<Page> {
  const { csrf = '', version = '' } = hiddenFields((await open(from)).body);
  return admin.post(`/admin${to}`, { csrf, version, ...fields });
}

const dataOf = async (path: string) => (await app.admin('GET', path)).body.data;
const membersOf = async (group: string): Promise<unknown[]> =>
  ((await dataOf(`/groups/${group}/members`)).items ?? []).map(({ username }) => username);

test('group form: a used or invalid name is reported and the input kept', async () => {
  const taken = await post('/groups/new', '/groups/new', { name: 'staff', description: 'Typed by me' });
  equal(taken.status, 409);
  match(taken.body, /A group with this name already exists/);
  match(taken.body, /value="Typed by me"/);
  const wrong = await post('/groups/new', '/groups/new', { name: 'Not/One' });
  equal(wrong.status, 400);
  match(wrong.body, /id="name-error"[^>]*>[^<]*a-z/);
});

test('group form: a concurrent change is reported and not overwritten unasked', async () => {
  const { csrf = '', version = '' } = hiddenFields((await open('/groups/staff/edit')).body);
  await app.admin('PATCH', '/groups/staff', { description: 'By a colleague' });
  const mine = { csrf, version, display_name: 'Mine', description: '' };
  const refused = await admin.post('/admin/groups/staff/edit', mine);
  equal(refused.status, 412);
  match(refused.body, /was changed since you opened it/);
  match(refused.body, /By a colleague/);
  equal((await dataOf('/groups/staff')).display_name, null);
  equal((await post('/groups/staff/edit', '/groups/staff/edit', mine)).status, 412);
  const again = await admin.post('/admin/groups/staff/edit', { ...mine, ...hiddenFields(refused.body) });
  equal(again.status, 303);
  deepEqual(
    [(await dataOf('/groups/staff')).display_name, (await dataOf('/groups/staff')).description],
    ['Mine', null],
  );
});

test('group members: added by username or e-mail in any case, once, and removed once', async () => {
  for (const who of ['GRACE', ' grace@EXAMPLE.com ']) {
    equal((await post('/groups/staff', '/groups/staff/members', { who })).status, 303, who);
  }
  deepEqual(await membersOf('staff'), ['grace']);
  for (const who of ['', '   ', 'nobody', 'x@', '"><b>', 'a'.repeat(600)]) {
    const answer = await post('/groups/staff', '/groups/staff/members', { who });
    equal(answer.status, 400, who);
    ok(!answer.body.includes('<b>"'), who);
  }
  const guess = await post('/groups/staff', '/groups/staff/members', { who: 'grac' });
  match(guess.body, /Did you mean/);
  const out = `/groups/staff/members/${user.id}/remove`;
  for (const _ of [1, 2]) equal((await post('/groups/staff', out)).status, 303);
  deepEqual(await membersOf('staff'), []);
  equal((await post('/groups/staff', '/groups/none/members', { who: 'grace' })).status, 404);
});

test('groups on the user page: an unknown or deleted group is reported', async () => {
  const path = `/users/${user.id}`;
  for (const group of ['', 'none', 'a/b', '../x']) {
    const answer = await post(path, `${path}/groups`, { group });
    equal(answer.status, 400, group);
    match(answer.body, /role="alert"/);
  }
  equal((await post(path, `${path}/groups`, { group: 'on-call' })).status, 303);
  deepEqual(await membersOf('on-call'), ['grace']);
  equal((await post(path, `${path}/groups/on-call/remove`)).status, 303);
  deepEqual(await membersOf('on-call'), []);
});

test('application access: groups, no one, everyone; a concurrent change stops it', async () => {
  const path = `/applications/${client.id}`;
  const allowed = async () => (await dataOf(`/clients/${client.id}`)).allowed_groups;
  equal((await post(path, `${path}/access`, { who: 'groups', 'group.staff': 'on' })).status, 303);
  deepEqual(await allowed(), ['staff']);
  const wrong = await post(path, `${path}/access`, { who: 'groups', 'group.none': 'on' });
  equal(wrong.status, 400);
  match(wrong.body, /Group not found: none/);
  deepEqual(await allowed(), ['staff']);
  const { csrf = '', version = '' } = hiddenFields((await open(path)).body);
  await app.admin('PATCH', `/clients/${client.id}`, { client_name: 'Ledger 2' });
  const stale = await admin.post(`/admin${path}/access`, { csrf, version, who: 'everybody' });
  equal(stale.status, 412);
  deepEqual(await allowed(), ['staff']);
  equal((await post(path, `${path}/access`, { who: 'groups' })).status, 303);
  deepEqual(await allowed(), []);
  equal((await post(path, `${path}/access`, { who: 'everybody' })).status, 303);
  equal(await allowed(), null);
});

test('group in use by an application: not deleted, and the page names the application', async () => {
  await app.admin('PATCH', `/clients/${client.id}`, { allowed_groups: ['staff'] });
  const page = await open('/groups/staff/delete');
  match(page.body, /Only its members can sign in to Ledger/);
  const answer = await post('/groups/staff/delete', '/groups/staff/delete', { confirm: 'staff' });
  equal(answer.status, 409);
  equal((await dataOf('/groups/staff')).name, 'staff');
  await app.admin('PATCH', `/clients/${client.id}`, { allowed_groups: null });
  equal((await post('/groups/staff', '/groups/staff/delete', { confirm: 'Staff' })).status, 400);
  equal((await post('/groups/staff', '/groups/staff/delete', { confirm: 'staff' })).status, 303);
  equal((await open('/groups/staff')).status, 404);
});

test('API key form: read-only by default, bounded expiry, value shown on one page only', async () => {
  const make = (fields: Record<string, string>) => post('/api-keys/new', '/api-keys/new', fields);
  for (const days of ['', '0', '-1', '367', '1.5', 'x', '999999999999999']) {
    const answer = await make({ name: 'Backup', days });
    equal(answer.status, 400, days);
    match(answer.body, /id="days-error"[^>]*>Must be/);
    match(answer.body, /value="Backup"/);
  }
  equal((await make({ name: ' ', days: '1' })).status, 400);
  const sent = await make({ name: 'Backup', days: '366', access: 'everything' });
  equal(sent.status, 303);
  const made = await admin.follow(sent);
  const [value = ''] = /latchkey_[\w-]+/.exec(made.body) ?? [];
  const [key] = (await dataOf('/api-keys')).items ?? [];
  deepEqual(key?.scopes, ['admin:read']);
  ok(value.length > 40);
  for (const path of ['/api-keys', `/api-keys/${String(key?.id)}`, `/audit?target_id=${String(key?.id)}`]) {
    const page = await open(path);
    equal(page.status, 200, path);
    ok(!page.body.includes(value), path);
  }
  equal((await open('/api-keys/none')).status, 404);
});
