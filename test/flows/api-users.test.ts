// Users' tokens for APIs (decision 0026): authorize, PAR, device, code, refresh; consent in the API's words; who may have what.
import { deepEqual, doesNotMatch, equal, match, ok, rejects } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import {
  Agent,
  codeRequest,
  type Page,
  redeem,
  requestTokens,
  type Tokens,
  VERIFIER,
} from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { createApi, seenBy, type TestApi } from './api-support.ts';
import {
  basic,
  bearer,
  type Client,
  call,
  claimsOf,
  introspect,
  isActive,
  type Json,
  postForm,
  userinfo,
} from './support.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const root = await app.createUser('root', { role: 'admin' });
const scope = 'openid profile email roles groups offline_access';
const own = await app.register({ scope, grant_types: ['authorization_code', 'refresh_token', DEVICE] });
const partner = await app.register({ scope, skip_consent: false, client_name: 'Partner' });
const orders = await createApi(app, { clients: [own.id, partner.id] });
const sales = await createApi(app, { name: 'Sales', clients: [own.id] });

const signedIn = async (user = alice): Promise<Agent> => {
  const agent = new Agent(app);
  await agent.signIn(own.id, user);
  return agent;
};
const errorOf = (page: Page): unknown => new URL(page.location ?? 'https://x').searchParams.get('error');
const isConsent = (page: Page): boolean => page.body.includes('action="/oauth2/consent"');
const authorize = (agent: Agent, by: Client, more: Record<string, string | undefined>) =>
  agent.authorize({ ...codeRequest(by.id), ...more });
const refusal = ({ status, body }: { status: number; body: Json }) => [status, body.error];

async function codeOf(page: Page): Promise<string> {
  const code = new URL(page.location ?? 'https://x').searchParams.get('code');
  ok(code, `${page.location} ${page.body.slice(0, 500)}`);
  return code;
}
const exchange = (by: Client, code: string, more: Record<string, string> = {}): Promise<Tokens> =>
  requestTokens(app, by, {
    grant_type: 'authorization_code',
    code,
    code_verifier: VERIFIER,
    redirect_uri: REDIRECT_URI,
    ...more,
  });
const refreshWith = (by: Client, token: string, more: Record<string, string> = {}): Promise<Tokens> =>
  requestTokens(app, by, { grant_type: 'refresh_token', refresh_token: token, ...more });

async function tokensFor(more: Record<string, string | undefined>, by = own, agent?: Agent) {
  const page = await authorize(agent ?? (await signedIn()), by, more);
  const { status, body } = await exchange(by, await codeOf(page));
  equal(status, 200, JSON.stringify(body));
  return body;
}

test('user token: audience, scope and lifetime of the API; no credential for us', async () => {
  for (const name of ['resource', 'audience']) {
    const tokens = await tokensFor({ [name]: orders.identifier, scope: 'openid read unknown' });
    deepEqual([tokens.scope, tokens.expires_in], ['read', 300]);
    const { aud, scope: granted, sub, auth_time, username } = claimsOf(tokens.access_token);
    deepEqual(
      [aud, granted, sub, typeof auth_time, username],
      [orders.identifier, 'read', alice.id, 'number', undefined],
    );
    equal(claimsOf(tokens.id_token).aud, own.id);
    equal((await userinfo(app, tokens.access_token)).status, 401);
    for (const path of ['/account/api/profile', '/admin/api/users'])
      equal((await call(app, 'GET', path, { headers: bearer(tokens.access_token) })).status, 401);
    const seen = await seenBy(app, orders, tokens.access_token);
    deepEqual(
      [seen.active, seen.sub, seen.username, seen.scope, seen.role],
      [true, alice.id, 'alice', 'read', undefined],
    );
    deepEqual(await seenBy(app, sales, tokens.access_token), { active: false });
  }
});

