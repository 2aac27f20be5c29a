// Attacks with an administrator's browser or token left open (decision 0011): no act that grants access,
// shows secrets or cannot be undone accepts a sign-in older than five minutes, by page or program. The table of all acts is
// src/model/acts.ts; each declared route is compared with it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { nameOf, type Route } from '../../src/admin/api/route.ts';
import { operationNames, operationOf } from '../../src/model/account-api.ts';
import {
  ACCOUNT_PAGE_ACTS,
  type ActSensitivity,
  ADMIN_ACTS,
  actIn,
  FRESH_ANSWERS,
} from '../../src/model/acts.ts';
import { membersOf } from '../../src/model/members.ts';
import { bearer, call, tokensOf } from '../flows/support.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { declaredRoutes } from '../support/api-document.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let client: { id: string; secret: string };
let victim: { id: string; username: string };

before(async () => {
  app = await startApp();
  client = await app.register({ scope: 'openid profile admin account', client_name: 'Shop' });
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

const STALE_MS = 301_000;

/** The addresses of all forms and ceremonies below /account, as the sources declare them. */
function accountForms(): string[] {
  const sources = ['routes', 'passkeys-page'].map((name) =>
    readFileSync(new URL(`../../src/self-service/${name}.ts`, import.meta.url), 'utf8'),
  );
  const declared = /(?:\['POST', |router\.post\(\s*)'(\/account[^']*)'/g;
  return sources.flatMap((text) => [...text.matchAll(declared)].map(([, path = '']) => path)).sort();
}

const routes = declaredRoutes();
const routeNames = new Set(routes.map(nameOf));
const propertiesOf = (route: Route): string[] =>
  route.body && 'properties' in route.body ? Object.keys(Object(route.body.properties)) : [];

const actOf = (route: Route): ActSensitivity | undefined => actIn<ActSensitivity>(ADMIN_ACTS, nameOf(route));

/** Of a member, one that says something and one that something new has anyway. */
const given: Readonly<Record<string, unknown>> = {
  username: 'evil',
  email: 'evil@example.com',
  other_emails: ['evil@example.com'],
  is_email_verified: true,
  phone_number_verified: true,
  role: 'admin',
  totp_verified: true,
  is_active: false,
  send_mail: false,
};

test('acts: the table has exactly the routes that change something', () => {
  for (const name of Object.keys(ADMIN_ACTS)) assert.ok(routeNames.has(name), `there is no ${name}`);
  for (const name of Object.keys(FRESH_ANSWERS)) assert.ok(routeNames.has(name), `there is no ${name}`);
  for (const route of routes.filter(({ method }) => method !== 'GET'))
    assert.notEqual(actOf(route), undefined, nameOf(route));
});

test('acts: a route that writes a member says how sensitive it is', () => {
  for (const route of routes) {
    const act = actOf(route);
    const isWhole = act === 'sensitive' || (typeof act === 'object' && 'unless' in act);
    if (isWhole || route.method === 'GET') continue;
    assert.equal(route.lines, undefined, `${nameOf(route)} reads lines, whose members nobody looks at`);
    const written = propertiesOf(route);
    if (act === 'plain' || act === undefined || !('members' in act)) {
      assert.deepEqual(
        written,
        [],
        `${nameOf(route)} writes members that src/model/members.ts does not have`,
      );
      continue;
    }
    const said = new Set(membersOf(act.members).map(({ name }) => name));
    for (const name of written) assert.ok(said.has(name), `${nameOf(route)} writes ${name}`);
  }
});

test('acts: no member of the tables that no act writes', () => {
  const writers = routes.map((route) => ({ act: actOf(route), written: propertiesOf(route) }));
  for (const table of [
    'user',
    'group',
    'client',
    'api',
    'invitation',
    'test_mail',
    'picture',
    'user_reference',
  ] as const) {
    const written = new Set(
      writers.flatMap((one) =>
        typeof one.act === 'object' && 'members' in one.act && one.act.members === table ? one.written : [],
      ),
    );
    assert.deepEqual(
      membersOf(table).flatMap(({ name }) => (written.has(name) ? [] : [name])),
      [],
      table,
    );
  }
});

/** Each request that a stale sign-in must not get through, and each that it may. */
function requestsOf(route: Route): { body: object; isRefused: boolean }[] {
  const act = actOf(route);
  if (act === undefined || act === 'plain') return [{ body: {}, isRefused: false }];
  if (act === 'sensitive' || 'unless' in act) return [{ body: {}, isRefused: true }];
  const written = new Set(propertiesOf(route));
  return membersOf(act.members).flatMap(({ name, sensitivity, initial = [] }) => {
    if (!written.has(name)) return [];
    const isNew = act.of === 'new';
    const isSensitive = sensitivity === 'sensitive' || (!isNew && sensitivity !== 'plain');
    return [
      { body: { [name]: given[name] ?? 'x' }, isRefused: isSensitive },
      ...(isNew ? initial.map((value) => ({ body: { [name]: value }, isRefused: false })) : []),
      ...(isNew && sensitivity === 'address'
        ? [{ body: { [name]: 'evil@example.com' }, isRefused: true }]
        : []),
    ];
  });
}

const NOWHERE = '00000000-0000-4000-8000-000000000000';

test('attack: a user’s token older than five minutes at every route, with every member', async () => {
  const { username } = await app.createUser('root-by-token', { role: 'admin' });
  const { access_token: token } = await tokensOf(app, client, { username }, { scope: 'openid admin' });
  app.advance(STALE_MS);
  for (const route of routes) {
    const isRead = route.method === 'GET';
    const type = route.lines ? 'application/x-ndjson' : 'application/json';
    for (const { body, isRefused } of requestsOf(route)) {
      const answer = await call(
        app,
        route.method,
        `/admin/api${route.path.replaceAll(/\{\w+\}/g, NOWHERE)}`,
        {
          headers: { ...bearer(token), ...(!isRead && { 'content-type': type }) },
          ...(!isRead && route.method !== 'DELETE' && { body: JSON.stringify(body) }),
        },
      );
      const about = `${nameOf(route)} ${JSON.stringify(body)}: ${answer.text.slice(0, 300)}`;
      if (!isRefused) {
        assert.doesNotMatch(answer.text, /"reason":"auth\.stale"/, about);
        continue;
      }
      assert.equal(answer.status, 403, about);
      assert.match(answer.text, /"reason":"auth\.stale"/, about);
      assert.match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_user_authentication"/);
    }
  }
  // Programs have no one to ask.
  const made = await call(app, 'POST', '/admin/api/api-keys', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'x', scopes: ['admin'], expires_in_seconds: 3600 }),
  });
  assert.equal(made.status, 201, made.text);
  const byKey = await call(app, 'PATCH', '/admin/api/settings', {
    headers: { ...bearer(String(Object(made.body.data).api_key)), 'content-type': 'application/json' },
    body: '{"password_min_length":8}',
  });
  assert.equal(byKey.status, 200, byKey.text);
});

