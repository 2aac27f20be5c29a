// The discovery document (OIDC Discovery §3, RFC 8414): complete, and nothing that does not exist.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { ADMIN_TOKEN, REDIRECT_URI, SECRET_KEY, startApp, type TestApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { basic, bearer, call, type Json, postForm, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const { body: document, headers, text } = await call(app, 'GET', '/.well-known/openid-configuration');
const client = await app.register({
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
});
const list = (name: string): unknown[] => (Array.isArray(document[name]) ? document[name] : []);

test('discovery: one document at all its addresses, the issuer byte for byte', async () => {
  equal(document.issuer, `${app.url}/oauth2`);
  for (const path of [
    '/oauth2/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/oauth2',
    '/oauth2/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server',
  ]) {
    const answer = await call(app, 'GET', path);
    deepEqual([answer.status, answer.text], [200, text], path);
  }
  match(headers.get('content-type') ?? '', /^application\/json/);
  equal(headers.get('access-control-allow-origin'), '*');
  const again = await call(app, 'GET', '/.well-known/openid-configuration', {
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  });
  deepEqual([again.status, again.text], [304, '']);
});

test('discovery: every endpoint has its documented address', () => {
  const at = (name: string): string => String(document[name]).slice(app.url.length);
  const addresses = Object.keys(document).filter((name) => /_endpoint$|^jwks_uri$/.test(name));
  deepEqual(Object.fromEntries(addresses.sort().map((name) => [name, at(name)])), {
    authorization_endpoint: '/oauth2/authorize',
    device_authorization_endpoint: '/oauth2/device_authorization',
    end_session_endpoint: '/oauth2/logout',
    introspection_endpoint: '/oauth2/introspect',
    jwks_uri: '/oauth2/.well-known/jwks.json',
    pushed_authorization_request_endpoint: '/oauth2/par',
    revocation_endpoint: '/oauth2/revoke',
    token_endpoint: '/oauth2/token',
    userinfo_endpoint: '/oauth2/userinfo',
  });
});

test('discovery: every advertised endpoint answers its own request', async () => {
  const path = (name: string): string => String(document[name]).slice(app.url.length);
  const authorization = {
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  };
  const answers: Readonly<Record<string, readonly [number, Promise<{ status: number }>]>> = {
    authorization: [
      200,
      call(app, 'GET', `${path('authorization_endpoint')}?${new URLSearchParams(authorization)}`),
    ],
    token: [200, postForm(app, path('token_endpoint'), { grant_type: 'client_credentials' }, basic(client))],
    userinfo: [401, call(app, 'GET', path('userinfo_endpoint'))],
    introspection: [200, postForm(app, path('introspection_endpoint'), { token: 'x' }, bearer(ADMIN_TOKEN))],
    revocation: [200, postForm(app, path('revocation_endpoint'), { token: 'x' })],
    logout: [200, call(app, 'GET', path('end_session_endpoint'))],
    par: [201, postForm(app, path('pushed_authorization_request_endpoint'), authorization, basic(client))],
    device: [400, postForm(app, path('device_authorization_endpoint'), { scope: 'openid' }, basic(client))],
    jwks: [200, call(app, 'GET', path('jwks_uri'))],
  };
  for (const [name, [status, answer]] of Object.entries(answers)) equal((await answer).status, status, name);
});

test('discovery: advertised grants, response types and modes are those accepted', async () => {
  deepEqual(document.response_types_supported, ['code']);
  deepEqual(list('response_modes_supported').toSorted(), ['form_post', 'fragment', 'query']);
  deepEqual(list('grant_types_supported').toSorted(), [
    'authorization_code',
    'client_credentials',
    'refresh_token',
    'urn:ietf:params:oauth:grant-type:device_code',
  ]);
  for (const grant_type of [
    'implicit',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'urn:ietf:params:oauth:grant-type:saml2-bearer',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'urn:openid:params:grant-type:ciba',
    'urn:ietf:params:oauth:grant-type:pre-authorized_code',
  ]) {
    const { status, body } = await postForm(app, '/oauth2/token', { grant_type }, basic(client));
    deepEqual([status, body.error], [400, 'unsupported_grant_type'], grant_type);
    const { status: made } = await app.admin('POST', '/clients', {
      grant_types: [grant_type],
      redirect_uris: [],
    });
    equal(made, 400, grant_type);
  }
});

