// APIs over HTTP (decision 0026): records, validation in clear words, secrets, versions, endings.
import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { dataOf, errorOf, itemsOf, type Members, membersOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const identifier = 'https://api.example.com/orders';
const read = { name: 'orders:read', description: 'See your orders' };
const web = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const ifMatch = (etag: string | null) => ({ headers: { 'if-match': etag ?? '' } });

const create = async ({ api }: World, body: Members = {}) => {
  const answer = await api('POST', '/resources', { identifier, name: 'Orders', scopes: [read], ...body });
  equal(answer.status, 201, answer.text);
  return answer;
};

withEachServer('API: created, read, changed, replaced, listed, deleted', async (world) => {
  const { api, now } = world;
  const created = await create(world);
  const { id, introspection_client_secret: secret, introspection_client_id, ...rest } = dataOf(created);
  equal(created.headers.get('location'), `https://id.example.com/admin/api/resources/${String(id)}`);
  match(String(secret), /^[\w-]{43}$/);
  match(String(introspection_client_id), /^api-[0-9a-f-]{36}$/);
  const at = new Date(now()).toISOString();
  deepEqual(rest, {
    identifier,
    name: 'Orders',
    scopes: [{ ...read, is_default: false, roles: [], groups: [] }],
    clients: 'all',
    is_open_to_agents: false,
    machine_grants: {},
    claims: [],
    access_token_format: 'at+jwt',
    access_token_seconds: null,
    required_acr: null,
    max_auth_age: null,
    require_dpop: false,
    created_at: at,
    updated_at: at,
  });
  const path = `/resources/${String(id)}`;
  const shown = await api('GET', path);
  ok(!shown.text.includes(String(secret)));
  deepEqual(shown.headers.get('etag'), created.headers.get('etag'));
  const changed = await api('PATCH', path, { claims: ['roles'] }, ifMatch(created.headers.get('etag')));
  deepEqual([dataOf(changed).claims, dataOf(changed).name], [['roles'], 'Orders']);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : { name: 'x', scopes: [] };
    const stale = await api(method, path, body, ifMatch(created.headers.get('etag')));
    deepEqual([stale.status, errorOf(stale).reason], [412, 'api.changed'], method);
  }
  const replaced = await api('PUT', path, { name: 'Sales', scopes: [read] });
  deepEqual([dataOf(replaced).claims, dataOf(replaced).name], [[], 'Sales']);
  deepEqual(wrongFields(await api('PUT', path, { name: 'Sales' })), ['scopes']);
  deepEqual(
    itemsOf(await api('GET', '/resources?search=SALES')).map((item) => item.id),
    [id],
  );
  equal((await api('DELETE', path)).status, 204);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : { name: 'x', scopes: [] };
    const gone = await api(method, path, body);
    deepEqual([gone.status, errorOf(gone).reason], [404, 'api.not_found'], method);
  }
  const again = dataOf(await create(world));
  notEqual(again.id, id);
  notEqual(again.introspection_client_id, introspection_client_id);
});

const refusals: readonly (readonly [Members, string, RegExp])[] = [
  [{ identifier: 'orders' }, 'identifier', /absolute URI/],
  [{ identifier: 'https://id.example.com/oauth2' }, 'identifier', /issuer/],
  [{ identifier: `${identifier}?a=b` }, 'identifier', /query/],
  [{ name: ' ' }, 'name', /blank/],
  [{ scopes: [{ ...read, name: 'admin' }] }, 'scopes', /Entry 1 must not begin with “admin”/],
  [{ scopes: [read, { ...read, name: 'admin:read' }] }, 'scopes', /Entry 2 must not begin/],
  [{ scopes: [{ ...read, name: 'openid' }] }, 'scopes', /OpenID Connect \(openid\)/],
  [{ scopes: [{ ...read, name: '.default' }] }, 'scopes', /not beginning with/],
  [{ scopes: [{ ...read, name: 'a/b' }] }, 'scopes', /letters, digits/],
  [{ scopes: [{ ...read, description: 'a\nb' }] }, 'scopes', /one line/],
  [{ scopes: [{ ...read, description: '' }] }, 'scopes', /needs a description/],
  [{ scopes: [read, read] }, 'scopes', /Entry 2 has the name/],
  [{ scopes: [{ ...read, groups: ['none'] }] }, 'scopes', /Group not found: none/],
  [{ scopes: [{ ...read, id: 'mine' }] }, 'scopes', /Must be a list of at most 100 scopes/],
  [{ clients: ['none'] }, 'clients', /Application not found: none/],
  [{ clients: 'some' }, 'clients', /“all” or a list/],
  [{ machine_grants: { none: [] } }, 'machine_grants', /Application not found: none/],
  [{ machine_grants: [] }, 'machine_grants', /an object/],
  [{ claims: ['email'] }, 'claims', /profile, roles, groups/],
  [{ access_token_format: 'paseto' }, 'access_token_format', /at\+jwt, jwt, opaque/],
  [{ access_token_seconds: 1 }, 'access_token_seconds', /30/],
  [{ introspection_client_id: 'api-mine' }, 'introspection_client_id', /Unknown field/],
  [{ id: 'mine' }, 'id', /Unknown field/],
];

