// "Try it": an administrator sees what any kind of client would get, and no one else gets anything from it, the client itself
// included. Attack by attack, over HTTP.
import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeyPair } from 'jose';
import { clients } from '../../src/store/collections.ts';
import {
  Agent,
  challengeOf,
  codeRequest,
  hiddenFields,
  type Page,
  redeem,
  requestTokens,
} from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { createApi, type TestApi } from './api-support.ts';

const COOKIE_KEYS = 'known-to-this-test-0123456789-0123456789';

let app: TestApp;
let web: { id: string; secret: string };
let admin: Agent;
let callback: string;

before(async () => {
  app = await startApp({ env: { COOKIE_KEYS } });
  callback = `${app.url}/admin/applications/try/callback`;
  web = await app.register();
  await app.createUser('root-admin', { role: 'admin', email: 'root@example.com' });
  await app.createUser('second-admin', { role: 'admin' });
  await app.createUser('reader', { role: 'auditor' });
  await app.createUser('somebody', { name: 'Some Body' });
  admin = await enter('root-admin');
});
after(() => app.stop());

async function enter(username: string): Promise<Agent> {
  const agent = new Agent(app);
  await agent.submit(await agent.follow(await agent.get('/admin')), { username, password: PASSWORD });
  return agent;
}

const csrfOf = async (agent: Agent): Promise<string> =>
  hiddenFields((await agent.get('/admin/users/new')).body).csrf ?? '';

/** Presses the button. @returns where the browser is sent */
async function begin(agent: Agent, clientId: string, fields: Record<string, string> = {}): Promise<Page> {
  return agent.post(`/admin/applications/${clientId}/try`, { csrf: await csrfOf(agent), ...fields });
}

/** Goes on until the browser is sent back to us, and stops before it goes there. */
async function untilBack(agent: Agent, first: Page): Promise<string> {
  let page = first;
  while (page.location !== undefined && !page.location.startsWith(callback))
    page = await agent.get(page.location);
  ok(page.location, `not on the way back: ${page.status} ${page.body.slice(0, 900)}`);
  return page.location;
}

const tried = async (agent: Agent, clientId: string, fields: Record<string, string> = {}): Promise<Page> =>
  agent.follow(await begin(agent, clientId, fields));

const textOf = (html: string): string => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

/** Whatever the application has in hand. */
async function alive(clientId: string): Promise<number> {
  const { items = [] } = (await app.admin('GET', `/tokens?client_id=${clientId}&limit=1000`)).body.data;
  const users = (await app.admin('GET', '/users?limit=1000')).body.data.items ?? [];
  const owned = await Promise.all(
    users.map(async ({ id }) => {
      const tokens = (await app.admin('GET', `/tokens?user_id=${id}&limit=1000`)).body.data.items ?? [];
      const grants = (await app.admin('GET', `/users/${id}/grants`)).body.data.items ?? [];
      return [...tokens, ...grants].filter(({ client_id }) => client_id === clientId).length;
    }),
  );
  return items.length + owned.reduce((sum, count) => sum + count, 0);
}

test('test sign-in: each kind of client and authentication; result shown, nothing left valid', async () => {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await crypto.subtle.exportKey('jwk', publicKey);
  const kinds: Record<string, Record<string, unknown>> = {
    basic: {},
    post: { token_endpoint_auth_method: 'client_secret_post' },
    assertion: {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...jwk, kid: 'k', use: 'sig', alg: 'ES256' }] },
    },
    spa: { token_endpoint_auth_method: 'none' },
    native: {
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: ['com.example.app:/callback', 'http://127.0.0.1/callback'],
    },
    both: { grant_types: ['authorization_code', 'client_credentials'] },
    signed: { userinfo_signed_response_alg: 'RS256' },
    bound: { dpop_bound_access_tokens: true },
  };
  for (const [kind, metadata] of Object.entries(kinds)) {
    const { id } = await app.register({ client_name: `Kind ${kind}`, ...metadata });
    const page = await tried(admin, id);
    equal(page.status, 200, `${kind}: ${textOf(page.body).slice(0, 600)}`);
    const text = textOf(page.body);
    match(text, /Signed in as root-admin/, `${kind}: ${text.slice(0, 1500)}`);
    match(text, /The nonce matches/);
    match(text, /sub .* never changes/);
    match(text, /email_verified/);
    match(text, /3\. |Userinfo request/);
    equal(/and a refresh token/.test(text), kind !== 'both', kind);
    // Decoded, and nowhere whole: no JWT, no secret.
    ok(!/eyJ[\w-]+\.eyJ/.test(page.body), kind);
    equal(page.headers.get('cache-control'), 'no-store');
    equal(await alive(id), 0, kind);
  }
});

