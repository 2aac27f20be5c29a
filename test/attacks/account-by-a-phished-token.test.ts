// Attacks that turn a token which was got with little into somebody's account: a device code that the victim confirms, a password
// given to a program, an authorization that nobody saw, a token of before the account API had scopes. The account API asks for a
// scope of its own and for an authentication in the very authorization that the token comes from.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { clients as clientCollection } from '../../src/store/collections.ts';
import {
  bearer,
  call,
  change,
  introspect,
  later,
  postForm,
  requestTokensOf,
  tokensOf,
  type User,
} from '../flows/support.ts';
import { Agent, codeRequest, type Page, redeem, requestTokens, VERIFIER } from '../support/agent.ts';
import { opensAccounts, PASSWORD, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';
import { enrolPhone } from '../support/phone.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';

const BEGIN = '/account/api/passkeys/register/begin';
const PROFILE = '/account/api/profile';
const SCOPE = 'openid offline_access account';

const app = await startApp({ store: 'sqlite', env: { SECRET_KEY } });
after(() => app.stop());
const portal = await app.register(opensAccounts);

let people = 0;
async function person(fields: Record<string, unknown> = {}): Promise<User> {
  people += 1;
  return app.createUser(`victim-${people}`, fields);
}

const at = async (path: string, token: string, method = 'GET') => {
  const answer = await call(app, method, path, { headers: bearer(token) });
  return { ...answer, reason: JSON.parse(answer.text || '{}').error?.reason };
};

const challengeOf = ({ headers }: { readonly headers: Headers }): string =>
  headers.get('www-authenticate') ?? '';

/** The victim opens the address that the attacker sent, and presses Connect. */
async function confirm(agent: Agent, userCode: string, who: User): Promise<Page> {
  const form = await agent.get('/oauth2/device');
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form.body) ?? [];
  const question = await agent.post('/oauth2/device', { xsrf, user_code: userCode });
  const page = await agent.submit(question, { confirm: 'yes' });
  if (!page.body.includes('name="password"') || who.username === '') return page;
  return agent.submit(page, { username: who.username, password: PASSWORD });
}

async function phish(
  client: { id: string; secret: string },
  who: User,
  more: Record<string, string> = {},
  agent = new Agent(app),
) {
  const asked = { client_id: client.id, scope: SCOPE, ...more };
  const { status, body: device, text } = await postForm(app, '/oauth2/device_authorization', asked);
  equal(status, 200, text);
  const page = await confirm(agent, String(device.user_code), who);
  const { body } = await requestTokens(app, client, {
    grant_type: DEVICE_GRANT,
    device_code: String(device.device_code),
  });
  ok(body.access_token, `${JSON.stringify(body)} ${page.body.slice(0, 400)}`);
  return body;
}

const devices = await app.register({
  ...television,
  grant_types: [DEVICE_GRANT, 'refresh_token'],
  ...opensAccounts,
});

test('attack: a phished device code of a first-party application adds a passkey', async () => {
  const victim = await person();
  const tokens = await phish(devices, victim);
  equal(tokens.scope, 'openid offline_access', 'never granted by a device code');
  const refreshed = await requestTokensOf(app, devices, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    scope: SCOPE,
  });
  for (const token of [tokens.access_token, String(refreshed.access_token)])
    for (const [method, path] of [
      ['POST', BEGIN],
      ['GET', PROFILE],
      ['POST', '/account/api/totp'],
    ] as const) {
      const answer = await at(path, token, method);
      deepEqual([answer.status, answer.reason], [403, 'auth.insufficient_scope'], path);
      match(challengeOf(answer), /error="insufficient_scope".*scope="account"/);
    }
});

test('attack: a device code of a client that got the scope elsewhere in the same session', async () => {
  const victim = await person();
  const both = await app.register({
    grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    token_endpoint_auth_method: 'none',
    ...opensAccounts,
  });
  const agent = new Agent(app);
  const own = await tokensOf(app, both, victim, { scope: SCOPE }, agent);
  equal(own.scope, SCOPE);
  const tokens = await phish(both, victim, {}, agent);
  equal(tokens.scope, 'openid offline_access');
  equal((await at(BEGIN, tokens.access_token, 'POST')).status, 403);
  equal(
    (await at(BEGIN, String(own.access_token), 'POST')).status,
    200,
    'the sign-in in the browser goes on',
  );
});