withServer('API: what is wrong is named with its remedy', async (world) => {
  for (const [members, field, problem] of refusals) {
    const answer = await world.api('POST', '/resources', { identifier, name: 'Orders', ...members });
    deepEqual([answer.status, wrongFields(answer)], [400, [field]], JSON.stringify(members));
    match(String(membersOf(errorOf(answer).fields)[field]), problem, JSON.stringify(members));
  }
  await create(world);
  const taken = await world.api('POST', '/resources', { identifier, name: 'Again' });
  deepEqual(
    [taken.status, errorOf(taken).reason, wrongFields(taken)],
    [409, 'api.identifier_taken', ['identifier']],
  );
});

withServer('API: its identifier never changes', async (world) => {
  const { id } = dataOf(await create(world));
  const path = `/resources/${String(id)}`;
  const same = await world.api('PATCH', path, { identifier, name: 'Sales' });
  equal(same.status, 200, same.text);
  for (const method of ['PUT', 'PATCH']) {
    const other = { identifier: `${identifier}/v2`, name: 'Sales', scopes: [read] };
    deepEqual(wrongFields(await world.api(method, path, other)), ['identifier']);
  }
});

withEachServer('API machine grants: by names, with those of scopes that are gone', async (world) => {
  const { api, clients } = world;
  const { client } = await clients.create({ metadata: web, origin: 'admin' });
  const write = { name: 'orders:write', description: 'Change your orders' };
  const machine_grants = { [client.id]: ['orders:read', 'orders:write'] };
  const { id } = dataOf(await create(world, { scopes: [read, write], machine_grants }));
  const path = `/resources/${String(id)}`;
  deepEqual(dataOf(await api('GET', path)).machine_grants, machine_grants);
  const less = await api('PATCH', path, { scopes: [write] });
  deepEqual(dataOf(less).machine_grants, { [client.id]: ['orders:write'] });
  const unknown = await api('PATCH', path, { machine_grants: { [client.id]: ['orders:read'] } });
  deepEqual(errorOf(unknown).fields, { machine_grants: '“orders:read” is not a scope of this API.' });
  await clients.remove(client.id);
  deepEqual(dataOf(await api('GET', path)).machine_grants, {});
});

withEachServer(
  'API introspection secret: only in the answer that made it, rotated with overlap',
  async (world) => {
    const { api, apis, advance } = world;
    const data = dataOf(await create(world));
    const [path, clientId] = [`/resources/${String(data.id)}`, String(data.introspection_client_id)];
    const first = String(data.introspection_client_secret);
    const rotated = await api('POST', `${path}/rotate-secret`, { overlap_seconds: 60 });
    equal(rotated.status, 200);
    const second = String(dataOf(rotated).introspection_client_secret);
    const works = (...secrets: string[]) =>
      Promise.all(secrets.map(async (secret) => (await apis.authenticate(clientId, secret)) !== undefined));
    deepEqual(await works(first, second), [true, true]);
    advance(60_001);
    deepEqual(await works(first, second), [false, true]);
    equal((await api('POST', `${path}/rotate-secret`)).status, 200);
    deepEqual(await works(second), [false]);
    const log = await api('GET', '/audit');
    ok(!log.text.includes(first) && !log.text.includes(second));
    deepEqual(
      itemsOf(log).map(({ event, target_kind, target_id }) => [event, target_kind, target_id]),
      [
        ['api.secret_rotated', 'api', data.id],
        ['api.secret_rotated', 'api', data.id],
        ['api.created', 'api', data.id],
      ],
    );
  },
);

withServer('group: not deleted while a scope of an API is for its members', async (world) => {
  const { api, accounts } = world;
  await api('POST', '/groups', { name: 'staff' });
  const { id: userId } = await accounts.create({ username: 'alice', password: goodPassword });
  await api('POST', '/groups/staff/members', { user_id: userId });
  const { id } = dataOf(await create(world, { scopes: [{ ...read, groups: ['staff'] }] }));
  for (const [group, found] of [
    ['staff', [id]],
    ['staf', []],
  ] as const) {
    const listed = itemsOf(await api('GET', `/resources?scope_group=${group}`));
    deepEqual(
      listed.map((item) => item.id),
      found,
    );
  }
  const refused = await api('DELETE', '/groups/staff');
  deepEqual([refused.status, errorOf(refused).reason], [409, 'group.in_use']);
  match(String(errorOf(refused).message), /A scope of the API https:\/\/api\.example\.com\/orders/);
  equal((await api('PATCH', `/resources/${String(id)}`, { scopes: [read] })).status, 200);
  equal((await api('DELETE', '/groups/staff')).status, 204);
});