test('test sign-in for an API: its scopes are offered, its token is decoded and revoked', async () => {
  const api = await createApi(app, { name: 'Orders <b>', clients: [web.id], claims: ['profile'] });
  const asked = `resource=${encodeURIComponent(api.identifier)}`;
  const choose = await admin.get(`/admin/apis/${api.id}/try`);
  ok(choose.body.includes(`/admin/applications/${web.id}/try?${asked}`), choose.body);
  const form = await admin.get(`/admin/applications/${web.id}/try?${asked}`);
  match(form.body, /Orders &lt;b&gt;/);
  match(form.body, /name="api_scope\.read" checked/);
  doesNotMatch(form.body, /name="api_scope\.write" checked/);
  for (const [format, type] of [
    ['at+jwt', 'at+jwt'],
    ['jwt', 'JWT'],
    ['opaque', undefined],
  ] as const) {
    await api.patch({ access_token_format: format });
    const fields = { chosen: 'on', 'scope.profile': 'on', 'api_scope.write': 'on', resource: api.identifier };
    const page = await tried(admin, web.id, fields);
    const text = textOf(page.body);
    match(text, /Signed in as root-admin/, text.slice(0, 1500));
    ok(text.includes(api.identifier) && /scope write/.test(text), text);
    equal(/It is opaque/.test(text), type === undefined);
    if (type !== undefined) ok(text.includes(`typ ${type}`), text);
    doesNotMatch(text, /Userinfo request/);
    ok(page.body.includes(asked), 'Try again keeps the API');
    ok(page.body.includes(`/admin/apis/${api.id}/connect`), 'the lines that check it');
    ok(!/eyJ[\w-]+\.eyJ|lka_/.test(page.body));
    equal(await alive(web.id), 0);
  }
});

test('test sign-in for an API whose tokens are bound to keys: with a proof of a key of its own', async () => {
  const api = await createApi(app, { clients: [web.id], require_dpop: true });
  const fields = { chosen: 'on', 'scope.profile': 'on', 'api_scope.read': 'on', resource: api.identifier };
  const page = await tried(admin, web.id, fields);
  const text = textOf(page.body);
  match(text, /Signed in as root-admin/, text.slice(0, 1500));
  match(text, /token_type DPoP/);
  match(text, /jkt/);
  match(text, /DPoP: •+ grant_type=authorization_code/);
  ok(!/eyJ[\w-]+\.eyJ/.test(page.body));
  equal(await alive(web.id), 0);
});

test('test sign-in below a path: redeemed, with a proof and a signed answer, too', async () => {
  const world = await startApp({ path: '/auth' });
  try {
    await world.createUser('root', { role: 'admin' });
    const agent = new Agent(world);
    const signIn = await agent.follow(await agent.get('/auth/admin'));
    await agent.submit(signIn, { username: 'root', password: PASSWORD });
    for (const metadata of [{ dpop_bound_access_tokens: true }, { userinfo_signed_response_alg: 'RS256' }]) {
      const { id } = await world.register(metadata);
      const csrf = hiddenFields((await agent.get('/auth/admin/users/new')).body).csrf ?? '';
      const page = await agent.follow(await agent.post(`/auth/admin/applications/${id}/try`, { csrf }));
      match(textOf(page.body), /Signed in as root/);
    }
  } finally {
    await world.stop();
  }
});

