// What happens over HTTP is in the audit log: sign-ins, logouts, revocations, consents and every act of an administrator,
// with before and after, and without any secret.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, redeem, refresh } from '../support/agent.ts';
import { declaredRoutes } from '../support/api-document.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
before(async () => {
  app = await startApp({ store: 'sqlite' });
});
after(() => app.stop());

type Shown = Record<string, unknown>;

async function events(query: Record<string, string> = {}): Promise<Shown[]> {
  const parameters = new URLSearchParams({ limit: '1000', order: 'asc', sort: 'id', ...query });
  const { status, body } = await app.admin('GET', `/audit?${parameters}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data.items ?? [];
}

const named = async (event: string, query: Record<string, string> = {}): Promise<Shown[]> =>
  events({ event, ...query });

async function last(event: string, targetId: string): Promise<Shown> {
  const found = (await named(event, { target_id: targetId })).at(-1);
  assert.ok(found, `no ${event} of ${targetId}`);
  return found;
}

const bootstrap = { actor_kind: 'bootstrap', actor_id: 'ADMIN_TOKEN' };

function assertHas(event: Shown, expected: Shown): void {
  const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, event[name]]));
  assert.deepEqual(shown, expected);
}

test('sign-in: logged with user, address and outcome; the reason of a failure stays internal', async () => {
  const client = await app.register();
  const user = await app.createUser('sign-in');
  const agent = new Agent(app);
  const start = await agent.authorize(authorizationRequest(client.id));
  const fields = hiddenFields(start.body);
  const attempt = (username: string, password: string) =>
    agent.post(
      '/oauth2/login',
      { ...fields, username, password },
      { headers: { 'user-agent': 'Browser/7' } },
    );
  const wrong = await attempt('sign-in', 'wrong');
  const unknown = await attempt('nobody-here', 'wrong');
  const right = await attempt('sign-in', PASSWORD);
  assert.deepEqual([wrong.status, unknown.status, right.status], [401, 401, 303]);

  const place = { ip_address: '127.0.0.1', user_agent: 'Browser/7' };
  assertHas(await last('signin.failure', user.id), {
    outcome: 'failure',
    reason: 'wrong',
    actor_kind: 'anonymous',
    actor_id: null,
    target_kind: 'user',
    request_id: wrong.headers.get('x-request-id'),
    ...place,
  });
  assertHas(await last('signin.success', user.id), {
    outcome: 'success',
    reason: null,
    actor_kind: 'user',
    actor_id: user.id,
    request_id: right.headers.get('x-request-id'),
    client_id: client.id,
    details: { amr: ['pwd'], methods: ['password'] },
    ...place,
  });
  const unknownEvent = (await named('signin.failure')).find(({ reason }) => reason === 'unknown');
  assert.ok(unknownEvent);
  assert.ok(!JSON.stringify(unknownEvent).includes('nobody-here'), 'what was typed as a name is not told');
  assert.equal(unknownEvent.request_id, unknown.headers.get('x-request-id'));
});

test('lockout: one event; attempts on a locked account are logged as such', async () => {
  const client = await app.register();
  const user = await app.createUser('locked');
  const agent = new Agent(app);
  const fields = hiddenFields((await agent.authorize(authorizationRequest(client.id))).body);
  for (let index = 0; index < 6; index += 1) {
    await agent.post('/oauth2/login', { ...fields, username: 'locked', password: 'wrong' });
  }
  const locks = await named('signin.locked', { target_id: user.id });
  assert.equal(locks.length, 1);
  assert.match(JSON.stringify(locks[0]?.details), /"locked_until":"20/);
  assert.equal((await last('signin.failure', user.id)).reason, 'locked');
  await app.admin('POST', `/users/${user.id}/unlock`);
  const unlocked = await last('user.unlocked', user.id);
  assertHas(unlocked, bootstrap);
  const { before: was, after: is } = Object(unlocked.details);
  assert.match(String(was.locked_until), /^20/);
  assert.equal(is.locked_until, null);
});

test('consent, logout and revocation: logged', async () => {
  const client = await app.register({ skip_consent: false });
  const user = await app.createUser('consenting');
  const agent = new Agent(app);
  const tokens = await redeem(app, client, await agent.signIn(client.id, user, { scope: 'openid email' }));
  const consent = await last('consent.granted', user.id);
  assertHas(consent, { actor_kind: 'user', actor_id: user.id, client_id: client.id });
  assert.deepEqual(Object(consent.details).scopes, ['openid', 'email']);

  const { body: refreshed } = await refresh(app, client, tokens.body.refresh_token);
  const revoke = (token: string) =>
    fetch(`${app.url}/oauth2/revoke`, { method: 'POST', body: new URLSearchParams({ token }) });
  await revoke(refreshed.access_token);
  await revoke(refreshed.refresh_token);
  const revoked = await named('token.revoked', { client_id: client.id });
  assert.deepEqual(
    revoked.map(({ target_kind: kind }) => kind),
    ['token', 'grant'],
  );
  assert.equal(Object(revoked[1]?.details).user_id, user.id);
  await revoke('nonsense');
  assert.equal((await named('token.revoked')).length, revoked.length, 'nothing was revoked');

  await agent.get('/oauth2/logout', {
    headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
  });
  const ended = (await named('session.ended', { actor_id: user.id })).at(-1);
  assert.equal(Object(ended?.details).user_id, user.id);
  assert.equal(ended?.target_kind, 'session');
});

test('session ended by an administrator: attributed to the administrator', async () => {
  const client = await app.register();
  const user = await app.createUser('watched');
  await new Agent(app).signIn(client.id, user);
  const { body } = await app.admin('GET', `/users/${user.id}/sessions`);
  const id = String(body.data.items?.[0]?.id);
  await app.admin('DELETE', `/sessions/${id}`);
  assertHas(await last('session.revoked', id), bootstrap);
  assertHas(await last('session.ended', id), bootstrap);
});

test('user change: before and after of changed fields, private ones by name only (R131)', async () => {
  const user = await app.createUser('changed', { email: 'old@example.com', given_name: 'Canary-Given' });
  const created = await last('user.created', user.id);
  assertHas(created, bootstrap);
  assertHas(Object(Object(created.details).after), {
    username: 'changed',
    email: 'old@example.com',
    role: 'user',
  });

  await app.admin('PATCH', `/users/${user.id}`, {
    role: 'admin',
    email: 'new@example.com',
    nickname: 'Canary-Nick',
  });
  const { details } = await last('user.updated', user.id);
  assert.deepEqual(details, {
    fields: ['role', 'email', 'nickname'],
    before: { email: 'old@example.com', role: 'user' },
    after: { email: 'new@example.com', role: 'admin' },
  });
  await app.admin('PATCH', `/users/${user.id}`, { password: 'canary-password-9' });
  const password = Object((await last('user.updated', user.id)).details);
  assert.deepEqual(password.fields, ['password']);
  assert.deepEqual(Object.keys(password.after), ['password_changed_at']);

  await app.createUser('another-admin', { role: 'admin' });
  for (const [act, event] of [
    ['deactivate', 'user.deactivated'],
    ['reactivate', 'user.reactivated'],
    ['revoke-sessions', 'user.sessions_revoked'],
    ['reset-mfa', 'mfa.reset'],
  ] as const) {
    await app.admin('POST', `/users/${user.id}/${act}`);
    assertHas(await last(event, user.id), bootstrap);
  }
  await app.admin('POST', '/users/unlock', { user_id: user.id });
  assertHas(await last('user.unlocked', user.id), { details: { fields: ['user_id'] } });
  await app.admin('DELETE', `/users/${user.id}`);
  assert.equal(Object(Object((await last('user.removed', user.id)).details).before).username, 'changed');
});

test('clients and settings: before and after, secrets by name only', async () => {
  const client = await app.register({ client_name: 'Before' });
  await app.admin('PATCH', `/clients/${client.id}`, { client_name: 'After', access_token_seconds: 60 });
  assert.deepEqual((await last('client.updated', client.id)).details, {
    fields: ['client_name', 'access_token_seconds'],
    before: { client_name: 'Before', access_token_seconds: null },
    after: { client_name: 'After', access_token_seconds: 60 },
  });
  const rotated = await app.admin('POST', `/clients/${client.id}/rotate-secret`);
  assertHas(await last('client.secret_rotated', client.id), { ...bootstrap, client_id: client.id });
  await app.admin('DELETE', `/clients/${client.id}`);
  await last('client.removed', client.id);

  const smtp = 'smtp://robot:canary-smtp-password@mail.example.com:587';
  await app.admin('PATCH', '/settings', { product_name: 'Acme', smtp_url: smtp });
  const changed = (await named('settings.changed')).at(-1);
  assertHas(Object(changed), bootstrap);
  assert.deepEqual(changed?.details, {
    fields: ['product_name', 'smtp_url'],
    before: { product_name: 'Latchkey' },
    after: { product_name: 'Acme' },
  });
  const made = await app.admin('POST', '/initial-access-tokens', { label: 'For partners' });
  await app.admin('DELETE', `/initial-access-tokens/${made.body.data.id}`);
  await last('registration_token.removed', String(made.body.data.id));

  const written = JSON.stringify(await events());
  for (const secret of [
    client.secret,
    rotated.body.data.client_secret,
    made.body.data.token,
    'canary-smtp-password',
  ]) {
    assert.ok(typeof secret === 'string' && secret.length > 10);
    assert.ok(!written.includes(secret), secret);
  }
});

test('refused act: no event', async () => {
  const before = (await events()).length;
  assert.equal((await app.admin('POST', '/users', { username: 'x' })).status, 400);
  assert.equal((await app.admin('PATCH', '/settings', { nonsense: 1 })).status, 400);
  assert.equal((await app.admin('DELETE', '/users/nobody')).status, 404);
  await app.admin('GET', '/users');
  assert.equal((await events()).length, before);
});

test('self-registered client: registration and management are logged', async () => {
  const call = (method: string, path: string, bearer: string, body?: unknown) =>
    fetch(app.url + path, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const metadata = { redirect_uris: [REDIRECT_URI], client_name: 'Itself' };
  const made = await app.admin('POST', '/initial-access-tokens', { label: 'One' });
  const token = String(made.body.data.token);
  const registered: Record<string, string> = JSON.parse(
    await (await call('POST', '/oauth2/register', token, metadata)).text(),
  );
  const id = String(registered.client_id);
  const own = String(registered.registration_access_token);
  assertHas(await last('client.created', id), { actor_kind: 'anonymous', client_id: id });
  await call('PUT', `/oauth2/register/${id}`, own, { ...metadata, client_id: id, client_name: 'Renamed' });
  assertHas(await last('client.updated', id), { actor_kind: 'client', actor_id: id });
  await call('DELETE', `/oauth2/register/${id}`, own);
  await last('client.removed', id);
  const written = JSON.stringify(await events());
  for (const secret of [token, own, String(registered.client_secret)]) assert.ok(!written.includes(secret));
});

test('onboarding: logged', async () => {
  const fresh = await startApp();
  try {
    const account = await fresh.app.accounts.createFirstAdmin({ username: 'root-user', password: PASSWORD });
    const { body } = await fresh.admin('GET', '/audit?event=onboarding.completed');
    assertHas(Object(body.data.items?.[0]), { actor_kind: 'system', target_id: account.id });
  } finally {
    await fresh.stop();
  }
});

test('audit list: filters, times and pages', async () => {
  const [first] = await events();
  assert.ok(first);
  const failures = await events({ outcome: 'failure' });
  assert.ok(failures.length > 0 && failures.every(({ outcome }) => outcome === 'failure'));
  const mine = await events({ actor_id: 'ADMIN_TOKEN', event: 'user.created' });
  assert.ok(mine.length > 0 && mine.every(({ event }) => event === 'user.created'));
  assert.equal((await events({ at_to: '2020-01-01T00:00:00Z' })).length, 0);
  assert.equal((await events({ at_from: '2020-01-01T00:00:00Z' })).length, (await events()).length);
  const page = await app.admin('GET', '/audit?limit=2');
  const [newest, second] = page.body.data.items ?? [];
  assert.ok(String(newest?.id) > String(second?.id), 'the latest first');
  const next = await app.admin('GET', `/audit?limit=2&cursor=${page.body.data.next}`);
  assert.ok(String(next.body.data.items?.[0]?.id) < String(second?.id));
  assert.deepEqual((await app.admin('GET', `/audit/${first.id}`)).body.data, first);
  for (const [query, name] of [
    ['outcome=maybe', 'outcome'],
    ['at_from=yesterday', 'at_from'],
    ['colour=red', 'colour'],
    ['sort=details', 'sort'],
  ] as const) {
    const { status, body } = await app.admin('GET', `/audit?${query}`);
    assert.deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, [name]]);
  }
  assert.equal((await app.admin('GET', '/audit/nothing')).status, 404);
});

test('audit access: administrators only, and no one writes or removes events', async () => {
  for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
    assert.equal((await fetch(`${app.url}/admin/api/audit`, { headers })).status, 401);
  }
  const [first] = await events();
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of ['/audit', `/audit/${first?.id}`]) {
      assert.equal((await app.admin(method, path, {})).status, 405, `${method} ${path}`);
    }
  }
});

test('audit coverage: every route that changes something has its own event', () => {
  const unnamed = declaredRoutes()
    .filter((route) => route.method !== 'GET' && route.recorded === undefined)
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(unnamed, []);
});

test('audit log: canary secrets of a whole account life appear nowhere (R147)', async () => {
  const canaryPassword = 'canary-Password-4711';
  const client = await app.register();
  await app.createUser('carol', { password: canaryPassword });
  const agent = new Agent(app);
  const first = await agent.authorize(authorizationRequest(client.id));
  await agent.post('/oauth2/login', {
    ...hiddenFields(first.body),
    username: canaryPassword,
    password: 'carol',
  });
  const authorization = await agent.signIn(client.id, { username: 'carol', password: canaryPassword });
  const { body } = await redeem(app, client, authorization);
  const { body: again } = await refresh(app, client, body.refresh_token);
  await fetch(`${app.url}/oauth2/revoke`, {
    method: 'POST',
    body: new URLSearchParams({ token: again.refresh_token }),
  });
  const cookies = agent
    .cookiesFor('/')
    .split('; ')
    // Which way in was used last: a word, no secret.
    .filter((pair) => !pair.startsWith('latchkey_method='))
    .map((pair) => pair.slice(pair.indexOf('=') + 1));
  await agent.get('/oauth2/logout', {
    headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
  });
  const secrets = [
    canaryPassword,
    ADMIN_TOKEN,
    client.secret,
    authorization.code,
    authorization.verifier,
    body.access_token,
    body.refresh_token,
    body.id_token,
    again.refresh_token,
    ...cookies,
  ];
  const written = JSON.stringify(await events());
  for (const secret of secrets) {
    assert.ok(secret.length > 10, 'a canary that is too short proves nothing');
    assert.ok(!written.includes(secret), secret);
  }
});

function authorizationRequest(clientId: string): Record<string, string> {
  return {
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
  };
}
