// Attack: a registered client claims this server's own callback as its redirect URI, so that its codes would arrive at the
// Admin UI, /account or a test sign-in. Refused at registration in every way, and at use.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createIsOwnAddress } from '../../src/clients/own-addresses.ts';
import { clients } from '../../src/store/collections.ts';
import { call } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { allRoutes } from './routes.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const port = new URL(app.url).port;
const ours = [
  '/admin/callback',
  '/account/callback',
  '/admin/applications/try/callback',
  '/oauth2/login',
  '/',
  '/ADMIN/callback',
  '/%61dmin/callback',
  '//admin/callback',
].map((path) => `${app.url}${path}`);
const byOtherNames = [`http://localhost:${port}/admin/callback`, `http://[::1]:${port}/account/callback`];

test('attack: own callback by the admin API, PUT, PATCH and dynamic registration', async () => {
  const { id } = await app.register();
  const { body: initial } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  for (const uri of [...ours, ...byOtherNames]) {
    const members = { client_name: 'Evil', redirect_uris: [REDIRECT_URI, uri] };
    for (const [method, path] of [
      ['POST', '/clients'],
      ['PUT', `/clients/${id}`],
      ['PATCH', `/clients/${id}`],
    ] as const) {
      const { status, body } = await app.admin(method, path, members);
      equal(status, 400, `${method} ${uri}`);
      match(body.error?.fields?.redirect_uris ?? '', /Entry 2 must not be an address of this server/);
    }
    const registered = await call(app, 'POST', '/oauth2/register', {
      headers: { authorization: `Bearer ${initial.data.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(members),
    });
    deepEqual([registered.status, registered.body.error], [400, 'invalid_redirect_uri'], uri);
  }
});

test('attack: own callback when a registered client changes itself (RFC 7592)', async () => {
  const { body: initial } = await app.admin('POST', '/initial-access-tokens', { label: 'y' });
  const send = (method: string, path: string, token: unknown, members: object) =>
    call(app, method, path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(members),
    });
  const { body: made } = await send('POST', '/oauth2/register', initial.data.token, {
    redirect_uris: [REDIRECT_URI],
  });
  const changed = await send('PUT', `/oauth2/register/${made.client_id}`, made.registration_access_token, {
    client_id: made.client_id,
    redirect_uris: [ours[0]],
  });
  deepEqual([changed.status, changed.body.error], [400, 'invalid_redirect_uri']);
});

test('attack: own callback used by a client of an earlier version or a native one', async () => {
  const stored = app.store.collection(clients);
  const { id } = await app.register();
  const found = await stored.find(id);
  ok(found !== undefined);
  await stored.replace(id, found.version, {
    ...found.value,
    metadata: { ...found.value.metadata, redirect_uris: ours },
  });
  const native = await app.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['http://127.0.0.1/admin/callback', 'http://127.0.0.1/callback'],
  });
  const asked: readonly [string, string][] = [
    ...ours.map((uri): [string, string] => [id, uri]),
    [native.id, `http://127.0.0.1:${port}/admin/callback`],
  ];
  for (const [clientId, redirect_uri] of asked) {
    const page = await new Agent(app).authorize({ ...codeRequest(clientId), redirect_uri });
    deepEqual([page.status, page.location], [400, undefined], redirect_uri);
  }
  for (const redirect_uri of [`http://127.0.0.1:${port}/callback`, 'http://127.0.0.1:9/admin/callback']) {
    const page = await new Agent(app).authorize({ ...codeRequest(native.id), redirect_uri });
    ok(page.body.includes('name="password"'), redirect_uri);
  }
});

test('own callback: the built-in client returns to it', async () => {
  const page = await new Agent(app).authorize({
    ...codeRequest('latchkey-admin'),
    redirect_uri: `${app.url}/admin/callback`,
  });
  ok(page.body.includes('name="password"'));
});

test('own addresses: recognised under BASE_URL, with a path too, and no others', async () => {
  const atRoot = createIsOwnAddress('https://id.example.com');
  const below = createIsOwnAddress('https://example.com/auth');
  for (const { path } of await allRoutes(app)) {
    if (path === '/nothing/here') continue;
    ok(atRoot(`https://id.example.com${path}`), path);
    ok(below(`https://example.com/auth${path}`), path);
    equal(below(`https://example.com${path}`), false, path);
  }
  ok(atRoot('https://id.example.com./admin/callback'), 'the dot of the root');
  for (const other of [
    'https://id.example.com/app/callback',
    'https://id.example.com:8443/admin/callback',
    'https://id.example.com.evil.example/admin/callback',
    'com.example.app:/admin/callback',
  ])
    equal(atRoot(other), false, other);
});