test('Try it: applications and APIs are found however many there are beside them', async () => {
  const world = await startApp();
  try {
    await world.createUser('root', { role: 'admin' });
    const agent = new Agent(world);
    const signIn = await agent.follow(await agent.get('/admin'));
    await agent.submit(signIn, { username: 'root', password: PASSWORD });
    const last = await world.register({ client_name: 'Zebra' });
    const machine = await world.register({
      client_name: 'Zebra machine',
      grant_types: ['client_credentials'],
      redirect_uris: [],
    });
    for (let i = 0; i < 52; i += 1) {
      await world.register({
        client_name: `Machine ${i}`,
        grant_types: ['client_credentials'],
        redirect_uris: [],
      });
      await createApi(world, { name: `A ${i}`, identifier: `https://many.example/${i}` });
    }
    const long = `https://many.example/long-${'x'.repeat(400)}`;
    for (const identifier of ['https://many.example', long]) {
      const grants = { [machine.id]: ['read'] };
      const api = await createApi(world, {
        name: 'Z',
        identifier,
        clients: [last.id],
        machine_grants: grants,
      });
      const choose = (await agent.get(`/admin/apis/${api.id}/try`)).body;
      const address = `/admin/applications/${last.id}/try?resource=${encodeURIComponent(identifier)}`;
      ok(choose.includes(address) && choose.includes('Zebra machine'), textOf(choose));
      const form = await agent.get(address);
      equal(form.status, 200, textOf(form.body));
      match(form.body, /name="api_scope\.read" checked/);
    }
    const open = await createApi(world, { identifier: 'https://open.example', scopes: [] });
    const choose = textOf((await agent.get(`/admin/apis/${open.id}/try`)).body);
    match(choose, /There are many applications/);
    match(choose, /has no scopes yet/);
    doesNotMatch(choose, /No application through which/);
  } finally {
    await world.stop();
  }
});

test('attack: the API of a test sign-in deleted, or closed to the application, midway', async () => {
  for (const end of [
    (api: TestApi) => api.remove(),
    (api: TestApi) => api.patch({ clients: [] }),
    (api: TestApi) => api.patch({ scopes: [{ name: 'other', description: 'Another' }] }),
  ]) {
    const api = await createApi(app, { clients: [web.id] });
    const fields = { chosen: 'on', 'api_scope.read': 'on', resource: api.identifier };
    const [link, second] = [await begin(admin, web.id, fields), await begin(admin, web.id, fields)];
    const back = await untilBack(admin, link);
    await end(api);
    const told = await admin.get(back);
    match(textOf(told.body), /token endpoint returned invalid_/);
    doesNotMatch(told.body, /Signed in as/);
    const late = await admin.follow(second);
    match(textOf(late.body), /authorization endpoint returned invalid_/);
    equal(await alive(web.id), 0);
  }
});

