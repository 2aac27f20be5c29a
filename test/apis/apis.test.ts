// The registry of APIs on each kind of store: identifiers, scopes, who may have them, introspection credentials, endings.
import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import test from 'node:test';
import {
  type Api,
  accessTokenSeconds,
  isIntrospectionClientId,
  isListed,
  isOpenTo,
  machineScopes,
  mayGrant,
  splitScope,
} from '../../src/apis/index.ts';
import type { AppError } from '../../src/errors.ts';
import { apis as apiCollection } from '../../src/store/apis.ts';
import { withEachServer, withServer } from '../admin/support.ts';

const IDENTIFIER = 'https://api.example.com/orders';
const read = { name: 'orders:read', description: 'See your orders', is_default: true };
const write = { name: 'orders:write', description: 'Change your orders' };
const web = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const refusal = (code: string) => ({ name: 'AppError', code });

withEachServer('API: found by id and by identifier until it is removed', async ({ apis, events }) => {
  const { api, introspectionSecret } = await apis.create(IDENTIFIER, { name: 'Orders', scopes: [read] });
  deepEqual((await apis.find(api.id))?.value, api.value);
  equal((await apis.findByIdentifier(IDENTIFIER))?.id, api.id);
  for (const other of [`${IDENTIFIER}/`, 'https://api.example.com', IDENTIFIER.toUpperCase()]) {
    equal(await apis.findByIdentifier(other), undefined, other);
  }
  const seen: unknown[] = [];
  events.on('apiRemoving', async ({ apiId }) => {
    seen.push([apiId, await apis.find(apiId), await apis.findByIdentifier(IDENTIFIER)]);
    const { introspectionClientId } = api.value;
    seen.push([await apis.authenticate(introspectionClientId, introspectionSecret)]);
    await rejects(apis.update(apiId, { name: 'x' }, { mode: 'merge' }), refusal('api.not_found'));
  });
  await apis.remove(api.id);
  deepEqual(seen, [[api.id, undefined, undefined], [undefined]]);
  await rejects(apis.remove(api.id), refusal('api.not_found'));
});

withEachServer('API identifier: one owner; an empty path and `/` are one', async ({ apis }) => {
  const first = await apis.create('https://api.example.com', {});
  for (const again of ['https://api.example.com', 'https://api.example.com/']) {
    await rejects(apis.create(again, {}), refusal('api.identifier_taken'));
    equal((await apis.findByIdentifier(again))?.id, first.api.id);
  }
  const parallel = await Promise.allSettled([1, 2, 3].map(() => apis.create(IDENTIFIER, {})));
  equal(parallel.filter(({ status }) => status === 'fulfilled').length, 1);
});

