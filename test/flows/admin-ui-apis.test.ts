// The pages of APIs without a script: create, scopes, who may ask, machine grants, secret, removal that says what it ends.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let admin: Agent;
let machine: { id: string };
let web: { id: string };
let id: string;

const identifier = 'https://api.example.com/orders';

before(async () => {
  app = await startApp();
  await app.createUser('root-admin', { role: 'admin' });
  await app.admin('POST', '/groups', { name: 'staff', display_name: 'Staff' });
  web = await app.register({ client_name: 'Ledger' });
  machine = await app.register({
    client_name: 'Robot',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
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

const read = async () => (await app.admin('GET', `/resources/${id}`)).body.data;
const scopeNames = async (): Promise<unknown> => JSON.stringify((await read()).scopes);

test('API pages: the empty list leads to the form, and creating shows the secret once', async () => {
  match((await open('/apis')).body, /No APIs yet/);
  const wrong = await post('/apis/new', '/apis/new', { name: 'Orders', identifier: 'orders' });
  equal(wrong.status, 400);
  match(wrong.body, /id="identifier-error"[^>]*>Must be an absolute URI/);
  match(wrong.body, /value="Orders"/);
  const created = await post('/apis/new', '/apis/new', { name: 'Orders', identifier });
  equal(created.status, 303, created.body);
  const secret = await admin.follow(created);
  match(secret.body, /id="client-secret"[^>]*>[\w-]{43}</);
  id = /\/apis\/([0-9a-f-]{36})\/secret/.exec(created.location ?? '')?.[1] ?? '';
  ok(id);
  const again = await admin.follow(await admin.get(created.location ?? ''));
  ok(!/id="client-secret"/.test(again.body));
  match((await open('/apis')).body, /https:\/\/api\.example\.com\/orders/);
});

test('API scopes: added, edited and removed, with what the removal ends', async () => {
  const path = `/apis/${id}/scopes`;
  for (const [name, problem] of [
    ['admin', /must not begin with “admin”/i],
    ['openid', /OpenID Connect/],
    ['a/b', /letters, digits/],
  ] as const) {
    const refused = await post(path, path, { name, description: 'Something', who: 'all' });
    equal(refused.status, 400);
    match(/id="name-error"[^>]*>([^<]*)/.exec(refused.body)?.[1] ?? '', problem);
    match(refused.body, /value="Something"/);
  }
  const blank = await post(path, path, { name: 'orders:read', description: ' ', who: 'all' });
  match(blank.body, /id="description-error"[^>]*>Needs a description/);
  const fields = { name: 'orders:read', description: 'See your orders', is_default: 'on', who: 'all' };
  equal((await post(path, path, fields)).status, 303);
  const limited = { name: 'orders:write', description: 'Change orders', who: 'some', 'group.staff': 'on' };
  equal((await post(path, path, { ...limited, 'role.admin': 'on' })).status, 303);
  deepEqual((await read()).scopes, [
    { name: 'orders:read', description: 'See your orders', is_default: true, roles: [], groups: [] },
    {
      name: 'orders:write',
      description: 'Change orders',
      is_default: false,
      roles: ['admin'],
      groups: ['staff'],
    },
  ]);
  const page = await open(`/apis/${id}`);
  match(page.body, /Only administrators, <bdi>Staff<\/bdi>/);
  match(page.body, /&quot;scopes_supported&quot;: \[\s*&quot;orders:read&quot;,\s*&quot;orders:write&quot;/);
  match(page.body, /https:\/\/api\.example\.com\/\.well-known\/oauth-protected-resource\/orders/);
  const edit = `${path}/orders:write`;
  match((await open(edit)).body, /name="group\.staff" checked/);
  const kept = { description: 'Change your orders', who: 'all', 'group.staff': 'on' };
  equal((await post(edit, edit, kept)).status, 303);
  equal(JSON.stringify((await read()).scopes).includes('staff'), false);
  equal((await open(`${path}/none`)).status, 404);
});

test('API scopes: a form that was open while another saved is not saved over it', async () => {
  const edit = `/apis/${id}/scopes/orders:write`;
  const { csrf = '', version = '' } = hiddenFields((await open(edit)).body);
  await app.admin('PATCH', `/resources/${id}`, { name: 'Orders 2' });
  const late = await admin.post(`/admin${edit}`, { csrf, version, description: 'Mine', who: 'all' });
  equal(late.status, 412);
  match(late.body, /was changed since you opened it/);
  ok(!String(await scopeNames()).includes('Mine'));
});

test('API machine grants: given, changed and taken away on the page', async () => {
  const path = `/apis/${id}/machines`;
  const form = await open(path);
  ok(form.body.includes('Robot') && !form.body.includes('Ledger'));
  const given = { client_id: machine.id, 'scope.orders:read': 'on', 'scope.orders:write': 'on' };
  equal((await post(path, path, given)).status, 303);
  deepEqual((await read()).machine_grants, { [machine.id]: ['orders:read', 'orders:write'] });
  match((await open(`/apis/${id}`)).body, /Robot/);
  const from = `${path}?client_id=${machine.id}`;
  match((await open(from)).body, /name="scope\.orders:write" checked/);
  equal((await post(from, path, { fixed: machine.id, 'scope.orders:read': 'on' })).status, 303);
  deepEqual((await read()).machine_grants, { [machine.id]: ['orders:read'] });
  const unknown = await post(path, path, { client_id: 'none', 'scope.orders:read': 'on' });
  equal(unknown.status, 400);
  match(unknown.body, /Application not found: none/);
});

test('API settings: applications, claims, format and lifetime are saved', async () => {
  const path = `/apis/${id}`;
  const fields = {
    name: 'Orders',
    who: 'some',
    [`client.${web.id}`]: 'on',
    is_open_to_agents: 'on',
    'claim.roles': 'on',
    access_token_format: 'opaque',
    access_token_seconds: '2',
    'unit.access_token_seconds': '60',
  };
  equal((await post(path, path, fields)).status, 303);
  const {
    clients,
    claims,
    access_token_format: format,
    access_token_seconds: seconds,
    ...rest
  } = await read();
  deepEqual([clients, claims, format, seconds], [[web.id], ['roles'], 'opaque', 120]);
  equal(rest.is_open_to_agents, true);
  const wrong = await post(path, path, { ...fields, access_token_seconds: 'soon', name: 'Typed' });
  equal(wrong.status, 400);
  match(wrong.body, /value="Typed"/);
  match(wrong.body, /value="soon"/);
  match(wrong.body, /value="opaque" checked/);
});

test('API removal: says what it ends and wants the name', async () => {
  const scope = await open(`/apis/${id}/scopes/orders:read/remove`);
  match(scope.body, /One application has it for itself and loses it/);
  equal((await post(`/apis/${id}`, `/apis/${id}/scopes/orders:read/remove`)).status, 303);
  deepEqual((await read()).machine_grants, {});
  const path = `/apis/${id}/delete`;
  const asked = (await open(path)).body;
  for (const line of [
    /Its one scope ends: orders:write/,
    /One application loses access/,
    /revoked immediately/,
  ])
    match(asked, line);
  equal((await post(path, path, { confirm: 'Other' })).status, 400);
  equal((await post(path, path, { confirm: 'Orders' })).status, 303);
  equal((await open(`/apis/${id}`)).status, 404);
  match((await open('/audit?event=api.removed')).body, /API deleted/);
});