test('attack: the code or tokens of a test sign-in read from the log or the audit trail', async () => {
  const api = await createApi(app, { clients: [web.id], access_token_format: 'opaque' });
  const from = app.logged.length;
  const fields = { chosen: 'on', 'api_scope.read': 'on', resource: api.identifier };
  const back = await untilBack(admin, await begin(admin, web.id, fields));
  const { body } = await admin.get(back);
  match(textOf(body), /Signed in as/);
  const code = new URL(back).searchParams.get('code') ?? '';
  const state = new URL(back).searchParams.get('state') ?? '';
  const verifier = createHmac('sha256', COOKIE_KEYS).update(`trial-verifier\n${state}`).digest('base64url');
  const kept = [
    ...app.logged.slice(from),
    JSON.stringify((await app.admin('GET', '/audit?limit=100')).body.data),
  ].join('\n');
  ok(kept.length > 1000);
  for (const secret of [code, state, verifier]) ok(secret.length > 20 && !kept.includes(secret), kept);
  doesNotMatch(kept, /eyJ[\w-]+\.|access_token"/);
});

test('attack: a test sign-in for an API with no CSRF token, or that of another browser', async () => {
  const api = await createApi(app, { clients: [web.id] });
  const fields = { chosen: 'on', 'api_scope.read': 'on', resource: api.identifier };
  const foreign = await csrfOf(await enter('second-admin'));
  for (const csrf of ['', 'x', foreign]) {
    const answer = await admin.post(`/admin/applications/${web.id}/try`, { ...fields, csrf });
    equal(answer.status, 403, csrf);
    equal(answer.location, undefined);
  }
  // A link does not start one either.
  const query = new URLSearchParams(fields);
  equal((await admin.get(`/admin/applications/${web.id}/try?${query}`)).location, undefined);
});

test('attack: a test sign-in takes more of an API than its application and user may have', async () => {
  const scopes = [
    { name: 'read', description: 'Read', is_default: true },
    { name: 'manage', description: 'Manage', roles: ['auditor'] },
  ];
  const [closed, api] = [
    await createApi(app, { clients: [] }),
    await createApi(app, { clients: [web.id], scopes }),
  ];
  const none = await tried(admin, web.id, {
    chosen: 'on',
    resource: closed.identifier,
    'api_scope.read': 'on',
  });
  match(textOf(none.body), /authorization endpoint returned invalid_target/);
  const fields = { chosen: 'on', resource: api.identifier, 'api_scope.read': 'on', 'api_scope.manage': 'on' };
  const some = textOf((await tried(admin, web.id, fields)).body);
  match(some, /scope read /);
  doesNotMatch(some, /scope read manage/);
  const unknown = await begin(admin, web.id, { chosen: 'on', resource: 'https://unknown.example' });
  equal(unknown.status, 404);
  const reader = await enter('reader');
  equal((await reader.get(`/admin/apis/${api.id}/connect`)).status, 200);
  equal((await reader.get(`/admin/apis/${api.id}/try`)).status, 403);
  equal((await begin(reader, web.id, fields)).status, 403);
});

const isRefused = ({ status, location, body }: Page): boolean =>
  status === 400 && location === undefined && body.includes('invalid_redirect_uri');

test('attack: the link to a test sign-in sent to another user, administrator or browser', async () => {
  const link = (await begin(admin, web.id)).location ?? '';
  match(link, /redirect_uri=[^&]+try%2Fcallback/);
  const victims = {
    nobody: new Agent(app),
    person: new Agent(app),
    'other administrator': await enter('second-admin'),
    'the same administrator elsewhere': await enter('root-admin'),
  };
  await victims.person.signIn(web.id, { username: 'somebody' });
  for (const [who, agent] of Object.entries(victims)) ok(isRefused(await agent.get(link)), who);
  const made = { response_type: 'code', scope: 'openid', redirect_uri: callback, client_id: web.id };
  const pkce = { code_challenge: challengeOf('v'.repeat(43)), code_challenge_method: 'S256' };
  for (const state of [undefined, '', 'x', 'y'.repeat(43)]) {
    ok(isRefused(await victims.person.authorize({ ...made, ...pkce, state })), `made up: ${state}`);
    ok(isRefused(await admin.authorize({ ...made, ...pkce, state })), `to the administrator: ${state}`);
  }
  // With the administrator's cookie of the browser alone, without the session.
  const half = new Agent(app);
  half.plant(
    admin
      .cookiesFor('/')
      .split('; ')
      .filter((pair) => pair.startsWith('latchkey_browser'))
      .join('; '),
  );
  ok(isRefused(await half.get(link)));
  match((await admin.follow(await admin.get(link))).body, /Signed in as/);
});

test('attack: a test sign-in with other scopes, another client or another answer', async () => {
  const other = await app.register();
  for (const [name, value] of [
    ['scope', 'openid profile email offline_access'],
    ['client_id', other.id],
    ['code_challenge', challengeOf('mine'.repeat(11))],
    ['response_mode', 'fragment'],
    ['nonce', 'mine'],
  ] as const) {
    const url = new URL((await begin(admin, web.id)).location ?? '');
    url.searchParams.set(name, value);
    ok(isRefused(await admin.get(url.href)), name);
  }
});

test('attack: state and code of a test sign-in replayed, also in parallel', async () => {
  const link = (await begin(admin, web.id)).location ?? '';
  const back = await untilBack(admin, await admin.get(link));
  const answers = await Promise.all([1, 2, 3, 4].map(() => admin.get(back)));
  equal(answers.filter(({ body }) => body.includes('Signed in as')).length, 1);
  equal(
    answers.filter(({ status, body }) => status === 400 && body.includes('This test sign-in has expired'))
      .length,
    3,
  );
  ok(isRefused(await admin.get(link)));
  match((await admin.get(back)).body, /This test sign-in has expired/);
  // In the victim's browser, the attacker's own way back.
  const again = await untilBack(admin, await begin(admin, web.id));
  match((await (await enter('second-admin')).get(again)).body, /This test sign-in has expired/);
  const elsewhere = new URL(again);
  elsewhere.searchParams.set('iss', 'https://evil.example');
  match((await admin.get(elsewhere.href)).body, /This test sign-in has expired/);
  equal((await admin.get(again)).status, 200);
});

test('attack: the code of a test sign-in redeemed by the client itself', async () => {
  const spa = await app.register({ token_endpoint_auth_method: 'none' });
  for (const client of [web, spa]) {
    const back = new URL(await untilBack(admin, await begin(admin, client.id)));
    const code = back.searchParams.get('code') ?? '';
    const state = back.searchParams.get('state') ?? '';
    const verifier = createHmac('sha256', COOKIE_KEYS).update(`trial-verifier\n${state}`).digest('base64url');
    const grant = { grant_type: 'authorization_code', code, code_verifier: verifier };
    const results = await Promise.all([
      requestTokens(app, client, { ...grant, redirect_uri: callback }),
      requestTokens(app, client, { ...grant, redirect_uri: REDIRECT_URI }),
      requestTokens(app, { id: client.id, secret: '' }, { ...grant, redirect_uri: callback }),
      redeem(app, client, { code, verifier: 'x'.repeat(43) }),
    ]);
    for (const { status, body } of results) {
      ok(status === 400 || status === 401, String(status));
      ok(body.error === 'invalid_grant' || body.error === 'invalid_client', body.error);
      equal(body.access_token, undefined);
    }
    // The verifier was the right one, and the code is still good for the trial.
    match((await admin.get(back.href)).body, new RegExp(verifier));
  }
});

test('attack: a client registers or pushes the test sign-in’s callback', async () => {
  const refused = await app.admin('POST', '/clients', { client_name: 'Thief', redirect_uris: [callback] });
  equal(refused.status, 400, 'no application registers an address of this server');
  const thief = await app.register();
  // As an earlier version let it.
  const records = app.store.collection(clients);
  const known = await records.find(thief.id);
  ok(known !== undefined);
  const metadata = { ...known.value.metadata, redirect_uris: [callback, REDIRECT_URI] };
  await records.replace(thief.id, known.version, { ...known.value, metadata });
  const request = {
    client_id: thief.id,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: callback,
    state: 'st',
    code_challenge: challengeOf('v'.repeat(43)),
    code_challenge_method: 'S256',
  };
  ok(isRefused(await admin.authorize(request)));
  const pushed = await fetch(`${app.url}/oauth2/par`, {
    method: 'POST',
    body: new URLSearchParams({ ...request, client_secret: thief.secret }),
  });
  equal(pushed.status, 400);
  const posted = await admin.post('/oauth2/authorize', request);
  ok(isRefused(posted));
});

test('attack: a test sign-in started by a user, an auditor or no one', async () => {
  for (const username of ['somebody', 'reader']) {
    const agent = await enter(username);
    const answer = await agent.post(`/admin/applications/${web.id}/try`, { csrf: await csrfOf(agent) });
    equal(answer.status, 403, username);
    equal(answer.location, undefined);
  }
  const answer = await new Agent(app).post(`/admin/applications/${web.id}/try`, {});
  ok(!answer.location?.includes(web.id));
  const forged = await admin.post(`/admin/applications/${web.id}/try`, { csrf: 'x' });
  equal(forged.status, 403);
});

test('test sign-in of a deactivated client: refused at start, midway and at the token endpoint', async () => {
  const { id } = await app.register();
  const set = (isActive: boolean) => app.admin('PATCH', `/clients/${id}`, { is_active: isActive });
  await set(false);
  const refused = await begin(admin, id);
  equal(refused.status, 409);
  match(refused.body, /It is deactivated/);
  await set(true);
  const link = (await begin(admin, id)).location ?? '';
  await set(false);
  const onTheWay = await admin.get(link);
  equal(onTheWay.location, undefined);
  match(onTheWay.body, /invalid_client/);
  await set(true);
  const back = await untilBack(admin, await begin(admin, id));
  await set(false);
  const told = textOf((await admin.get(back)).body);
  match(told, /token endpoint returned invalid_client/);
  equal(await alive(id), 0);
});

test('test sign-in of a client without users: not possible, and the page says so', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  });
  const device = await app.register({
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: [],
    response_types: [],
  });
  for (const [id, words] of [
    [machine.id, /gets tokens for itself/],
    [device.id, /Test it on the device/],
    ['latchkey-admin', /the Admin UI itself/],
  ] as const) {
    match((await admin.get(`/admin/applications/${id}/try`)).body, words);
    const answer = await begin(admin, id);
    equal(answer.status, 409);
    equal(answer.location, undefined);
  }
});

