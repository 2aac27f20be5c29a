// Attacks with an administrator's browser or token left open (decisions §8; checklist R098, R114): no act that grants access,
// shows secrets or cannot be undone accepts a sign-in older than five minutes, by page or program. The table of all acts with
// their sensitivity is here.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bearer, call, tokensOf } from '../flows/support.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

/** Every act of the admin API; `true`: always sensitive. A new route belongs in here, or this fails. */
const SENSITIVE: Readonly<Record<string, true | string>> = {
  'POST /api-keys': true,
  'DELETE /api-keys/{id}': true,
  'POST /clients': true,
  'PUT /clients/{client_id}': true,
  'PATCH /clients/{client_id}': true,
  'DELETE /clients/{client_id}': true,
  'POST /clients/{client_id}/rotate-secret': true,
  'PUT /groups/{id}': true,
  'PATCH /groups/{id}': true,
  'DELETE /groups/{id}': true,
  'POST /groups/{id}/members': true,
  'POST /initial-access-tokens': true,
  'DELETE /initial-access-tokens/{id}': true,
  'POST /keys/rotate': true,
  'GET /mails': 'except with the state',
  'GET /mails/{id}': true,
  'PUT /settings': true,
  'PATCH /settings': true,
  'PUT /settings/mail-server': true,
  'PUT /branding': true,
  'PATCH /branding': true,
  'POST /branding/restore': true,
  'POST /branding/mails/restore': true,
  'PUT /branding/mails': true,
  'PUT /branding/mails/{mail}/{language}': true,
  'PUT /clients/{client_id}/branding': true,
  'PATCH /clients/{client_id}/branding': true,
  'POST /clients/{client_id}/branding/restore': true,
  'POST /resources': true,
  'POST /resources/import': true,
  'PUT /resources/{id}': true,
  'PATCH /resources/{id}': true,
  'DELETE /resources/{id}': true,
  'POST /resources/{id}/rotate-secret': true,
  'POST /settings/import': 'unless `dry_run`',
  'POST /users': 'for a `role`',
  'PUT /users/{id}': 'when the body has `role`, `password`, `email`',
  'PATCH /users/{id}': 'when the body has `role`, `password`, `email`',
  'DELETE /users/{id}': true,
  'DELETE /users/{id}/passkeys/{passkey_id}': true,
  'POST /users/import': true,
  'POST /users/{id}/deactivate': true,
  'POST /users/{id}/reactivate': true,
  'POST /users/{id}/reset-mfa': true,
  'POST /users/{id}/send-enrolment-link': true,
};

const PLAIN = new Set([
  'DELETE /groups/{id}/members/{user_id}',
  'DELETE /invitations/{id}',
  'DELETE /sessions/{id}',
  'DELETE /tokens/{id}',
  'DELETE /users/{id}/grants/{grant_id}',
  'DELETE /users/{id}/sessions/{session_id}',
  'DELETE /users/{id}/trusted-devices/{device_id}',
  'POST /clients/{client_id}/test-logout',
  'POST /groups',
  'POST /invitations',
  'POST /settings/test-email',
  'POST /branding/pictures',
  'POST /users/unlock',
  'POST /users/{id}/revoke-sessions',
  'POST /users/{id}/send-email-verification',
  'POST /users/{id}/send-password-reset',
  'POST /users/{id}/remove-picture',
  'POST /users/{id}/unlock',
]);

let app: TestApp;
let client: { id: string; secret: string };
let victim: { id: string; username: string };

before(async () => {
  app = await startApp();
  client = await app.register({ scope: 'openid profile admin', client_name: 'Shop' });
  victim = await app.createUser('victim', { email: 'victim@example.com' });
});
after(() => app.stop());

async function enter(username: string): Promise<Agent> {
  await app.createUser(username, { role: 'admin' });
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  assert.equal((await agent.submit(page, { username, password: PASSWORD })).status, 200);
  return agent;
}

const isSentToSignIn = ({ status, location }: Page): boolean =>
  status === 303 && location?.includes('/oauth2/authorize?client_id=latchkey-admin') === true;

interface Operation {
  readonly name: string;
  readonly description: string;
}

async function operations(): Promise<Operation[]> {
  const { body } = await call(app, 'GET', '/admin/api/openapi.json', { headers: bearer(ADMIN_TOKEN) });
  const paths: Record<string, Record<string, { description: string }>> = { ...Object(body.paths) };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      description,
    })),
  );
}

test('sensitivity table: lists exactly the acts of the admin API', async () => {
  const all = await operations();
  assert.ok(all.length > 60);
  for (const { name, description } of all) {
    const told = / Sensitive(?:, ([^:]*))?: a user must/.exec(description);
    const expected = SENSITIVE[name];
    if (expected === undefined) {
      assert.equal(told, null, `${name} is sensitive`);
      assert.ok(PLAIN.has(name) || name.startsWith('GET '), `${name} is in neither list`);
    } else if (expected === true) assert.deepEqual([told?.length, told?.[1]], [2, undefined], name);
    else assert.ok(told?.[1]?.startsWith(expected), `${name}: ${told?.[1]}`);
  }
  const names = new Set(all.map(({ name }) => name));
  for (const name of [...Object.keys(SENSITIVE), ...PLAIN]) assert.ok(names.has(name), `there is no ${name}`);
});