test('discovery: advertised security properties hold', () => {
  deepEqual(document.code_challenge_methods_supported, ['S256']);
  equal(document.authorization_response_iss_parameter_supported, true);
  deepEqual(document.id_token_signing_alg_values_supported, ['RS256', 'ES256']);
  deepEqual(document.userinfo_signing_alg_values_supported, ['RS256', 'ES256']);
  deepEqual(document.subject_types_supported, ['public']);
  equal(document.request_uri_parameter_supported, false);
  ok(document.request_parameter_supported !== true);
  const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
  deepEqual(list('token_endpoint_auth_methods_supported').toSorted(), [...methods, 'none'].toSorted());
  deepEqual(list('introspection_endpoint_auth_methods_supported').toSorted(), methods);
  deepEqual(list('revocation_endpoint_auth_methods_supported').toSorted(), [...methods, 'none'].toSorted());
  for (const alg of list('token_endpoint_auth_signing_alg_values_supported'))
    ok(!/^HS|none/.test(String(alg)), String(alg));
  ok(
    !JSON.stringify(document).includes('"none","') ||
      !list('id_token_signing_alg_values_supported').includes('none'),
  );
  equal(document.backchannel_logout_supported, true);
  equal(document.frontchannel_logout_supported, undefined);
  equal(document.check_session_iframe, undefined);
  for (const name of Object.keys(document))
    ok(!/tls_client|mtls|ciba|encryption|jwt_|challenge_endpoint/.test(name), name);
});

test('discovery: documented scopes, claims and prompts; administrator scopes are not announced', () => {
  deepEqual(list('scopes_supported').toSorted(), [
    'address',
    'email',
    'groups',
    'offline_access',
    'openid',
    'phone',
    'profile',
    'roles',
  ]);
  const claims = list('claims_supported');
  for (const name of [
    'sub',
    'name',
    'email',
    'email_verified',
    'auth_time',
    'acr',
    'amr',
    'sid',
    'roles',
    'locale',
  ])
    ok(claims.includes(name), name);
  deepEqual(list('prompt_values_supported').toSorted(), [
    'consent',
    'create',
    'login',
    'none',
    'select_account',
  ]);
  ok(list('acr_values_supported').includes('urn:latchkey:acr:single-factor'));
});

// Libraries register wherever an endpoint is announced; this one needs a token that an administrator issued (decision 0026).
test('discovery: no registration_endpoint while registration needs a token', async () => {
  equal(document.registration_endpoint, undefined);
  equal((await call(app, 'POST', '/oauth2/register')).status, 401);
});

// Duende.IdentityModel and angular-oauth2-oidc refuse a jwks_uri outside of the issuer.
for (const [name, issuerOf] of [
  ['{BASE_URL}/oauth2', (url: string) => `${url}/oauth2`],
  ['BASE_URL', (url: string) => url],
  ['BASE_URL with a slash', (url: string) => `${url}/`],
  ['a realm', (url: string) => `${url}/realms/main`],
  ['another path with a slash', (url: string) => `${url}/tenant/one/`],
] as const) {
  test(`discovery: keys and metadata lie below the issuer: ${name}`, async () => {
    const port = await freePort();
    const issuer = issuerOf(`http://127.0.0.1:${port}`);
    await withApp({ port, env: { ISSUER: issuer } }, async (it) => {
      const base = issuer.replace(/\/$/, '');
      const below = base.slice(it.url.length);
      for (const path of [
        `${below}/.well-known/openid-configuration`,
        `${below}/.well-known/oauth-authorization-server`,
        `/.well-known/oauth-authorization-server${below}`,
        '/.well-known/openid-configuration',
      ]) {
        const { status, body } = await call(it, 'GET', path);
        deepEqual([status, body.issuer], [200, issuer], path);
        equal(body.jwks_uri, `${base}/.well-known/jwks.json`);
        deepEqual((await call(it, 'DELETE', path)).headers.get('allow'), 'GET, OPTIONS', path);
      }
      const keys = await call(it, 'GET', `${below}/.well-known/jwks.json`);
      ok(keys.text.includes('"kid"'), keys.text);
      for (const path of ['/.well-known/jwks.json', '/oauth2/.well-known/jwks.json'])
        equal((await call(it, 'GET', path)).text, keys.text, path);
    });
  });
}