test('test sign-in of a client that must sign its requests: not possible, and the page says so', async () => {
  await app.admin('PATCH', '/settings', { legacy_profiles: true });
  const { id } = await app.register({ profile: 'legacy', require_signed_request_object: true });
  match((await admin.get(`/admin/applications/${id}/try`)).body, /It must sign its requests/);
  equal((await begin(admin, id)).status, 409);
  await app.admin('PATCH', '/settings', { legacy_profiles: false });
});

test('test sign-in: its consent is not remembered, and the client’s own tokens stay valid', async () => {
  const { id, secret } = await app.register({ skip_consent: false });
  const agent = await enter('second-admin');
  const consent = await tried(agent, id);
  match(consent.body, /\/oauth2\/consent/);
  match(textOf((await agent.submit(consent, { action: 'allow' })).body), /Signed in as second-admin/);
  const asked = await agent.authorize({
    ...codeRequest(id),
    scope: 'openid profile email',
  });
  match(asked.body, /\/oauth2\/consent/);
  // One that is left half-way keeps its grant for a while; that is no start for the application either.
  const left = await tried(agent, id);
  await untilBack(
    agent,
    await agent.post('/oauth2/consent', { ...hiddenFields(left.body), action: 'allow' }),
  );
  const still = await agent.authorize(codeRequest(id));
  match(still.body, /\/oauth2\/consent/);
  const own = await agent.signIn(id, { username: 'second-admin' });
  const tokens = await redeem(app, { id, secret }, own);
  equal(tokens.status, 200);
  ok((await alive(id)) > 0);
  match(textOf((await tried(agent, id)).body), /Signed in as second-admin/);
  const userinfo = await fetch(`${app.url}/oauth2/userinfo`, {
    headers: { authorization: `Bearer ${tokens.body.access_token}` },
  });
  equal(userinfo.status, 200);
  const refreshed = await requestTokens(
    app,
    { id, secret },
    { grant_type: 'refresh_token', refresh_token: tokens.body.refresh_token },
  );
  equal(refreshed.status, 200);
});

