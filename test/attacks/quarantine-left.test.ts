// Attack (decision 0026): a client that nobody vouched for leaves its room by a door other than the one it came in: a change of
// itself (RFC 7592), an administrator's form filled in by mistake, a token endpoint, or a record that an error let through.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { clients } from '../../src/store/collections.ts';
import { update } from '../../src/store/update.ts';
import { bearer, call, change, type Json, postForm } from '../flows/support.ts';
import { Agent, codeRequest, redeem } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('root', { role: 'admin' });
await change(app, { agents: true });
const asked = { client_name: 'Agent', redirect_uris: [REDIRECT_URI] };

async function stranger(): Promise<{ id: string; client: Json }> {
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  equal(status, 201, JSON.stringify(body));
  return { id: String(body.client_id), client: body };
}

/** What would be a way out, by the name that a change has for it. */
const ESCAPES: Readonly<Record<string, unknown>> = {
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['authorization_code', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'],
  scope: 'openid roles groups',
  post_logout_redirect_uris: ['https://evil.example/'],
  backchannel_logout_uri: 'https://evil.example/',
  initiate_login_uri: 'https://evil.example/',
  logo_uri: 'https://evil.example/logo.png',
  client_uri: 'https://evil.example/',
  policy_uri: 'https://evil.example/',
  jwks_uri: 'https://evil.example/jwks',
};

const ADMIN_ESCAPES: Readonly<Record<string, unknown>> = {
  ...ESCAPES,
  grant_types: ['authorization_code', 'password'],
  scope: 'openid admin',
  skip_consent: true,
  may_introspect: true,
  keycloak_tokens: true,
  access_token_audience: 'client_id',
  allow_self_signup: true,
};

const storedOf = async (id: string): Promise<string> => {
  const stored = await app.store.collection(clients).find(id);
  ok(stored !== undefined);
  const { updatedAt: _, hasChosenAuthMethod: __, metadata, ...kept } = stored.value;
  return JSON.stringify({ ...kept, metadata: Object.entries(metadata).sort() });
};

test('attack: quarantine left by PUT of the client itself', async () => {
  const { id, client } = await stranger();
  const before = await storedOf(id);
  const put = (changes: Json) =>
    call(app, 'PUT', `/oauth2/register/${id}`, {
      headers: { ...bearer(String(client.registration_access_token)), 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked, client_id: id, ...changes }),
    });
  for (const [name, value] of Object.entries(ESCAPES)) {
    const { status, body } = await put({ [name]: value });
    equal(status, 200, `${name}: ${JSON.stringify(body)}`);
    ok(JSON.stringify(body[name]) !== JSON.stringify(value), name);
    equal(body.client_secret, undefined);
    if (name === 'scope') equal(body.scope, 'openid');
  }
  for (const forbidden of ['quarantine', 'skip_consent', 'is_active', 'origin', 'client_type']) {
    const { status } = await put({ [forbidden]: forbidden === 'origin' ? 'admin' : true });
    ok(status === 400 || status === 200, forbidden);
  }
  equal((await put({})).status, 200);
  equal(await storedOf(id), before);
});

test('attack: quarantine left by PUT or PATCH of an administrator', async () => {
  const { id } = await stranger();
  const before = await storedOf(id);
  for (const [name, value] of Object.entries(ADMIN_ESCAPES)) {
    for (const method of ['PATCH', 'PUT']) {
      const sent = method === 'PUT' ? { ...asked, token_endpoint_auth_method: 'none', scope: 'openid' } : {};
      const { status, body } = await app.admin(method, `/clients/${id}`, { ...sent, [name]: value });
      equal(status, 400, `${method} ${name}`);
      ok(Object.hasOwn(body.error?.fields ?? {}, name), `${method} ${name}: ${JSON.stringify(body.error)}`);
    }
  }
  for (const method of ['PATCH', 'PUT']) {
    const { status, body } = await app.admin(method, `/clients/${id}`, { quarantine: null });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['quarantine']]);
  }
  equal((await app.admin('POST', `/clients/${id}/rotate-secret`)).status, 400);
  equal(await storedOf(id), before);
  equal(
    (await app.admin('PATCH', `/clients/${id}`, { access_token_seconds: 60 })).status,
    200,
    'smaller is fine',
  );
});

test('attack: quarantine left through a record that says otherwise', async () => {
  const { id } = await stranger();
  await update(app.store.collection(clients), id, (record) => ({
    value: {
      ...record,
      skipConsent: true,
      mayIntrospect: true,
      metadata: {
        ...record.metadata,
        scope: 'openid roles groups admin',
        grant_types: [
          'authorization_code',
          'refresh_token',
          'client_credentials',
          'password',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
        post_logout_redirect_uris: ['https://evil.example/'],
      },
    },
  }));
  const token = (fields: Record<string, string>) =>
    postForm(app, '/oauth2/token', { client_id: id, ...fields });
  for (const fields of [
    { grant_type: 'client_credentials' },
    { grant_type: 'password', username: 'root', password: PASSWORD },
  ]) {
    equal((await token(fields)).body.error, 'unauthorized_client', fields.grant_type);
  }
  const device = await postForm(app, '/oauth2/device_authorization', { client_id: id, scope: 'openid' });
  equal(device.body.error, 'unauthorized_client');
  const out = await new Agent(app).get(
    `/oauth2/logout?client_id=${id}&post_logout_redirect_uri=${encodeURIComponent('https://evil.example/')}`,
  );
  equal(out.location?.startsWith('https://evil.example') ?? false, false);

  const agent = new Agent(app);
  const login = await agent.authorize({ ...codeRequest(id), scope: 'openid roles groups admin' });
  const page = await agent.submit(login, { username: 'root', password: PASSWORD });
  match(page.body, /action="\/oauth2\/consent"/, 'consent, whatever the record says');
  const done = await agent.submit(page, { action: 'allow' });
  const code = new URL(done.location ?? '').searchParams.get('code') ?? '';
  const { body } = await redeem(app, { id, secret: '' }, { code, verifier: 'v'.repeat(43) });
  equal(body.scope, 'openid');
  const claims = Object.keys(
    JSON.parse(Buffer.from(body.access_token.split('.')[1] ?? '', 'base64url').toString()),
  );
  for (const name of ['role', 'roles', 'groups']) ok(!claims.includes(name), name);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(body.access_token) })).status, 403);
});