/** Whether the person, signed in 20 minutes ago, is asked to sign in again by pressing Connect. */
async function isAskedAgain(client: { id: string }, more: Record<string, string>): Promise<boolean> {
  const victim = await person();
  const agent = new Agent(app);
  await agent.signIn(portal.id, victim);
  return later(20 * 60_000, async () => {
    const asked = { client_id: client.id, scope: 'openid', ...more };
    const { status, body, text } = await postForm(app, '/oauth2/device_authorization', asked);
    equal(status, 200, text);
    const page = await confirm(agent, String(body.user_code), { ...victim, username: '' });
    return page.body.includes('name="password"');
  });
}

test('attack: max_age and prompt in a device request force the fresh sign-in of the victim', async () => {
  for (const more of [
    { max_age: '1' },
    { max_age: '0' },
    { max_age: 'soon' },
    { prompt: 'login' },
    { prompt: 'none login' },
  ])
    equal(await isAskedAgain(devices, more), false, JSON.stringify(more));
});

test('device flow: what the application is registered with is asked for all the same', async () => {
  for (const rule of [{ max_auth_age: 60 }, { default_max_age: 60 }]) {
    const strict = await app.register({ ...television, ...rule });
    equal(await isAskedAgain(strict, { max_age: '86400' }), true, JSON.stringify(rule));
  }
});

test('attack: a password given to a program opens the account', async () => {
  const victim = await person();
  const program = await app.register({
    grant_types: ['password', 'refresh_token', 'authorization_code'],
    ...opensAccounts,
  });
  const { body } = await requestTokens(app, program, {
    grant_type: 'password',
    username: victim.username,
    password: PASSWORD,
    scope: SCOPE,
  });
  equal(body.scope, 'openid offline_access');
  const alone = { grant_type: 'password', username: victim.username, password: PASSWORD, scope: 'account' };
  equal((await requestTokens(app, program, alone)).body.error, 'invalid_scope');
  const refreshed = await requestTokensOf(app, program, {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
    scope: SCOPE,
  });
  for (const token of [body.access_token, String(refreshed.access_token)])
    equal((await at(PROFILE, token)).status, 403);
});

test('attack: an application asks for the scope for itself', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    ...opensAccounts,
  });
  const asked = { grant_type: 'client_credentials', scope: 'profile account' };
  const { body } = await requestTokens(app, machine, asked);
  equal(body.scope, 'profile');
  equal((await at(PROFILE, body.access_token)).status, 403);
  const alone = { grant_type: 'client_credentials', scope: 'account account:read' };
  equal((await requestTokens(app, machine, alone)).body.error, 'invalid_scope');
});

test('account scope: never a default; what is not allowed is left out', async () => {
  const who = await person();
  const agent = new Agent(app);
  equal((await tokensOf(app, portal, who, { scope: undefined }, agent)).scope, 'openid');
  const plain = await app.register();
  equal((await tokensOf(app, plain, who, { scope: SCOPE }, agent)).scope, 'openid offline_access');
  const authorize = await agent.authorize({ ...codeRequest(plain.id), scope: 'account' });
  match(authorize.location ?? '', /error=invalid_scope/);
});

test('attack: a silent authorization makes a token fresh', async () => {
  const victim = await person();
  const agent = new Agent(app);
  const loud = await tokensOf(app, portal, victim, { scope: SCOPE }, agent);
  equal((await at(BEGIN, String(loud.access_token), 'POST')).status, 200);
  // Seconds after that sign-in, without a page.
  for (const parameters of [{ prompt: 'none' }, {}, { max_age: '3000' }]) {
    const silent = await tokensOf(app, portal, victim, { scope: SCOPE, ...parameters }, agent);
    equal(silent.scope, SCOPE);
    equal((await at(PROFILE, String(silent.access_token))).status, 200);
    const answer = await at(BEGIN, String(silent.access_token), 'POST');
    deepEqual([answer.status, answer.reason], [403, 'auth.stale'], JSON.stringify(parameters));
    const again = await requestTokensOf(app, portal, {
      grant_type: 'refresh_token',
      refresh_token: String(silent.refresh_token),
    });
    equal((await at(BEGIN, String(again.access_token), 'POST')).reason, 'auth.stale', 'nor by a refresh');
  }
  // Agreeing is no authentication.
  const agreed = await tokensOf(app, portal, victim, { scope: SCOPE, prompt: 'consent' }, agent);
  equal((await at(BEGIN, String(agreed.access_token), 'POST')).reason, 'auth.stale');
  const renewed = await tokensOf(app, portal, victim, { scope: SCOPE, prompt: 'login' }, agent);
  equal((await at(BEGIN, String(renewed.access_token), 'POST')).status, 200);
});

