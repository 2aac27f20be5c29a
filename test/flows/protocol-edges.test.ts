// What libraries send that is not quite what a specification's examples show, each over HTTP on one application (decisions 0001, 0003 and 0006).
// The library's checks stand behind ours: white space in `scope`, `claims` and tokens is settled before it looks, unknown values of
// `prompt` are gone before it refuses them (lib/actions/authorization/request_parameters.js, scopes.js), and a value with dots is
// no JWT to it (lib/shared/reject_structured_tokens.js), so it looks it up as it does any other, and finds nothing.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Agent, codeRequest } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { basic, bearer, call, introspect, postForm, requestTokensOf, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const alice = await app.createUser('alice');
const client = await app.register({
  scope: 'openid profile email',
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT],
});
const browser = new Agent(app);
const tokens = await tokensOf(app, client, alice, {}, browser);
const TOKEN = '/oauth2/token';

const [head = '', payload = '', signature = ''] = tokens.access_token.split('.');
const looksLikeOne: Readonly<Record<string, string>> = {
  'five parts (JWE)': `${head}.${payload}.${signature}.${payload}.${signature}`,
  'padding in its parts': `${head}=.${payload}==.${signature}=`,
  'no signature': `${head}.${payload}.`,
  'alg none': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
  'white space inside': `${head}. ${payload}.${signature}`,
  'one part of three': `${head}..`,
  'white space alone': '   ',
};
for (const [what, token] of Object.entries(looksLikeOne)) {
  test(`a token with ${what}: introspection says inactive, revocation is 200`, async () => {
    for (const by of [bearer(ADMIN_TOKEN), basic(client)]) {
      const asked = await introspect(app, token, by);
      deepEqual([asked.status, asked.text], [200, '{"active":false}']);
    }
    for (const by of [{}, basic(client)]) {
      const revoked = await postForm(app, '/oauth2/revoke', { token }, by);
      deepEqual([revoked.status, revoked.text], [200, '']);
    }
  });
}

test('a valid token with white space around it is active, and is revoked', async () => {
  const own = await tokensOf(app, client, alice, {}, browser);
  for (const token of [own.access_token, own.refresh_token])
    for (const padded of [` ${token}`, `${token}\n`, `\t${token} \r\n`])
      for (const by of [bearer(ADMIN_TOKEN), basic(client)])
        equal((await introspect(app, padded, by)).body.active, true, JSON.stringify(padded.slice(0, 3)));
  for (const by of [{}, basic(client)]) {
    const { access_token: token } = await tokensOf(app, client, alice, {}, browser);
    equal((await postForm(app, '/oauth2/revoke', { token: ` ${token}\n` }, by)).status, 200);
    equal((await introspect(app, token)).body.active, false);
  }
});

for (const scope of [
  'openid  profile',
  ' openid profile',
  'openid profile ',
  'openid\tprofile',
  '\nopenid\r\n profile',
])
  test(`scope is split on runs of white space: ${JSON.stringify(scope)}`, async () => {
    const signedIn = await tokensOf(app, client, alice, { scope }, browser);
    equal(signedIn.scope, 'openid profile');
    const grant = { grant_type: 'refresh_token', refresh_token: signedIn.refresh_token, scope };
    equal((await requestTokensOf(app, client, grant)).scope, 'openid profile');
    const machine = await postForm(app, TOKEN, { grant_type: 'client_credentials', scope }, basic(client));
    deepEqual([machine.status, machine.body.scope], [200, 'openid profile'], machine.text);
    const fields = { ...codeRequest(client.id), scope };
    equal((await postForm(app, '/oauth2/par', fields, basic(client))).status, 201);
    const device = await postForm(
      app,
      '/oauth2/device_authorization',
      { client_id: client.id, scope },
      basic(client),
    );
    equal(device.status, 200, device.text);
    const made = await app.register({ scope });
    equal((await app.admin('GET', `/clients/${made.id}`)).body.data.scope, 'openid profile');
  });

test('scope of white space alone is as none, at registration too', async () => {
  for (const scope of ['', ' ']) {
    equal((await tokensOf(app, client, alice, { scope }, browser)).scope, 'openid');
    const { id } = await app.register({ scope });
    const none = await app.register();
    const scopeOf = async (of: string) => (await app.admin('GET', `/clients/${of}`)).body.data.scope;
    equal(await scopeOf(id), await scopeOf(none.id));
  }
});

const asked: readonly (readonly [what: string, parameters: Record<string, string>, answer: string])[] = [
  ['an unknown prompt', { prompt: 'made-up' }, 'code'],
  ['an unknown prompt beside none', { prompt: 'none made-up' }, 'code'],
  ['two known ones that exclude each other', { prompt: 'none login' }, 'invalid_request'],
  ['claims={}', { claims: '{}' }, 'code'],
  ['claims with white space in it', { claims: ' { } ' }, 'code'],
];
for (const [what, parameters, answer] of asked)
  test(`authorization request with ${what}: ${answer}`, async () => {
    const { response } = await browser.signIn(client.id, alice, parameters);
    equal(response.get('error') ?? [...response.keys()].find((name) => name === 'code'), answer);
  });