test('user token: without a scope of the API its default ones, and none is refused', async () => {
  equal((await tokensFor({ resource: orders.identifier, scope: undefined })).scope, 'read');
  equal((await tokensFor({ resource: orders.identifier, scope: 'openid' })).scope, 'read');
  const agent = await signedIn();
  equal(
    errorOf(await authorize(agent, own, { resource: orders.identifier, scope: 'unknown' })),
    'invalid_scope',
  );
});

test('user token: opaque, with declared claims', async () => {
  const api = await createApi(app, {
    clients: [own.id],
    access_token_format: 'opaque',
    claims: ['profile', 'roles'],
  });
  const tokens = await tokensFor({ resource: api.identifier, scope: 'openid read' });
  match(tokens.access_token, /^lka_/);
  const seen = await seenBy(app, api, tokens.access_token);
  deepEqual(
    [seen.preferred_username, seen.role, seen.roles, seen.groups],
    ['alice', 'user', ['user'], undefined],
  );
  await api.patch({ access_token_format: 'at+jwt' });
  const jwt = claimsOf((await tokensFor({ resource: api.identifier, scope: 'read' })).access_token);
  deepEqual([jwt.username, jwt.role], ['alice', 'user']);
});

test('refresh: the same API, narrowed, never widened; the API may be named again', async () => {
  let { refresh_token } = await tokensFor({ resource: orders.identifier, scope: 'openid read write' });
  for (const [more, granted] of [
    [{}, 'read write'],
    [{ scope: 'read' }, 'read'],
    [{ resource: orders.identifier }, 'read write'],
    [{ scope: 'write openid unknown', audience: `${orders.identifier}/` }, 'write'],
  ] as const) {
    const { status, body } = await refreshWith(own, refresh_token, { ...more });
    equal(status, 200, JSON.stringify(body));
    deepEqual(
      [body.scope, claimsOf(body.access_token).aud],
      [granted, orders.identifier],
      JSON.stringify(more),
    );
    refresh_token = body.refresh_token;
  }
  const plain = await refreshWith(own, refresh_token, { scope: 'openid' });
  deepEqual([plain.body.scope, claimsOf(plain.body.access_token).aud], ['openid', app.issuer]);
  equal((await userinfo(app, plain.body.access_token)).status, 200);
});

test('attack: audience switched between authorize and token, and at refresh; nothing is spent', async () => {
  const agent = await signedIn();
  const code = await codeOf(
    await authorize(agent, own, { resource: orders.identifier, scope: 'openid read' }),
  );
  for (const other of [
    { resource: sales.identifier },
    { audience: sales.identifier },
    { resource: 'https://x.example' },
  ])
    deepEqual(refusal(await exchange(own, code, other)), [400, 'invalid_target']);
  const { body: tokens } = await exchange(own, code, { resource: orders.identifier });
  const scopes = { scope: `${sales.identifier}/read` };
  for (const other of [{ resource: sales.identifier }, { audience: sales.identifier }, scopes])
    deepEqual(refusal(await refreshWith(own, tokens.refresh_token, other)), [400, 'invalid_target']);
  for (const none of [{ scope: 'write' }, { scope: `${orders.identifier}/openid` }, { scope: 'profile' }])
    deepEqual(
      refusal(await refreshWith(own, tokens.refresh_token, none)),
      [400, 'invalid_scope'],
      none.scope,
    );
  equal(await isActive(app, tokens.refresh_token), true);
  const late = await codeOf(await authorize(agent, own, { scope: 'openid' }));
  deepEqual(refusal(await exchange(own, late, { resource: orders.identifier })), [400, 'invalid_target']);
  const { body } = await exchange(own, late);
  deepEqual(refusal(await refreshWith(own, body.refresh_token, { resource: orders.identifier })), [
    400,
    'invalid_target',
  ]);
});