test('account token: a refresh inherits the authentication, and never a later one', async () => {
  const who = await person();
  const agent = new Agent(app);
  const first = await tokensOf(app, portal, who, { scope: SCOPE }, agent);
  const refresh = async (token: unknown) =>
    requestTokensOf(app, portal, { grant_type: 'refresh_token', refresh_token: String(token) });
  const second = await refresh(first.refresh_token);
  equal((await at(BEGIN, String(second.access_token), 'POST')).status, 200, 'inherited');
  app.advance(301_000);
  equal((await at(BEGIN, String(second.access_token), 'POST')).reason, 'auth.stale');
  // The owner signs in again elsewhere in the same browser.
  await tokensOf(app, portal, who, { scope: SCOPE, prompt: 'login' }, agent);
  const third = await refresh(second.refresh_token);
  equal((await at(BEGIN, String(third.access_token), 'POST')).reason, 'auth.stale');
});

test('account:read reads; every change needs account', async () => {
  const who = await person();
  const reader = await app.register({ scope: 'openid account:read' });
  const token = String(
    (await tokensOf(app, reader, who, { scope: 'openid account account:read' })).access_token,
  );
  equal((await at(PROFILE, token)).status, 200);
  equal((await at('/account/api/sessions', token)).status, 200);
  for (const [method, path] of [
    ['POST', BEGIN],
    ['DELETE', '/account/api/avatar'],
    ['POST', '/account/api/report-compromise'],
  ] as const) {
    const answer = await at(path, token, method);
    deepEqual([answer.status, answer.reason], [403, 'auth.insufficient_scope'], path);
    match(challengeOf(answer), /scope="account"/);
  }
  equal((await introspect(app, token)).body.scope, 'openid account:read');
});

test('attack: the scopes for an application that is not first-party, by every way to register', async () => {
  const refused = async (method: string, path: string, body: object) => {
    const answer = await app.admin(method, path, body);
    deepEqual(
      [answer.status, Object.keys(answer.body.error?.fields ?? {})],
      [400, ['scope']],
      JSON.stringify(body),
    );
  };
  const base = { client_name: 'Third', redirect_uris: ['https://rp.example/callback'] };
  for (const scope of ['openid account', 'account:read'])
    await refused('POST', '/clients', { ...base, scope, skip_consent: false });
  const third = await app.register({ skip_consent: false });
  await refused('PATCH', `/clients/${third.id}`, { scope: 'openid account' });
  await refused('PUT', `/clients/${third.id}`, { ...base, scope: 'openid account' });
  await refused('PATCH', `/clients/${portal.id}`, { skip_consent: false, scope: 'openid account' });
  // Registrants: left out, with a token as without.
  const issued = await app.admin('POST', '/initial-access-tokens', { label: 'x', uses: 5 });
  const registered = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(issued.body.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({ ...base, scope: 'openid account account:read' }),
  });
  equal(registered.status, 201, registered.text);
  equal(registered.body.scope, 'openid');
});

test('account scope: goes with first-party, and what was granted goes with it', async () => {
  const who = await person();
  const ours = await app.register(opensAccounts);
  const { access_token: token } = await tokensOf(app, ours, who, { scope: SCOPE });
  const { body } = await app.admin('PATCH', `/clients/${ours.id}`, { client_name: 'Renamed' });
  equal(body.data.scope, opensAccounts.scope, 'another change leaves it');
  equal((await at(PROFILE, String(token))).status, 200);
  const narrowed = await app.admin('PATCH', `/clients/${ours.id}`, { scope: 'openid offline_access' });
  equal(narrowed.body.data.scope, 'openid offline_access');
  equal((await at(PROFILE, String(token))).status, 403);
  await app.admin('PATCH', `/clients/${ours.id}`, { scope: opensAccounts.scope });
  equal((await at(PROFILE, String(token))).status, 200);
  const third = await app.admin('PATCH', `/clients/${ours.id}`, { skip_consent: false });
  equal(third.status, 200);
  equal(String(third.body.data.scope).includes('account'), false);
  const again = await app.admin('PATCH', `/clients/${ours.id}`, { skip_consent: true });
  equal(String(again.body.data.scope).includes('account'), false, 'not by itself');
});

const supported = async (): Promise<string[]> =>
  JSON.parse((await call(app, 'GET', '/.well-known/openid-configuration')).text).scopes_supported;