test('attack: a user’s token older than five minutes at each sensitive act', async () => {
  const { username } = await app.createUser('root-by-token', { role: 'admin' });
  const { access_token: token } = await tokensOf(app, client, { username }, { scope: 'openid admin' });
  const body = JSON.stringify({ name: 'x', scopes: ['admin'], expires_in_seconds: 3600 });
  const send = (bearerOf: string) =>
    call(app, 'POST', '/admin/api/api-keys', {
      headers: { ...bearer(bearerOf), 'content-type': 'application/json' },
      body,
    });
  assert.equal((await send(token)).status, 201, 'a fresh one does');
  app.advance(301_000);
  const whole: Readonly<Record<string, string>> = {
    'POST /users': '{"username":"evil","role":"admin"}',
    'PATCH /users/{id}': '{"role":"admin"}',
    'PUT /users/{id}': '{"email":"evil@example.com"}',
  };
  for (const name of Object.keys(SENSITIVE)) {
    const [method = '', path = ''] = name.split(' ');
    const isRead = method === 'GET';
    const answer = await call(app, method, `/admin/api${path.replaceAll(/\{\w+\}/g, victim.id)}`, {
      headers: { ...bearer(token), ...(!isRead && { 'content-type': 'application/json' }) },
      ...(!isRead && method !== 'DELETE' && { body: whole[name] ?? '{}' }),
    });
    assert.equal(answer.status, 403, `${name}: ${answer.text}`);
    assert.match(answer.text, /"reason":"auth\.stale"/, name);
    assert.match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_user_authentication"/);
  }
  for (const path of ['/users', '/mails?state=failed', '/settings', '/audit'])
    assert.equal((await call(app, 'GET', `/admin/api${path}`, { headers: bearer(token) })).status, 200, path);
  const rename = await call(app, 'PATCH', `/admin/api/users/${victim.id}`, {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: '{"name":"Plain"}',
  });
  assert.equal(rename.status, 200, rename.text);
  // Programs have no one to ask.
  const made = await send(ADMIN_TOKEN);
  assert.equal(made.status, 201);
  const byKey = await call(app, 'PATCH', '/admin/api/settings', {
    headers: { ...bearer(String(Object(made.body.data).api_key)), 'content-type': 'application/json' },
    body: '{"password_min_length":8}',
  });
  assert.equal(byKey.status, 200, byKey.text);
});

test('attack: an administrator’s browser left open, at each Admin UI form that grants access', async () => {
  const agent = await enter('root-at-lunch');
  const csrf = hiddenFields((await agent.get('/admin/users')).body).csrf ?? '';
  const shop = `/admin/applications/${client.id}`;
  const form = hiddenFields((await agent.get(shop)).body);
  app.advance(301_000);
  const state = async (): Promise<unknown> => [
    (await app.admin('GET', `/users/${victim.id}`)).body.data,
    (await app.admin('GET', `/clients/${client.id}`)).body.data,
    (await app.admin('GET', '/settings')).body.data,
    (await app.admin('GET', '/users')).body.data.total,
    (await app.admin('GET', '/api-keys')).body.data.total,
    (await app.admin('GET', '/keys')).body.data,
  ];
  const before = await state();
  const posts: Readonly<Record<string, Record<string, string>>> = {
    [`/admin/users/${victim.id}/role`]: { role: 'admin' },
    [`/admin/users/${victim.id}/password`]: { password: 'an attacker chose this one' },
    [`/admin/users/${victim.id}/reset-mfa`]: {},
    [`/admin/users/${victim.id}/deactivate`]: {},
    [`/admin/users/${victim.id}/delete`]: { confirm: 'victim' },
    [`/admin/users/${victim.id}/edit`]: { username: 'victim', email: 'evil@example.com' },
    '/admin/users/new': { username: 'evil', role: 'admin', password: 'an attacker chose this one' },
    [shop]: { ...form, client_name: 'Shop', redirect_uris: 'https://evil.example/callback' },
    [`${shop}/rotate-secret`]: { overlap_hours: '0' },
    [`${shop}/delete`]: { confirm: 'Shop' },
    '/admin/settings/sign-in': { 'was.password_min_length': '8', password_min_length: '9' },
    '/admin/settings/mail/server': { host: 'mail.evil.example', encryption: 'tls' },
    '/admin/api-keys/new': { name: 'evil', access: 'all', days: '30' },
    '/admin/keys/rotate': { mode: 'now' },
  };
  for (const [path, fields] of Object.entries(posts)) {
    const answer = await agent.post(path, { ...fields, csrf });
    assert.ok(
      isSentToSignIn(answer),
      `${path}: ${answer.status} ${answer.location ?? answer.body.slice(0, 200)}`,
    );
    assert.match(answer.location ?? '', /prompt=login/, path);
  }
  for (const path of ['/admin/outbox', '/admin/outbox/none', '/admin/api-keys/new'])
    assert.ok(isSentToSignIn(await agent.get(path)), path);
  assert.deepEqual(await state(), before);
  // Reading, and what opens nothing, goes on.
  assert.equal((await agent.get('/admin')).status, 200);
  const edit = await agent.get(`/admin/users/${victim.id}/edit`);
  const renamed = {
    ...hiddenFields(edit.body),
    username: 'victim',
    email: 'victim@example.com',
    name: 'New',
  };
  const saved = await agent.post(`/admin/users/${victim.id}/edit`, renamed);
  assert.match(saved.location ?? '', /done=user-saved/, saved.body.slice(0, 500));
  // Authenticated again, it comes back to where the form is.
  const asked = await agent.follow(await agent.get('/admin/outbox'));
  const back = await agent.submit(asked, { username: 'root-at-lunch', password: PASSWORD });
  assert.equal(new URL(back.url).pathname, '/admin/outbox');
  assert.equal(back.status, 200);
  assert.equal(
    (await agent.post(shop, { ...form, client_name: 'Shop', redirect_uris: REDIRECT_URI, csrf })).status,
    303,
  );
});