test('authorize: unknown, closed and several APIs', async () => {
  const agent = await signedIn();
  const stranger = await app.register({ scope });
  const at = orders.identifier;
  const cases: [Client, Record<string, string>, string][] = [
    [own, { resource: 'https://unknown.example.com' }, 'invalid_target'],
    [stranger, { resource: at, scope: 'openid read' }, 'invalid_target'],
    [stranger, { scope: `${at}/read` }, 'invalid_target'],
    [own, { resource: at, audience: sales.identifier }, 'invalid_target'],
    [own, { resource: at, audience: sales.identifier, scope: 'openid read' }, 'invalid_scope'],
    [own, { scope: `openid ${at}/read ${sales.identifier}/read` }, 'invalid_target'],
    [own, { resource: at, scope: `${sales.identifier}/read` }, 'invalid_target'],
    [own, { scope: `${at}/openid` }, 'invalid_scope'],
    [own, { scope: `${at}/admin` }, 'invalid_scope'],
  ];
  for (const [by, more, error] of cases)
    equal(errorOf(await authorize(agent, by, more)), error, JSON.stringify(more));
});

test('consent: names the API, shows its words once, and what is new alone', async () => {
  const api = await createApi(app, { name: 'Ledger <b>', claims: ['roles'] });
  const agent = await signedIn();
  for (const by of [partner, own]) {
    const request = { resource: api.identifier, scope: 'openid read' };
    const page = await authorize(agent, by, request);
    ok(isConsent(page), `${page.location} skip_consent does not cover an API that is open to all`);
    match(page.body, /Ledger &#60;b&#62;/);
    match(page.body, /See your orders/);
    match(page.body, /See your role/);
    // An address may break at its dots.
    match(page.body.replaceAll('<wbr>', ''), new RegExp(api.identifier));
    doesNotMatch(page.body, /Change your orders/);
    const done = await agent.submit(page, { action: 'allow' });
    const tokens = (await exchange(by, await codeOf(await agent.follow(done)))).body;
    deepEqual([tokens.scope, claimsOf(tokens.access_token).role], ['read', 'user']);
    const later = await signedIn();
    await codeOf(await authorize(later, by, request));
    const more = await authorize(later, by, { ...request, scope: 'openid read write' });
    ok(isConsent(more));
    match(more.body, /Change your orders/);
    doesNotMatch(more.body, /See your orders|Recognise you/);
    equal(
      errorOf(await authorize(later, by, { ...request, scope: 'openid write', prompt: 'none' })),
      'consent_required',
    );
  }
});

test('attack: one API’s read with another’s consent', async () => {
  const [first, second] = [await createApi(app), await createApi(app)];
  const agent = await signedIn();
  const page = await authorize(agent, partner, { resource: first.identifier, scope: 'openid read' });
  await codeOf(await agent.follow(await agent.submit(page, { action: 'allow' })));
  ok(isConsent(await authorize(agent, partner, { resource: second.identifier, scope: 'openid read' })));
});

test('attack: a narrow device approval refreshed into what a browser was granted', async () => {
  const agent = await signedIn();
  await tokensFor({ resource: orders.identifier, scope: 'openid read write' }, own, agent);
  const started = await postForm(
    app,
    '/oauth2/device_authorization',
    { scope: 'openid read offline_access', resource: orders.identifier },
    basic(own),
  );
  equal(started.status, 200, started.text);
  const device_code = String(started.body.device_code);
  const poll = (more: Record<string, string> = {}) =>
    requestTokens(app, own, { grant_type: DEVICE, device_code, ...more });
  equal((await poll({ resource: orders.identifier })).body.error, 'authorization_pending');
  const form = await agent.get('/oauth2/device');
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form.body) ?? [];
  const confirm = await agent.post('/oauth2/device', { xsrf, user_code: String(started.body.user_code) });
  match(confirm.body, /See your orders/);
  doesNotMatch(confirm.body, /Change your orders/);
  const done = await agent.submit(confirm, { confirm: 'yes' });
  equal(done.status, 200, done.body);
  deepEqual(refusal(await poll({ resource: sales.identifier })), [400, 'invalid_target']);
  const { body: tokens } = await poll({ resource: orders.identifier });
  deepEqual([tokens.scope, claimsOf(tokens.access_token).aud], ['read', orders.identifier]);
  deepEqual(refusal(await refreshWith(own, tokens.refresh_token, { scope: 'write' })), [
    400,
    'invalid_scope',
  ]);
  equal((await refreshWith(own, tokens.refresh_token)).body.scope, 'read');
});