test('discovery: the scopes are announced while an active application has them', async () => {
  const lone = await startApp();
  const list = async (): Promise<string[]> =>
    JSON.parse((await call(lone, 'GET', '/.well-known/openid-configuration')).text).scopes_supported;
  try {
    ok(!(await list()).some((scope) => scope.startsWith('account')));
    const { id } = await lone.register(opensAccounts);
    const look = async () => {
      // Checked at most once a minute, without delaying the response that starts the check.
      lone.advance(61_000);
      await list();
      await call(lone, 'GET', '/readyz');
      return (await list()).filter((scope) => scope.startsWith('account'));
    };
    deepEqual(await look(), ['account', 'account:read']);
    await lone.admin('PATCH', `/clients/${id}`, { is_active: false });
    deepEqual(await look(), []);
  } finally {
    await lone.stop();
  }
  ok(!(await supported()).includes('admin'));
});

test('attack: a first-party native application takes a token of the account without a page', async () => {
  const victim = await person();
  const native = await app.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    ...opensAccounts,
  });
  const agent = new Agent(app);
  for (let turn = 0; turn < 2; turn += 1) {
    const first = await agent.authorize({ ...codeRequest(native.id), scope: SCOPE });
    const page = first.body.includes('name="password"')
      ? await agent.submit(first, { username: victim.username, password: PASSWORD })
      : await agent.follow(first);
    ok(page.body.includes('/oauth2/consent'), `a page at authorization ${turn}: ${page.location}`);
    ok(page.body.includes('Test application'));
    const silent = await agent.authorize({ ...codeRequest(native.id), scope: SCOPE, prompt: 'none' });
    match((await agent.follow(silent)).location ?? '', /error=interaction_required/);
    const done = await agent.submit(page, { action: 'allow' });
    const code = new URL(done.location ?? 'about:blank').searchParams.get('code') ?? '';
    const { body } = await redeem(app, native, { code, verifier: VERIFIER });
    equal(body.scope, SCOPE);
    equal(
      (await at(BEGIN, body.access_token, 'POST')).status,
      turn === 0 ? 200 : 403,
      'fresh by the sign-in alone',
    );
  }
});

test('attack: mfa_mode required does not hold for bearers', async () => {
  const victim = await person();
  const agent = new Agent(app);
  const { access_token: token } = await tokensOf(app, portal, victim, { scope: SCOPE }, agent);
  equal((await at(PROFILE, String(token))).status, 200);
  await change(app, { mfa_mode: 'required' });
  try {
    for (const [method, path] of [
      ['GET', PROFILE],
      ['POST', BEGIN],
      ['POST', '/account/api/totp'],
    ] as const) {
      const answer = await at(path, String(token), method);
      deepEqual([answer.status, answer.reason], [403, 'auth.stale'], path);
      match(challengeOf(answer), /insufficient_user_authentication/);
    }
    equal((await agent.get('/account')).status, 303, 'as in the browser');
  } finally {
    await change(app, { mfa_mode: 'optional' });
  }
});

test('attack: an administrator’s bearer of one factor where admin_mfa asks for two', async () => {
  const admin = await person({ role: 'admin' });
  const { access_token: token } = await tokensOf(app, portal, admin, { scope: SCOPE });
  equal((await at(BEGIN, String(token), 'POST')).status, 200);
  await change(app, { admin_mfa: 'required' });
  try {
    equal((await at(BEGIN, String(token), 'POST')).reason, 'auth.stale');
    equal((await at(PROFILE, String(token))).status, 200);
  } finally {
    await change(app, { admin_mfa: 'offered' });
  }
});

test('attack: a device code of an administrator with an authenticator app', async () => {
  const admin = await person({ role: 'admin' });
  const agent = new Agent(app);
  await change(app, { mfa_mode: 'required' });
  try {
    await enrolPhone(app, agent, await agent.authorize(codeRequest(portal.id)), admin.username);
  } finally {
    await change(app, { mfa_mode: 'optional' });
  }
  const tokens = await phish(devices, admin, { max_age: '1' }, agent);
  equal((await at(BEGIN, tokens.access_token, 'POST')).status, 403);
  equal((await at('/admin/api/users', tokens.access_token)).status, 403);
});

test('attack: a silent token of an administrator does a sensitive act', async () => {
  const admin = await person({ role: 'admin' });
  const tool = await app.register({ scope: 'openid admin offline_access' });
  const agent = new Agent(app);
  const scope = 'openid admin offline_access';
  const loud = await tokensOf(app, tool, admin, { scope }, agent);
  const other = await person();
  const act = (token: unknown) =>
    call(app, 'POST', `/admin/api/users/${other.id}/reset-mfa`, { headers: bearer(String(token)) });
  equal((await act(loud.access_token)).status, 200);
  const silent = await tokensOf(app, tool, admin, { scope, prompt: 'none' }, agent);
  const answer = await act(silent.access_token);
  deepEqual([answer.status, JSON.parse(answer.text).error.reason], [403, 'auth.stale']);
  equal(
    (await call(app, 'GET', '/admin/api/users', { headers: bearer(String(silent.access_token)) })).status,
    200,
  );
});