const refusedIdentifiers: readonly (readonly [string, RegExp])[] = [
  ['orders', /absolute URI/],
  ['/orders', /absolute URI/],
  ['', /absolute URI/],
  ['https://', /absolute URI/],
  ['https://api.example.com/#a', /fragment/],
  ['https://api.example.com/?a', /query/],
  ['https://api.example.com/%61', /percent/],
  ['https://user@api.example.com', /user name/],
  ['https://:secret@api.example.com', /user name/],
  ['https://API.example.com', /written as https:\/\/api\.example\.com\//],
  ['https://api.example.com:443/a', /written as https:\/\/api\.example\.com\/a/],
  ['https://api.example.com/a/../b', /written as/],
  ['https://apı.example.com', /absolute URI/],
  ['https://api.example.com/a b', /absolute URI/],
  ['https://api.example.com\\a', /absolute URI/],
  [`urn:${'a'.repeat(500)}`, /longer than 500/],
  ['https://id.example.com/oauth2', /issuer/],
];

withServer('API identifier: what cannot be one is told why', async ({ apis }) => {
  for (const [identifier, problem] of refusedIdentifiers) {
    await rejects(
      apis.create(identifier, {}),
      (error: { code?: string; fields?: Record<string, string> }) => {
        equal(error.code, 'request.invalid', identifier);
        match(error.fields?.identifier ?? '', problem, identifier);
        return true;
      },
    );
  }
  for (const identifier of [
    'urn:example:api',
    'api://8f0cf1a4-7d0c-4b5e-9d54-2e8a3cd9a3a1',
    'http://localhost:8080/mcp',
    'https://api.example.com/',
    'https://[2001:db8::1]/a',
  ]) {
    equal((await apis.create(identifier, {})).api.value.identifier, identifier);
  }
});

test('API identifier and scope: split at the last slash, not decoded', () => {
  deepEqual(splitScope('https://a.example/x/orders:read'), {
    identifier: 'https://a.example/x',
    name: 'orders:read',
  });
  deepEqual(splitScope('https://a.example//.default'), {
    identifier: 'https://a.example/',
    name: '.default',
  });
  deepEqual(splitScope('https://a.example/x%2Fread'), { identifier: 'https://a.example', name: 'x%2Fread' });
  equal(splitScope('orders:read'), undefined);
});

withServer('API scopes: reserved, malformed, repeated and undescribed ones are refused', async ({ apis }) => {
  const refused = [
    'admin',
    'admin:read',
    'Administer',
    'openid',
    'offline_access',
    'groups',
    '.default',
    'a b',
    '',
  ];
  for (const name of [...refused, 'a/b', 'ä', 'a'.repeat(101)]) {
    const scopes = [{ name, description: 'Something' }];
    await rejects(apis.create(IDENTIFIER, { scopes }), refusal('request.invalid'), name);
  }
  await rejects(apis.create(IDENTIFIER, { scopes: [read, read] }), /not valid/);
  await rejects(apis.create(IDENTIFIER, { scopes: [{ name: 'a', description: ' ' }] }), /not valid/);
  const scopes = [{ name: 'a', description: 'A', groups: ['nobody-has-this'] }];
  await rejects(apis.create(IDENTIFIER, { scopes }), (error: { fields?: Record<string, string> }) => {
    match(error.fields?.scopes ?? '', /Group not found: nobody-has-this/);
    return true;
  });
});

withEachServer(
  'API scope: keeps its id by its name; one created again is another',
  async ({ apis, events }) => {
    const ended: unknown[] = [];
    events.on('apiScopesRemoving', async ({ apiId, scopeIds }) => {
      const now = await apis.find(apiId);
      ended.push([scopeIds, now?.value.scopes.map(({ name }) => name)]);
    });
    const { api } = await apis.create(IDENTIFIER, { scopes: [read, write] });
    const [readId, writeId] = api.value.scopes.map(({ id }) => id);
    const renamed = await apis.update(
      api.id,
      { scopes: [{ ...write, description: 'Change orders' }] },
      { mode: 'merge' },
    );
    deepEqual(
      renamed.value.scopes.map(({ id, description }) => [id, description]),
      [[writeId, 'Change orders']],
    );
    deepEqual(ended, [[[readId], ['orders:write']]]);
    equal(renamed.value.endingScopeIds, undefined);
    const again = await apis.update(api.id, { scopes: [read, write] }, { mode: 'merge' });
    notEqual(again.value.scopes[0]?.id, readId);
    equal(again.value.scopes[1]?.id, writeId);
  },
);

withEachServer('API removal: interrupted anywhere, the job finishes it', async ({ apis, events, store }) => {
  const seen: string[] = [];
  let isDown = true;
  events.on('apiRemoving', async () => {
    seen.push('api');
    if (isDown) throw new Error('the store is away');
  });
  events.on('apiScopesRemoving', async () => {
    seen.push('scopes');
    if (isDown) throw new Error('the store is away');
  });
  const { api } = await apis.create(IDENTIFIER, { scopes: [read] });
  await rejects(apis.update(api.id, { scopes: [] }, { mode: 'merge' }), /away/);
  deepEqual((await apis.find(api.id))?.value.scopes, []);
  isDown = false;
  equal(await apis.finishEndings(), 1);
  equal(await apis.finishEndings(), 0);
  isDown = true;
  await rejects(apis.remove(api.id), /away/);
  equal(await apis.find(api.id), undefined);
  equal((await apis.query({ sort: 'id', order: 'asc', limit: 10 })).total, 0);
  isDown = false;
  equal(await apis.finishEndings(), 1);
  deepEqual(seen, ['scopes', 'scopes', 'api', 'api']);
  equal(await store.collection(apiCollection).find(api.id), undefined);
  notEqual((await apis.create(IDENTIFIER, {})).api.id, api.id);
});

withEachServer('API machine grants: by scope ids, gone with the scope and the application', async (world) => {
  const { apis, clients } = world;
  const [one, two] = await Promise.all(
    [1, 2].map(() => clients.create({ metadata: web, origin: 'admin' }).then(({ client }) => client.id)),
  );
  ok(one && two);
  const given = { [one]: [read.name, write.name], [two]: [write.name] };
  const { api } = await apis.create(IDENTIFIER, {
    scopes: [read, write],
    clients: [two, one],
    machine_grants: given,
  });
  const names = (record: Api['value'], id: string) => machineScopes(record, id).map(({ name }) => name);
  deepEqual(names(api.value, one), [read.name, write.name]);
  deepEqual(names(api.value, 'unknown'), []);
  const less = await apis.update(api.id, { scopes: [write] }, { mode: 'merge' });
  deepEqual(names(less.value, one), [write.name]);
  await clients.remove(one);
  const after = await apis.find(api.id);
  deepEqual(after?.value.clients, [two]);
  deepEqual(
    after?.value.machineGrants.map(({ clientId }) => clientId),
    [two],
  );
  for (const changes of [
    { machine_grants: { [two]: ['unknown'] } },
    { machine_grants: { unknown: [write.name] } },
    { clients: ['unknown'] },
  ]) {
    await rejects(apis.update(api.id, changes, { mode: 'merge' }), refusal('request.invalid'));
  }
});

withEachServer('API introspection credentials: checked whole, rotated with overlap', async (world) => {
  const { apis, advance } = world;
  const { api, introspectionSecret: first } = await apis.create(IDENTIFIER, {});
  const { introspectionClientId: id } = api.value;
  ok(isIntrospectionClientId(id));
  ok(!JSON.stringify(await apis.find(api.id)).includes(first));
  const works = (...secrets: string[]) =>
    Promise.all(secrets.map(async (secret) => (await apis.authenticate(id, secret))?.id === api.id));
  deepEqual(await works(first, '', first.slice(1), `${first}x`), [true, false, false, false]);
  equal(await apis.authenticate('api-unknown', first), undefined);
  equal(await apis.authenticate('api-unknown', ''), undefined);
  advance(1);
  const { introspectionSecret: second } = await apis.rotateSecret(api.id, { overlapSeconds: 60 });
  deepEqual(await works(first, second), [true, true]);
  advance(60_000);
  deepEqual(await works(first, second), [false, true]);
  advance(1);
  const { introspectionSecret: third } = await apis.rotateSecret(api.id);
  deepEqual(await works(second, third), [false, true]);
});

withServer('API: replacing resets what is absent, merging keeps it; versions are held', async ({ apis }) => {
  const { api } = await apis.create(IDENTIFIER, {
    name: 'Orders',
    scopes: [read],
    claims: ['roles', 'profile'],
    access_token_format: 'opaque',
    access_token_seconds: 60,
  });
  const merged = await apis.update(api.id, { name: 'Sales' }, { mode: 'merge', ifVersion: 1 });
  deepEqual({ ...merged.value, name: 'Orders', updatedAt: api.value.updatedAt }, api.value);
  const stale = apis.update(api.id, { name: 'Late' }, { mode: 'merge', ifVersion: 1 });
  await rejects(stale, refusal('api.changed'));
  const scopes = [read];
  const { value } = await apis.update(api.id, { name: 'Sales', scopes }, { mode: 'replace' });
  deepEqual([value.claims, value.accessTokenFormat, value.accessTokenSeconds], [[], 'at+jwt', undefined]);
  equal(value.scopes[0]?.id, api.value.scopes[0]?.id);
  const kept = await apis.update(api.id, { access_token_seconds: 60 }, { mode: 'merge' });
  equal(kept.value.accessTokenSeconds, 60);
  const cleared = await apis.update(api.id, { access_token_seconds: null }, { mode: 'merge' });
  equal(cleared.value.accessTokenSeconds, undefined);
});

test('API: who may ask for it, and who may have a scope', () => {
  const [all, listed] = [{ clients: 'all' as const }, { clients: ['a'] }];
  deepEqual(
    (['admin', 'registration', 'seed'] as const).map((origin) => isOpenTo(all, 'a', { origin })),
    [true, false, false],
  );
  ok(isOpenTo(listed, 'a', { origin: 'registration' }) && !isOpenTo(listed, 'b', { origin: 'admin' }));
  ok(isListed(listed, 'a') && !isListed(all, 'a'));
  ok(mayGrant({}, { role: 'user' }));
  ok(mayGrant({ roles: ['admin'], groups: ['staff'] }, { role: 'user', groups: ['staff'] }));
  ok(mayGrant({ roles: ['admin'] }, { role: 'admin' }));
  ok(!mayGrant({ roles: ['admin'] }, { role: 'user', groups: ['admin'] }));
  ok(!mayGrant({ groups: ['admin'] }, { role: 'admin' }));
});

test('API token lifetime: its own, else the setting for its format', () => {
  const settings = { api_jwt_seconds: 300, api_opaque_seconds: 900 };
  equal(accessTokenSeconds({ accessTokenFormat: 'at+jwt' }, settings), 300);
  equal(accessTokenSeconds({ accessTokenFormat: 'jwt' }, settings), 300);
  equal(accessTokenSeconds({ accessTokenFormat: 'opaque' }, settings), 900);
  equal(accessTokenSeconds({ accessTokenFormat: 'opaque', accessTokenSeconds: 30 }, settings), 30);
});

withEachServer('default API of an application: by identifier, gone with the API', async (world) => {
  const { apis, clients } = world;
  const { api } = await apis.create('https://api.example.com/', { name: 'Orders' });
  const settings = { default_resource: 'https://api.example.com' };
  const { client } = await clients.create({ metadata: web, origin: 'admin', settings });
  const { identifier } = api.value;
  deepEqual(client.value.defaultApi, { id: api.id, identifier });
  const set = (default_resource: string | null) =>
    clients.update(client.id, { mode: 'merge', authority: 'administrator', settings: { default_resource } });
  await rejects(set('https://other.example.com'), refusal('client.invalid_metadata'));
  equal((await set(null)).client.value.defaultApi, undefined);
  equal((await set(identifier)).client.value.defaultApi?.id, api.id);
  await apis.remove(api.id);
  await apis.create(identifier, {});
  equal((await clients.find(client.id))?.value.defaultApi, undefined);
});

withServer('API: an application in quarantine is not listed and gets no machine grant', async (world) => {
  const { apis, clients } = world;
  const { client } = await clients.create({
    metadata: web,
    origin: 'registration',
    quarantine: { by: 'registration' },
  });
  for (const changes of [{ clients: [client.id] }, { machine_grants: { [client.id]: [read.name] } }]) {
    await rejects(apis.create(IDENTIFIER, { scopes: [read], ...changes }), (error: AppError) => {
      match(String(Object.values(error.fields ?? {})), /No administrator vouches/);
      return true;
    });
  }
  equal(isOpenTo({ clients: [client.id] }, client.id, client.value), false);
  equal(isOpenTo({ clients: [], isOpenToAgents: true }, client.id, client.value), true);
  equal(isOpenTo({ clients: [], isOpenToAgents: true }, 'another', { origin: 'registration' }), false);
  const { api } = await apis.create(IDENTIFIER, { is_open_to_agents: true });
  const kept = await apis.update(api.id, { name: 'Orders' }, { mode: 'merge' });
  equal(kept.value.isOpenToAgents, true);
  const closed = await apis.update(api.id, { name: 'Orders' }, { mode: 'replace' });
  equal(closed.value.isOpenToAgents, undefined);
});
