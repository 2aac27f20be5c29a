// Machine tokens for APIs (decision 0026): `client_credentials` with `resource`, its alias `audience` or prefixed scopes; what
// the API's own introspection answers; formats, lifetimes, endings.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { createApi, seenBy, type TestApi } from './api-support.ts';
import {
  basic,
  bearer,
  type Client,
  call,
  claimsOf,
  epoch,
  headerOf,
  introspect,
  type Json,
  postForm,
  userinfo,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

const newMachine = (): Promise<Client> =>
  app.register({ grant_types: ['client_credentials'], redirect_uris: [], scope: 'openid profile' });
const machine = await newMachine();
const orders = await createApi(app, { machine_grants: { [machine.id]: ['read', 'write'] } });
const sales = await createApi(app, { machine_grants: { [machine.id]: ['read'] } });

const ask = (fields: Record<string, string> | readonly [string, string][], client = machine) => {
  const pairs = Array.isArray(fields) ? [...fields] : Object.entries(fields);
  return postForm(app, '/oauth2/token', [['grant_type', 'client_credentials'], ...pairs], basic(client));
};
const tokenFor = async (fields: Record<string, string>, client = machine): Promise<string> => {
  const { status, text, body } = await ask(fields, client);
  equal(status, 200, text);
  return String(body.access_token);
};
const refusal = ({ status, body }: { status: number; body: Json }) => [status, body.error];

test('machine token: resource or audience names the API, whose identifier is the audience', async () => {
  for (const name of ['resource', 'audience']) {
    const { status, text, body } = await ask({ [name]: orders.identifier, scope: 'read openid unknown' });
    equal(status, 200, text);
    deepEqual([body.scope, body.expires_in, body.token_type], ['read', 300, 'Bearer']);
    const token = String(body.access_token);
    const { aud, scope, sub, client_id, iss, exp } = claimsOf(token);
    deepEqual(
      [aud, scope, sub, client_id, iss],
      [orders.identifier, 'read', machine.id, machine.id, app.issuer],
    );
    equal(headerOf(token).typ, 'at+jwt');
    ok(Math.abs(Number(exp) - epoch() - 300) < 10);
  }
  equal((await ask({ resource: orders.identifier, audience: orders.identifier })).status, 200);
  equal((await ask({ resource: `${orders.identifier}/` })).status, 200, 'an empty path and / are one');
});

test('machine token: without scope it gets its whole grant, with others only what is in it', async () => {
  equal((await ask({ resource: orders.identifier })).body.scope, 'read write');
  equal((await ask({ resource: sales.identifier, scope: 'write read' })).body.scope, 'read');
  deepEqual(refusal(await ask({ resource: sales.identifier, scope: 'write' })), [400, 'invalid_scope']);
  deepEqual(refusal(await ask({ resource: sales.identifier, scope: 'openid' })), [400, 'invalid_scope']);
});

test('machine token: prefixed scopes and .default, as Microsoft’s libraries write them', async () => {
  const at = orders.identifier;
  const all = await ask({ scope: `${at}/.default` });
  equal(all.body.scope, `${at}/.default ${at}/read ${at}/write`);
  equal(claimsOf(String(all.body.access_token)).scope, 'read write');
  equal((await ask({ scope: `${at}/write` })).body.scope, `${at}/write`);
  equal((await ask({ scope: `${at}//read` })).body.scope, `${at}//read`, 'the form asked');
  equal((await ask({ scope: `${at}/write`, resource: at })).body.scope, `${at}/write`);
});

test('machine token: the application itself and this server are no API', async () => {
  for (const resource of [machine.id, app.issuer]) {
    const { status, body } = await ask({ resource });
    deepEqual([status, claimsOf(String(body.access_token)).aud], [200, app.issuer]);
  }
});

test('machine token: two APIs, unknown ones, those without an entry', async () => {
  const both = [
    ['resource', orders.identifier],
    ['resource', sales.identifier],
  ] as const;
  deepEqual(refusal(await ask([...both].map(([a, b]): [string, string] => [a, b]))), [400, 'invalid_target']);
  const [first, second] = [orders.identifier, sales.identifier];
  const cases: [Record<string, string>, string][] = [
    [{ resource: first, audience: second }, 'invalid_target'],
    [{ resource: first, scope: `${second}/read` }, 'invalid_target'],
    [{ scope: `${first}/read ${second}/read` }, 'invalid_target'],
    [{ resource: first, audience: second, scope: 'read' }, 'invalid_scope'],
    [{ resource: 'https://unknown.example.com' }, 'invalid_target'],
    [{ audience: 'https://unknown.example.com' }, 'invalid_target'],
    [{ scope: 'https://unknown.example.com/read' }, 'invalid_target'],
    [{ scope: `${first}/read`, resource: 'https://unknown.example.com' }, 'invalid_target'],
    [{ resource: `${first}/x` }, 'invalid_target'],
    [{ resource: first.toUpperCase() }, 'invalid_target'],
  ];
  for (const [fields, error] of cases)
    deepEqual(refusal(await ask(fields)), [400, error], JSON.stringify(fields));
  const stranger = await newMachine();
  for (const fields of [{ resource: first }, { scope: `${first}/.default` }])
    deepEqual(refusal(await ask(fields, stranger)), [400, 'invalid_target'], 'open to all, but no entry');
});

test('machine token: formats and lifetimes of the API', async () => {
  const api = await createApi(app, {
    machine_grants: { [machine.id]: ['read'] },
    access_token_format: 'jwt',
    access_token_seconds: 77,
  });
  const jwt = await ask({ resource: api.identifier });
  equal(jwt.body.expires_in, 77);
  equal(headerOf(String(jwt.body.access_token)).typ, 'JWT');
  equal((await seenBy(app, api, String(jwt.body.access_token))).active, true);

  await api.patch({ access_token_format: 'opaque', access_token_seconds: null });
  const opaque = await ask({ resource: api.identifier });
  equal(opaque.body.expires_in, 900);
  const token = String(opaque.body.access_token);
  match(token, /^lkc_[\w-]+\.[\w-]{43}$/);
  const { body } = await introspect(app, token);
  deepEqual([body.active, body.aud, body.scope], [true, api.identifier, 'read']);
  equal((await seenBy(app, api, token)).active, true);
  equal((await seenBy(app, api, `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`)).active, false);
  // What introspection tells an administrator is not the token.
  equal((await introspect(app, String(body.jti))).body.active, false);
  equal((await postForm(app, '/oauth2/revoke', { token })).status, 200);
  equal((await seenBy(app, api, token)).active, false);
});

test('introspection by the API: what it learns, and of its own tokens alone', async () => {
  const token = await tokenFor({ resource: orders.identifier });
  const { exp, iat, nbf, ...rest } = await seenBy(app, orders, token);
  deepEqual([typeof exp, nbf], ['number', iat]);
  deepEqual(rest, {
    active: true,
    sub: machine.id,
    scope: 'read write',
    client_id: machine.id,
    aud: orders.identifier,
  });
  deepEqual(await seenBy(app, sales, token), { active: false });
  deepEqual(await seenBy(app, sales, await tokenFor({})), { active: false });
  deepEqual(await seenBy(app, sales, 'nonsense'), { active: false });
  const { id, secret } = orders.credentials;
  const inForm = { client_id: id, client_secret: secret };
  equal((await postForm(app, '/oauth2/introspect', { token, ...inForm })).body.active, true);
  for (const wrong of [
    postForm(app, '/oauth2/introspect', { token }, basic({ id, secret: 'wrong' })),
    postForm(app, '/oauth2/introspect', { token }, basic({ id: 'api-none', secret })),
    postForm(app, '/oauth2/introspect', { token, client_id: id }),
    postForm(app, '/oauth2/introspect', { token, ...inForm }, basic(orders.credentials)),
  ]) {
    const answer = await wrong;
    deepEqual([answer.status, answer.body.error], [401, 'invalid_client']);
    match(answer.headers.get('www-authenticate') ?? '', /^Basic /);
    equal(answer.headers.get('cache-control'), 'no-store');
  }
  equal((await postForm(app, '/oauth2/introspect', {}, basic(orders.credentials))).status, 400);
  const own = await postForm(app, '/oauth2/introspect', { token }, basic(machine));
  deepEqual([own.body.active, own.body.aud, own.body.iss], [true, orders.identifier, app.issuer]);
});

test('attack: an API’s credentials asking for tokens of their own', async () => {
  const fields = { grant_type: 'client_credentials', resource: orders.identifier };
  for (const path of ['/oauth2/token', '/oauth2/par', '/oauth2/device_authorization', '/oauth2/revoke']) {
    const answer = await postForm(app, path, { token: 'x', ...fields }, basic(orders.credentials));
    deepEqual(refusal(answer), [401, 'invalid_client'], path);
  }
});

test('attack: a token for an API at userinfo, the account API and the admin API', async () => {
  const named = { name: 'openid2', description: 'Looks like ours', is_default: true };
  const api = await createApi(app, { scopes: [named], machine_grants: { [machine.id]: ['openid2'] } });
  for (const access_token_format of ['at+jwt', 'jwt', 'opaque']) {
    await api.patch({ access_token_format });
    const token = await tokenFor({ resource: api.identifier });
    equal((await seenBy(app, api, token)).active, true);
    equal((await userinfo(app, token)).status, 401, access_token_format);
    for (const path of ['/account/api/profile', '/admin/api/users', '/admin/api/stats'])
      equal((await call(app, 'GET', path, { headers: bearer(token) })).status, 401, path);
    equal((await introspect(app, token, bearer(token))).status, 401);
  }
});

test('attack: {identifier}/admin and other scopes of ours under an API’s name', async () => {
  const admin = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'openid admin',
  });
  const api = await createApi(app, { machine_grants: { [admin.id]: ['read'] } });
  for (const name of ['admin', 'admin:read', 'openid', '%61dmin']) {
    const scope = `${api.identifier}/${name}`;
    deepEqual(refusal(await ask({ scope }, admin)), [400, 'invalid_scope'], scope);
  }
  const { body } = await ask({ resource: api.identifier, scope: 'admin read' }, admin);
  equal(body.scope, 'read');
});