test('attack: a stale administrator creates a user with any verified address, or renames one', async () => {
  const { username } = await app.createUser('root-who-left', { role: 'admin' });
  const { access_token: token } = await tokensOf(app, client, { username }, { scope: 'openid admin' });
  const send = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
    call(app, method, `/admin/api${path}`, {
      headers: { ...bearer(token), 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const boss = { username: 'boss', password: 'an attacker chose this one', email: 'boss@example.com' };
  const once = { 'idempotency-key': 'invited-while-fresh' };
  const invitation = { email: 'friend@example.net', send_mail: true };
  const fresh = await send('POST', '/invitations', invitation, once);
  assert.match(String(Object(fresh.body.data).url), /^http/, 'a fresh sign-in reads the link');
  app.advance(STALE_MS);
  const before = (await app.admin('GET', '/users')).body.data.total;
  for (const [method, path, body] of [
    ['POST', '/users', boss],
    ['POST', '/users', { ...boss, is_email_verified: true }],
    ['POST', '/users', { ...boss, username: 'boss@example.com' }],
    ['PATCH', `/users/${victim.id}`, { username: 'renamed' }],
    ['PUT', `/users/${victim.id}`, { username: 'renamed' }],
    ['PATCH', `/users/${victim.id}`, { phone_number_verified: true }],
    ['POST', '/invitations', { ...invitation, send_mail: false }],
  ] as const) {
    const answer = await send(method, path, body);
    assert.equal(Object(answer.body.error).reason, 'auth.stale', `${method} ${path}: ${answer.text}`);
  }
  assert.equal((await app.admin('GET', '/users')).body.data.total, before);
  assert.equal((await app.admin('GET', `/users/${victim.id}`)).body.data.username, victim.username);
  for (const headers of [{}, once]) {
    const mailed = await send('POST', '/invitations', invitation, headers);
    assert.equal(mailed.status, 201, mailed.text);
    assert.equal(Object(mailed.body.data).url, undefined, 'nobody but who gets the mail reads the link');
  }
  const nobody = await send('POST', '/users', {
    username: 'without-address',
    password: boss.password,
    role: 'user',
  });
  assert.equal(nobody.status, 201, nobody.text);
  const plain = await send('PATCH', `/users/${victim.id}`, { name: 'Plain' });
  assert.equal(plain.status, 200, plain.text);
});

test('acts of people on their own account: table and pages are one list', () => {
  const pages = accountForms();
  assert.ok(pages.length > 20);
  assert.deepEqual(Object.keys(ACCOUNT_PAGE_ACTS).sort(), pages);
});

test('attack: a browser or token left open, at every act on the own account', async () => {
  const person = await app.createUser('left-open', {
    email: 'left-open@example.com',
    is_email_verified: true,
  });
  const { access_token: token } = await tokensOf(app, client, person, { scope: 'openid account' });
  const agent = new Agent(app);
  const csrf =
    hiddenFields(
      (
        await agent.submit(await agent.follow(await agent.get('/account')), {
          username: person.username,
          password: PASSWORD,
        })
      ).body,
    ).csrf ?? '';
  app.advance(STALE_MS);
  for (const name of operationNames) {
    const { act } = operationOf(name);
    const [method = '', path = ''] = name.split(' ');
    const isRead = method === 'GET';
    const answer = await call(app, method, `/account/api${path.replace(':id', NOWHERE)}`, {
      headers: { ...bearer(token), ...(!isRead && { 'content-type': 'application/json' }) },
      ...(!isRead &&
        method !== 'DELETE' && { body: name === 'PATCH /profile' ? '{"username":"other"}' : '{}' }),
    });
    const isStale = /"auth\.stale"/.test(answer.text);
    assert.equal(isStale, act === 'sensitive', `${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  for (const [path, act] of Object.entries(ACCOUNT_PAGE_ACTS)) {
    if (act !== 'sensitive') continue;
    const answer = path.includes('/register/')
      ? await agent.post(path, { csrf })
      : await agent.post(path, { csrf, id: NOWHERE, email: 'evil@example.com' });
    const isAsked = answer.status === 303 && /prompt=login/.test(answer.location ?? '');
    // What is bound to one secret, or is JSON, is refused before.
    assert.ok(
      isAsked || [400, 403, 415].includes(answer.status),
      `${path}: ${answer.status} ${answer.location}`,
    );
  }
  const { body } = await app.admin('GET', `/users/${person.id}`);
  assert.deepEqual(
    [body.data.email, body.data.other_emails, body.data.deletion_due_at],
    ['left-open@example.com', [], null],
  );
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
    '/admin/invitations': { email: 'evil@example.com', days: '7' },
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
  const kept = {
    ...form,
    client_name: 'Shop',
    redirect_uris: REDIRECT_URI,
    rotate_refresh_tokens: 'auto',
    csrf,
  };
  assert.equal((await agent.post(shop, kept)).status, 303);
});
