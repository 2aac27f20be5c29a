// Attacks by what an API is called: a scope that reads like a right of this server, an identifier that is another's, and
// identifiers that begin like each other.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { splitScope } from '../../src/apis/index.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let client: { id: string };
let admin: Agent;

before(async () => {
  app = await startApp();
  client = await app.register();
  await app.createUser('root-admin', { role: 'admin' });
  admin = new Agent(app);
  const signIn = await admin.follow(await admin.get('/admin'));
  equal((await admin.submit(signIn, { username: 'root-admin', password: PASSWORD })).status, 200);
});
after(() => app.stop());

const scopesOf = (...names: string[]) => names.map((name) => ({ name, description: 'Something' }));

async function create(identifier: string, ...names: string[]): Promise<string> {
  const api = { identifier, name: 'Orders', scopes: scopesOf(...names) };
  const { status, body } = await app.admin('POST', '/resources', api);
  equal(status, 201, JSON.stringify(body));
  return String(body.data.id);
}

const forbidden = [
  'admin',
  'admin:read',
  'ADMIN',
  'Admin.Write',
  'administer',
  'openid',
  'profile',
  'email',
  'phone',
  'address',
  'roles',
  'groups',
  'offline_access',
  '.default',
  'read write',
  'orders/read',
  'orders%2Fread',
  'admın',
  'orders:read\u200b',
];

test('attack: an API scope called admin or as OpenID Connect has it, by POST, PUT and PATCH', async () => {
  const id = await create('https://names.example', 'orders:read');
  for (const name of forbidden) {
    const body = { name: 'Orders', scopes: scopesOf('orders:read', name) };
    for (const [method, path, more] of [
      ['POST', '/resources', { identifier: `https://${forbidden.indexOf(name)}.example` }],
      ['PUT', `/resources/${id}`, {}],
      ['PATCH', `/resources/${id}`, {}],
    ] as const) {
      const { status, body: answer } = await app.admin(method, path, { ...body, ...more });
      deepEqual([status, Object.keys(answer.error?.fields ?? {})], [400, ['scopes']], `${method} ${name}`);
    }
  }
  const { scopes } = (await app.admin('GET', `/resources/${id}`)).body.data;
  equal(JSON.stringify(scopes).includes('admin'), false);
});

test('attack: an API scope called admin, by the form', async () => {
  const id = await create('https://form.example');
  const path = `/admin/apis/${id}/scopes`;
  const { csrf = '', version = '' } = hiddenFields((await admin.get(path)).body);
  for (const name of ['admin', ' admin', 'Admin:all']) {
    const fields = { csrf, version, name, description: 'Something', who: 'all' };
    equal((await admin.post(path, fields)).status, 400, name);
  }
  deepEqual((await app.admin('GET', `/resources/${id}`)).body.data.scopes, []);
});

test('attack: an API whose identifier is the issuer or the id of an application', async () => {
  const issuer = `${app.url}/oauth2`;
  for (const identifier of [issuer, `${issuer}/`, `${issuer}//`, client.id, 'latchkey-admin']) {
    const { status, body } = await app.admin('POST', '/resources', { identifier, name: 'Orders' });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['identifier']], identifier);
  }
});

test('attack: identifiers that are prefixes of each other; each is found as itself alone', async () => {
  const identifiers = [
    'https://prefix.example',
    'https://prefix.example/v1',
    'https://prefix.example/v1/',
    'https://prefix.example/v1/read',
    'https://prefix.example.evil.example',
  ];
  const ids = await Promise.all(identifiers.map((identifier) => create(identifier, 'read')));
  equal(new Set(ids).size, identifiers.length);
  // What each word of a request names: the last slash alone divides it.
  for (const [word, identifier, name] of [
    ['https://prefix.example/v1/read', 'https://prefix.example/v1', 'read'],
    ['https://prefix.example/v1//read', 'https://prefix.example/v1/', 'read'],
    ['https://prefix.example/v1/read/read', 'https://prefix.example/v1/read', 'read'],
    ['https://prefix.example/read', 'https://prefix.example', 'read'],
    ['https://prefix.example//.default', 'https://prefix.example/', '.default'],
    ['https://prefix.example/admin', 'https://prefix.example', 'admin'],
  ] as const) {
    deepEqual(splitScope(word), { identifier, name });
  }
  const taken = await app.admin('POST', '/resources', { identifier: 'https://prefix.example/', name: 'x' });
  equal(taken.status, 409);
});

test('attack: a scope removed and added again; what was granted of the first is gone', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  const id = await create('https://again.example', 'read', 'write');
  const patch = async (body: object) => (await app.admin('PATCH', `/resources/${id}`, body)).body.data;
  const granted = await patch({ machine_grants: { [machine.id]: ['read', 'write'] } });
  deepEqual(granted.machine_grants, { [machine.id]: ['read', 'write'] });
  await patch({ scopes: scopesOf('write') });
  const again = await patch({ scopes: scopesOf('read', 'write') });
  deepEqual(again.machine_grants, { [machine.id]: ['write'] });
});

test('attack: an application deleted and its grant at an API; nothing of it remains', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  });
  const id = await create('https://orphan.example', 'read');
  const body = { clients: [client.id, machine.id], machine_grants: { [machine.id]: ['read'] } };
  equal((await app.admin('PATCH', `/resources/${id}`, body)).status, 200);
  equal((await app.admin('DELETE', `/clients/${machine.id}`)).status, 204);
  const { clients, machine_grants: grants } = (await app.admin('GET', `/resources/${id}`)).body.data;
  deepEqual([clients, grants], [[client.id], {}]);
});

test('attack: the introspection secret of an API, read from lists, pages and the audit log', async () => {
  const { body } = await app.admin('POST', '/resources', { identifier: 'https://secret.example', name: 'x' });
  const { id, introspection_client_secret: secret } = body.data;
  match(String(secret), /^[\w-]{43}$/);
  for (const path of [`/resources/${String(id)}`, '/resources?limit=100', '/audit?limit=100']) {
    ok(!JSON.stringify((await app.admin('GET', path)).body).includes(String(secret)), path);
  }
  ok(!(await admin.get(`/admin/apis/${String(id)}`)).body.includes(String(secret)));
  const rotated = (await app.admin('POST', `/resources/${String(id)}/rotate-secret`)).body.data;
  notEqual(rotated.introspection_client_secret, secret);
});