test('device page: says which claims of the user the API’s tokens carry, as consent does', async () => {
  const agent = await signedIn();
  for (const [claims, says] of [
    [['roles'], true],
    [[], false],
  ] as const) {
    const api = await createApi(app, { clients: [own.id], claims });
    const request = { scope: 'openid read', resource: api.identifier };
    const { body } = await postForm(app, '/oauth2/device_authorization', request, basic(own));
    const form = await agent.get('/oauth2/device');
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form.body) ?? [];
    const page = await agent.post('/oauth2/device', { xsrf, user_code: String(body.user_code) });
    match(page.body, /See your orders/);
    equal(page.body.includes('See your role'), says);
  }
});

test('pushed requests: the API is part of what was pushed', async () => {
  const request = { ...codeRequest(own.id), scope: `openid ${orders.identifier}/read` };
  const pushed = await postForm(app, '/oauth2/par', request, basic(own));
  equal(pushed.status, 201, pushed.text);
  const agent = await signedIn();
  const page = await agent.authorize({
    client_id: own.id,
    request_uri: String(pushed.body.request_uri),
    audience: sales.identifier,
  });
  const { body } = await exchange(own, await codeOf(page));
  deepEqual([body.scope, claimsOf(body.access_token).aud], [`${orders.identifier}/read`, orders.identifier]);
  for (const more of [{ resource: 'https://x.example' }, { audience: 'https://x.example' }]) {
    const answer = await postForm(app, '/oauth2/par', { ...codeRequest(own.id), ...more }, basic(own));
    deepEqual(refusal(answer), [400, 'invalid_target']);
  }
});

test('Microsoft’s way: prefixed scopes at authorize and refresh, repeated in the answers', async () => {
  const at = orders.identifier;
  const first = await tokensFor({ scope: `openid profile offline_access ${at}/.default` });
  equal(first.scope, `${at}/.default ${at}/read`);
  equal(claimsOf(first.access_token).scope, 'read');
  const again = await refreshWith(own, first.refresh_token, {
    scope: `openid profile offline_access ${at}/.default`,
  });
  equal(again.body.scope, `${at}/.default ${at}/read`);
  const named = await refreshWith(own, again.body.refresh_token, { scope: `${at}/read openid` });
  equal(named.body.scope, `${at}/read`);
  equal((await refreshWith(own, named.body.refresh_token)).body.scope, `${at}/.default ${at}/read`);
  const signIn = await new Agent(app).signIn(own.id, alice, { scope: `openid ${at}/write` });
  equal((await redeem(app, own, signIn)).body.scope, `${at}/write`, 'kept through the pages');
});

test('scopes that need a role or group: only for those who have it, and until they lose it', async () => {
  const scopes = [
    { name: 'read', description: 'Read', is_default: true },
    { name: 'manage', description: 'Manage', roles: ['admin'] },
  ];
  const api = await createApi(app, { clients: [own.id], scopes });
  const request = { resource: api.identifier, scope: 'openid read manage' };
  equal((await tokensFor(request)).scope, 'read');
  const tokens = await tokensFor(request, own, await signedIn(root));
  equal(tokens.scope, 'read manage');
  const page = await authorize(await signedIn(), own, { ...request, scope: 'openid manage' });
  equal(errorOf(page), 'access_denied');
  await api.patch({ scopes: [scopes[0], { ...scopes[1], roles: ['auditor'] }] });
  equal((await seenBy(app, api, tokens.access_token)).scope, 'read');
  equal((await refreshWith(own, tokens.refresh_token)).body.scope, 'read');
});