test('discovery: keys at BASE_URL when the issuer lies elsewhere', async () => {
  const port = await freePort();
  // The second one only begins like BASE_URL.
  for (const issuer of ['https://login.example.com/x', `http://127.0.0.1:${port}/auth2/x`])
    await withApp({ port, path: '/auth', env: { ISSUER: issuer } }, async (it) => {
      const { body } = await call(it, 'GET', '/.well-known/openid-configuration');
      deepEqual([body.issuer, body.jwks_uri], [issuer, `${it.url}/.well-known/jwks.json`]);
    });
});

test('discovery: the password grant is announced while an active application has it', async () => {
  const env = { SECRET_KEY };
  await withApp({ env }, async (it) => {
    const isAnnounced = async (at: TestApp): Promise<boolean> => {
      // Checked at most once a minute, without delaying the response that starts the check.
      at.advance(60_000);
      for (const path of ['/.well-known/openid-configuration', '/readyz']) await call(at, 'GET', path);
      const { body } = await call(at, 'GET', '/oauth2/.well-known/openid-configuration');
      return Array.isArray(body.grant_types_supported) && body.grant_types_supported.includes('password');
    };
    equal(await isAnnounced(it), false);
    const old = await it.register({ grant_types: ['password'], redirect_uris: [], response_types: [] });
    equal(await isAnnounced(it), true);
    await withApp({ shared: it.store, env }, async (second) => {
      const { text } = await call(second, 'GET', '/.well-known/openid-configuration');
      ok(text.includes('"password"'), 'known from the start');
      equal((await it.admin('PATCH', `/clients/${old.id}`, { is_active: false })).status, 200);
      equal(await isAnnounced(second), false);
    });
    equal(await isAnnounced(it), false);
  });
});

test('discovery: keys are public ones', async () => {
  const { body } = await call(app, 'GET', '/.well-known/jwks.json');
  const keys = Array.isArray(body.keys) ? body.keys : [];
  ok(keys.length >= 1);
  for (const key of keys as Json[]) {
    const isRsa = key.kty === 'RSA';
    const material = isRsa ? ['e', 'n'] : ['crv', 'x', 'y'];
    deepEqual(Object.keys(key).sort(), ['alg', 'kid', 'kty', 'use', ...material].sort());
    if (isRsa) ok(Buffer.from(String(key.n), 'base64url').length >= 256, 'at least 2048 bits');
    else equal(key.crv, 'P-256');
  }
  // Simple applications take the first one.
  deepEqual(
    keys.map(({ alg }) => alg),
    ['RS256', 'ES256'],
  );
});

test('discovery: documented pages and operational endpoints answer', async () => {
  const html = { headers: { accept: 'text/html' } };
  const expected: Readonly<Record<string, number>> = {
    '/healthz': 200,
    '/readyz': 200,
    '/metrics': 200,
    '/': 200,
    '/onboard': 200,
    '/oauth2/onboard': 200,
    '/oauth2/device': 200,
    '/oauth2/logout': 200,
    '/oauth2/login': 303,
    '/oauth2/signup': 303,
    '/oauth2/consent': 400,
    '/admin/api/openapi.json': 401,
  };
  for (const [path, status] of Object.entries(expected))
    equal((await call(app, 'GET', path, html)).status, status, path);
  ok([200, 303].includes((await call(app, 'GET', '/admin', html)).status));
});