test('test sign-in abandoned: ends after ten minutes, and its callback leads nowhere', async () => {
  const { id } = await app.register();
  const link = (await begin(admin, id)).location ?? '';
  const back = await untilBack(admin, await admin.get(link));
  equal(await alive(id), 1, 'the grant');
  app.advance(601_000);
  equal(await alive(id), 0);
  ok(isRefused(await admin.get(link)));
  match((await admin.get(back)).body, /This test sign-in has expired/);
  admin = await enter('root-admin');
});

test('test sign-in: the administrator is demoted midway; no result is shown', async () => {
  const { id } = await app.createUser('soon-demoted', { role: 'admin' });
  const agent = await enter('soon-demoted');
  const [link, second] = [await begin(agent, web.id), await begin(agent, web.id)];
  const back = await untilBack(agent, link);
  await app.admin('PATCH', `/users/${id}`, { role: 'user' });
  match((await agent.get(back)).body, /This test sign-in has expired/);
  ok(isRefused(await agent.get(second.location ?? '')));
});

test('test sign-in: errors are shown exactly', async () => {
  const { id } = await app.register({ skip_consent: false, scope: 'openid profile email' });
  const chosen = { chosen: 'on', 'scope.profile': 'on' };
  const silent = textOf((await tried(admin, id, { ...chosen, prompt: 'none' })).body);
  match(silent, /authorization endpoint returned consent_required/);
  const consent = await tried(admin, id);
  const denied = textOf((await admin.submit(consent, { action: 'deny' })).body);
  match(denied, /authorization endpoint returned access_denied .*The user denied the request/);
  await app.admin('POST', '/groups', { name: 'chosen-few' });
  await app.admin('PATCH', `/clients/${id}`, { allowed_groups: ['chosen-few'] });
  match(textOf((await tried(admin, id)).body), /access_denied/);
  for (const wrong of [
    { prompt: 'x' },
    { acr_values: 'x' },
    { ui_locales: 'xx' },
    { login_hint: 'x'.repeat(201) },
  ]) {
    equal((await begin(admin, id, { ...chosen, ...wrong })).status, 400, JSON.stringify(wrong));
  }
});