test('attack: what a deleted API or scope gave: tokens, grants and consents', async () => {
  const fields = { clients: [partner.id] };
  const api = await createApi(app, fields);
  const agent = await signedIn();
  const request = { resource: api.identifier, scope: 'openid read write' };
  const page = await authorize(agent, partner, request);
  const { body } = await exchange(
    partner,
    await codeOf(await agent.follow(await agent.submit(page, { action: 'allow' }))),
  );
  const code = await codeOf(await authorize(agent, partner, request));
  const scopes = [{ name: 'read', description: 'See your orders', is_default: true }];
  await api.patch({ scopes });
  equal((await seenBy(app, api, body.access_token)).scope, 'read');
  const { body: next } = await refreshWith(partner, body.refresh_token);
  equal(next.scope, 'read');
  await api.remove();
  const again: TestApi = await createApi(app, { ...fields, identifier: api.identifier });
  deepEqual((await introspect(app, next.access_token)).body, { active: false });
  deepEqual((await introspect(app, next.refresh_token)).body, { active: false });
  deepEqual(await seenBy(app, again, next.access_token), { active: false });
  equal((await refreshWith(partner, next.refresh_token)).status, 400);
  equal((await exchange(partner, code)).status, 400);
  ok(isConsent(await authorize(agent, partner, request)), 'the same session is asked again');
  ok(isConsent(await authorize(await signedIn(), partner, request)), 'and so is another');
});

test('refresh and introspection after the API closed to the application', async () => {
  const api = await createApi(app, { clients: [own.id] });
  const tokens = await tokensFor({ resource: api.identifier, scope: 'openid read' });
  await api.patch({ clients: [partner.id] });
  deepEqual(await seenBy(app, api, tokens.access_token), { active: false });
  deepEqual(refusal(await refreshWith(own, tokens.refresh_token)), [400, 'invalid_scope']);
  await api.patch({ clients: [own.id] });
  equal((await refreshWith(own, tokens.refresh_token)).status, 200, 'the token was left as it was');
});

test('password grant: names no API', async () => {
  const machine = await app.register({ grant_types: ['password'], redirect_uris: [], scope: 'openid' });
  for (const more of [{ resource: orders.identifier }, { audience: orders.identifier }]) {
    const fields = { grant_type: 'password', username: 'alice', password: PASSWORD, ...more };
    const answer = await postForm(app, '/oauth2/token', fields, basic(machine));
    deepEqual(refusal(answer), [400, 'invalid_target']);
  }
});

test('default_resource: without `resource` and `openid`, and frozen in the grant', async () => {
  const by = await app.register({ scope });
  const api = await createApi(app, { clients: [by.id, partner.id] });
  const set = (defaultResource: string | null) =>
    app.app.clients.update(by.id, {
      mode: 'merge',
      authority: 'administrator',
      settings: { default_resource: defaultResource },
    });
  await set(api.identifier);
  for (const asked of ['read', undefined]) {
    const tokens = await tokensFor({ scope: asked }, by);
    deepEqual([tokens.scope, claimsOf(tokens.access_token).aud], ['read', api.identifier]);
    await set(null);
    equal(claimsOf((await refreshWith(by, tokens.refresh_token)).body.access_token).aud, api.identifier);
    await set(api.identifier);
  }
  const tokens = await tokensFor({ scope: 'openid profile' }, by);
  equal((await userinfo(app, tokens.access_token)).status, 200);
});

test('a resource server with jose lets in its own tokens, and no other', async () => {
  const keys = createRemoteJWKSet(new URL(`${app.issuer}/.well-known/jwks.json`));
  const verify = (token: string, audience: string) =>
    jwtVerify(token, keys, { issuer: app.issuer, audience, typ: 'at+jwt', algorithms: ['RS256'] });
  const tokens = await tokensFor({ resource: orders.identifier, scope: 'openid read' });
  const { payload } = await verify(tokens.access_token, orders.identifier);
  deepEqual([payload.scope, payload.sub], ['read', alice.id]);
  await rejects(verify(tokens.access_token, sales.identifier), { code: 'ERR_JWT_CLAIM_VALIDATION_FAILED' });
  const plain = await tokensFor({ scope: 'openid' });
  for (const token of [plain.access_token, tokens.id_token])
    await rejects(verify(token, orders.identifier), { code: 'ERR_JWT_CLAIM_VALIDATION_FAILED' });
});