test('token answers, errors too, say Pragma: no-cache beside no-store (RFC 6749 §5.1)', async () => {
  const machine = { grant_type: 'client_credentials' };
  for (const [fields, by] of [
    [machine, basic(client)],
    [{ ...machine, more: 'ünusual' }, basic(client)],
    [{ grant_type: 'refresh_token', refresh_token: 'x' }, basic(client)],
    [machine, {}],
  ] as const) {
    const { headers } = await postForm(app, TOKEN, fields, by);
    deepEqual([headers.get('cache-control'), headers.get('pragma')], ['no-store', 'no-cache']);
  }
});

test('devicecode is the device authorization of MSAL', async () => {
  const answer = await postForm(
    app,
    '/oauth2/devicecode',
    { client_id: client.id, scope: 'openid' },
    basic(client),
  );
  equal(answer.status, 200, answer.text);
  match(String(answer.body.device_code), /^[\w-]{43}$/);
});

test('Basic and Bearer with more than one space, and schemes that are none of ours', async () => {
  const { authorization } = basic(client);
  const two = { authorization: authorization.replace(' ', '  ') };
  equal((await postForm(app, TOKEN, { grant_type: 'client_credentials' }, two)).status, 200);
  const spaced = { authorization: `Bearer  ${tokens.access_token}` };
  equal((await call(app, 'GET', '/oauth2/userinfo', { headers: spaced })).status, 200);
  for (const scheme of ['Digest username="x"', 'Negotiate abc', 'Basic', 'nonsense']) {
    const answer = await postForm(
      app,
      TOKEN,
      { grant_type: 'client_credentials' },
      { authorization: scheme },
    );
    deepEqual([answer.status, answer.body.error], [401, 'invalid_client'], `${scheme}: ${answer.text}`);
    match(answer.headers.get('www-authenticate') ?? '', /^Basic /);
  }
});

for (const path of [
  TOKEN,
  '/oauth2/userinfo',
  '/oauth2/authorize',
  '/oauth2/logout',
  '/oauth2/register',
  '/oauth2/.well-known/openid-configuration',
  '/.well-known/jwks.json',
  '/oauth2/login',
  '/account',
  '/admin/api/users',
  '/nowhere',
  '/healthz',
])
  test(`OPTIONS ${path} without preflight headers: 204 with Allow`, async () => {
    const { status, text, headers } = await call(app, 'OPTIONS', path);
    deepEqual([status, text], [204, '']);
    match(headers.get('allow') ?? '', /OPTIONS/);
  });

test('a body in gzip is 415', async () => {
  for (const path of [TOKEN, '/oauth2/introspect', '/oauth2/par']) {
    const headers = { ...basic(client), 'content-encoding': 'gzip' };
    equal((await postForm(app, path, { grant_type: 'client_credentials' }, headers)).status, 415, path);
  }
});

test('an assertion whose aud is the PAR address is taken there (RFC 9126 §2), and nowhere else', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keyed = {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [await exportJWK(publicKey)] },
  };
  const registered = await app.register(keyed);
  const held = await app.register({
    ...keyed,
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
  });
  const push = async ({ id }: { id: string }, path: string) => {
    const assertion = await new SignJWT({ jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(id)
      .setSubject(id)
      .setAudience(`${app.url}/oauth2/par`)
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey);
    return postForm(app, path, {
      ...codeRequest(id),
      grant_type: 'client_credentials',
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
  };
  const taken = await push(registered, '/oauth2/par');
  equal(taken.status, 201, taken.text);
  equal((await push(held, '/oauth2/par')).body.error, 'invalid_client');
  equal((await push(registered, TOKEN)).body.error, 'invalid_client');
});

test('discovery stands at all forms of its address', async () => {
  const first = (await call(app, 'GET', '/oauth2/.well-known/openid-configuration')).text;
  for (const path of [
    '/.well-known/openid-configuration/oauth2',
    '/.well-known/oauth-authorization-server/oauth2',
    '/.well-known/openid-configuration',
  ])
    equal((await call(app, 'GET', path)).text, first, path);
  const below = await startApp({ path: '/sso/id' });
  try {
    for (const path of [
      '/.well-known/oauth-authorization-server/sso/id/oauth2',
      '/.well-known/openid-configuration/sso/id/oauth2',
      '/sso/id/.well-known/openid-configuration',
    ]) {
      const found = await call({ url: new URL(below.url).origin }, 'GET', path);
      equal(found.body.issuer, below.issuer, path);
    }
  } finally {
    await below.stop();
  }
});

test('registration_endpoint is announced while an initial access token is valid', async () => {
  const announced = async (): Promise<boolean> =>
    'registration_endpoint' in (await call(app, 'GET', '/.well-known/openid-configuration')).body;
  equal(await announced(), false);
  const { body } = await app.admin('POST', '/initial-access-tokens', {
    label: 'suite',
    uses: 1,
    expires_in_seconds: 3600,
  });
  app.advance(61_000);
  await announced();
  ok(await poll(announced));
  equal((await app.admin('DELETE', `/initial-access-tokens/${body.data.id}`)).status, 204);
  app.advance(61_000);
  await announced();
  ok(await poll(async () => !(await announced())));
});

/** The check of what is in use delays no answer. */
async function poll(act: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await act()) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}