withEachServer('API import: what the list shows, created or replaced by identifier', async (world) => {
  const { api, apis } = world;
  const first = dataOf(await create(world, { claims: ['roles'] }));
  const other = { identifier: 'https://other.example.com', name: 'Other' };
  const scope = { name: 'a', description: 'Do it' };
  await api('POST', '/resources', { ...other, scopes: [scope] });
  const shown = itemsOf(await api('GET', '/resources?sort=identifier&limit=1000'));
  deepEqual(
    shown.map((item) => item.name),
    ['Orders', 'Other'],
  );
  equal((await api('PATCH', `/resources/${String(first.id)}`, { claims: [], name: 'Changed' })).status, 200);
  for (const { id, name } of shown) if (name === 'Other') await apis.remove(String(id));
  const rows = [
    ...shown,
    { ...other, scopes: [], clients: ['none'] },
    { ...other, scopes: [{ ...scope, name: 'admin' }] },
    { ...other },
    'not an object',
  ];
  const answer = await api('POST', '/resources/import', undefined, {
    raw: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  equal(answer.status, 200, answer.text);
  const results: Members[] = answer.text
    .trim()
    .split('\n')
    .map((line) => membersOf(JSON.parse(line)));
  deepEqual(
    results.map(({ status, error }) => [status, Object.keys(membersOf(membersOf(error ?? {}).fields ?? {}))]),
    [
      ['replaced', []],
      ['created', []],
      ['failed', ['clients']],
      ['failed', ['scopes']],
      ['failed', ['scopes']],
      ['failed', ['body']],
    ],
  );
  const [replaced, created] = results;
  deepEqual([replaced?.id, replaced?.introspection_client_secret], [first.id, undefined]);
  const again = dataOf(await api('GET', `/resources/${String(first.id)}`));
  deepEqual([again.name, again.claims, again.scopes], ['Orders', ['roles'], first.scopes]);
  const { introspection_client_id: clientId, introspection_client_secret: secret } = created ?? {};
  equal((await apis.authenticate(String(clientId), String(secret)))?.id, created?.id);
  const log = await api('GET', '/audit');
  ok(!log.text.includes(String(secret)));
  deepEqual(
    itemsOf(log)
      .slice(0, 3)
      .map(({ event }) => event),
    ['apis.imported', 'api.created', 'api.updated'],
  );
});

withEachServer('application: its default API is set by identifier, and goes with the API', async (world) => {
  const { api } = world;
  const { id } = dataOf(await create(world));
  const unknown = await api('POST', '/clients', { ...web, default_resource: 'https://none.example' });
  deepEqual([unknown.status, wrongFields(unknown)], [400, ['default_resource']]);
  const client = dataOf(await api('POST', '/clients', { ...web, default_resource: identifier }));
  equal(client.default_resource, identifier);
  const path = `/clients/${String(client.client_id)}`;
  equal(dataOf(await api('PATCH', path, { client_name: 'Ledger' })).default_resource, identifier);
  equal(dataOf(await api('PATCH', path, { default_resource: null })).default_resource, null);
  equal(dataOf(await api('PATCH', path, { default_resource: identifier })).default_resource, identifier);
  equal((await api('DELETE', `/resources/${String(id)}`)).status, 204);
  await create(world);
  equal(dataOf(await api('GET', path)).default_resource, null);
});

withEachServer('attack: an API whose identifier is a client id, and the other way round', async (world) => {
  const { api, clients } = world;
  const { client } = await clients.create({ metadata: web, origin: 'admin' });
  deepEqual(wrongFields(await api('POST', '/resources', { identifier: client.id, name: 'x' })), [
    'identifier',
  ]);
  const address = 'https://client.example.com/metadata.json';
  const document = { metadata: web, origin: 'seed', clientId: address } as const;
  await clients.create(document);
  const taken = await api('POST', '/resources', { identifier: address, name: 'x' });
  match(String(Object.values(errorOf(taken).fields ?? {})), /client ID of an application/);
  await create(world, { identifier: 'https://other.example.com' });
  for (const clientId of ['https://other.example.com', 'https://other.example.com/']) {
    await rejects(clients.create({ ...document, clientId }), { code: 'client.invalid_metadata' });
  }
});