test('attack: identifiers that are prefixes of each other', async () => {
  const scopes = [{ name: 'read', description: 'Read' }];
  const outer = await createApi(app, {
    identifier: 'https://prefix.example.com/a',
    scopes,
    machine_grants: { [machine.id]: ['read'] },
  });
  await createApi(app, { identifier: 'https://prefix.example.com/a/b', scopes });
  equal((await ask({ scope: `${outer.identifier}/read` })).status, 200);
  for (const scope of [`${outer.identifier}/b/read`, `${outer.identifier}/b/.default`])
    deepEqual(refusal(await ask({ scope })), [400, 'invalid_target'], scope);
  deepEqual(refusal(await ask({ scope: 'https://prefix.example.com/read' })), [400, 'invalid_target']);
});

test('a withdrawn entry or scope, a deleted API: its tokens end at once', async () => {
  const client = await newMachine();
  const fields = { machine_grants: { [client.id]: ['read', 'write'] } };
  const api = await createApi(app, fields);
  const token = await tokenFor({ resource: api.identifier }, client);
  await api.patch({ machine_grants: { [client.id]: ['read'] } });
  equal((await seenBy(app, api, token)).scope, 'read');
  await api.patch({ machine_grants: {} });
  equal((await seenBy(app, api, token)).active, false);
  await api.patch(fields);
  equal((await seenBy(app, api, token)).active, true);
  const only = { name: 'read', description: 'See your orders' };
  await api.patch({ scopes: [only] });
  equal((await seenBy(app, api, token)).scope, 'read');
  await api.patch({ scopes: [{ ...only, name: 'other' }] });
  await api.patch({ scopes: [only], machine_grants: { [client.id]: ['read'] } });
  equal((await seenBy(app, api, token)).active, false, 'a scope of the same name revives nothing');

  const second = await tokenFor({ resource: api.identifier }, client);
  await api.remove();
  deepEqual((await introspect(app, second)).body, { active: false });
  const again: TestApi = await createApi(app, { ...fields, identifier: api.identifier });
  notEqual(again.id, api.id);
  deepEqual((await introspect(app, second, bearer(ADMIN_TOKEN))).body, { active: false });
  deepEqual(await seenBy(app, again, second), { active: false });
  equal((await postForm(app, '/oauth2/introspect', { token: second }, basic(api.credentials))).status, 401);
});