test('upgrade: first-party applications are registered, and no live token or grant gains it', async () => {
  const who = await person();
  const web = await app.register();
  const native = await app.register({ application_type: 'native', token_endpoint_auth_method: 'none' });
  const third = await app.register({ skip_consent: false });
  // As the version before stored them.
  const collection = app.store.collection(clientCollection);
  for (const { id } of [web, native, third]) {
    const stored = await collection.find(id);
    ok(stored);
    const { accountScopes: _, ...value } = stored.value;
    await collection.replace(id, stored.version, value);
  }
  const agent = new Agent(app);
  const old = await tokensOf(app, web, who, { scope: 'openid offline_access' }, agent);
  const next: TestApp = await startApp({ shared: app.store });
  try {
    const scopeOf = async ({ id }: { id: string }) =>
      String((await next.admin('GET', `/clients/${id}`)).body.data.scope);
    ok((await scopeOf(web)).endsWith(' account'));
    for (const other of [native, third]) ok(!(await scopeOf(other)).includes('account'));
    ok(!(await scopeOf({ id: 'latchkey-admin' })).includes('account'), 'never the built-in application');
    const registrations = next.logged.filter((line) => line.includes('account_scope_registered'));
    equal(registrations.length, 1);
    const refreshed = await requestTokensOf(next, web, {
      grant_type: 'refresh_token',
      refresh_token: String(old.refresh_token),
    });
    equal(refreshed.scope, 'openid offline_access');
    // The other process has an address of its own, so it knows none of the first one's access tokens.
    equal((await at(PROFILE, String(old.access_token))).status, 403);
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await call(next, 'GET', PROFILE, { headers: bearer(refreshed.access_token) });
      equal(answer.status, 403);
      match(challengeOf(answer), /error="insufficient_scope".*scope="account"/);
    }
    equal(next.logged.filter((line) => line.includes('"account_scope_missing"')).length, 1, 'told once');
    const shown = await next.admin('GET', `/clients/${web.id}/refusals`);
    const [refusal] = shown.body.data.items ?? [];
    deepEqual([refusal?.endpoint, refusal?.cause, refusal?.count], ['account', 'scope_account_missing', 3]);
  } finally {
    await next.stop();
  }
  // An administrator's decision is not taken back by the next start.
  await app.admin('PATCH', `/clients/${web.id}`, { scope: 'openid offline_access' });
  const later = await startApp({ shared: app.store });
  try {
    equal((await later.admin('GET', `/clients/${web.id}`)).body.data.scope, 'openid offline_access');
  } finally {
    await later.stop();
  }
});

test('upgrade: the scope is announced from the first answer on', async () => {
  const first = await startApp({ env: { SECRET_KEY } });
  try {
    const { id } = await first.register();
    const collection = first.store.collection(clientCollection);
    const stored = await collection.find(id);
    ok(stored);
    const { accountScopes: _, ...value } = stored.value;
    await collection.replace(id, stored.version, value);
    const next = await startApp({ shared: first.store });
    try {
      const { text } = await call(next, 'GET', '/.well-known/openid-configuration');
      ok(JSON.parse(text).scopes_supported.includes('account'), text);
    } finally {
      await next.stop();
    }
  } finally {
    await first.stop();
  }
});

test('attack: an API declares a scope of that name, and its token is brought to the account API', async () => {
  for (const name of ['account', 'account:read', 'Accounts']) {
    const body = {
      identifier: 'https://api.example/orders',
      name: 'Orders',
      scopes: [{ name, description: 'x' }],
    };
    const { status, body: answer } = await app.admin('POST', '/resources', body);
    deepEqual([status, Object.keys(answer.error?.fields ?? {})], [400, ['scopes']], name);
  }
  const made = await app.admin('POST', '/resources', {
    identifier: 'https://api.example/things',
    name: 'Things',
    scopes: [{ name: 'read', description: 'x', is_default: true }],
    clients: [portal.id],
  });
  equal(made.status, 201);
  const who = await person();
  const resource = 'https://api.example/things';
  const mixed = await tokensOf(app, portal, who, { scope: 'openid account read', resource });
  for (const path of [PROFILE, '/oauth2/userinfo'])
    equal((await at(path, String(mixed.access_token))).status, 401, path);
});