test('test sign-in as another user: the result is shown without the Admin UI', async () => {
  const { id } = await app.register();
  const agent = await enter('second-admin');
  const before = agent.cookiesFor('/admin');
  const page = await tried(agent, id, { chosen: 'on', 'scope.profile': 'on', prompt: 'login' });
  const done = await agent.submit(page, { username: 'somebody', password: PASSWORD });
  const text = textOf(done.body);
  match(text, /Signed in as somebody/);
  match(text, /another user in this browser/);
  ok(!done.body.includes('name="csrf"') && !done.body.includes('Audit log'));
  equal((await agent.get('/admin/users')).status, 403);
  notEqual(agent.cookiesFor('/admin'), before);
  equal(await alive(id), 0);
});

test('attack: a client waiting for the sign-out of the testing user', async () => {
  const { id } = await app.register({ backchannel_logout_uri: 'https://127.0.0.1:9/logout' });
  const known = await app.register({ backchannel_logout_uri: 'https://127.0.0.1:9/logout' });
  const user = await app.createUser('curious-admin', { role: 'admin' });
  const agent = await enter('curious-admin');
  match(textOf((await tried(agent, id)).body), /Signed in as/);
  match(textOf((await tried(agent, known.id)).body), /Signed in as/);
  // Used in earnest afterwards, it is told like any other.
  await agent.authorize({ ...codeRequest(known.id), prompt: 'none' });
  const { items = [] } = (await app.admin('GET', `/users/${user.id}/sessions`)).body.data;
  const clients = JSON.stringify(items.map((session) => session.clients));
  ok(!clients.includes(id) && clients.includes(known.id), clients);
  await app.admin('POST', `/users/${user.id}/revoke-sessions`);
  const isTold = (one: string) =>
    app.logged.some((line) => line.includes('not delivered') && line.includes(one));
  while (!isTold(known.id)) await sleep(20);
  ok(!isTold(id));
});

test('test sign-in: audited with administrator, client and outcome', async () => {
  const { id } = await app.register();
  await tried(admin, id);
  const root = (await app.admin('GET', '/users?search=root-admin')).body.data.items?.[0];
  for (const event of ['client.trial_started', 'client.trial_ended']) {
    const { items = [] } = (await app.admin('GET', `/audit?event=${event}&target_id=${id}`)).body.data;
    deepEqual(
      items.map(({ actor_id, outcome, client_id }) => ({ actor_id, outcome, client_id })),
      [{ actor_id: root?.id, outcome: 'success', client_id: id }],
    );
  }
});
