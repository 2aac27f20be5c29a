// The legacy profile (decision 0026), its part of the authorization endpoint: implicit and hybrid response types, signed request
// objects, and that without the setting nothing of it shows.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Agent, codeRequest, redeem, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { call, change, claimsOf, introspect, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');
const DISCOVERY = '/.well-known/openid-configuration';
const before = await call(app, 'GET', DISCOVERY);

const TYPES = ['id_token', 'id_token token', 'code id_token', 'code token', 'code id_token token'];
const keys = await generateKeyPair('ES256');
const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] };

await change(app, { legacy_profiles: true });
const client = await app.register({
  profile: 'legacy',
  redirect_uris: [REDIRECT_URI],
  response_types: ['code', ...TYPES],
  jwks,
});
const modern = await app.register({ jwks });
const agent = new Agent(app);
await agent.signIn(client.id, alice);

const request = (type: string, more: Record<string, string | undefined> = {}) =>
  agent.authorize({
    ...codeRequest(client.id),
    response_type: type,
    scope: 'openid profile',
    nonce: 'n-1',
    state: 's-1',
    ...more,
  });

const fragmentOf = (location: string | undefined): URLSearchParams =>
  new URLSearchParams(new URL(location ?? '').hash.slice(1));

const halfHash = (value: string): string =>
  createHash('sha256').update(value).digest().subarray(0, 16).toString('base64url');

const signed = ({ id } = client): Promise<string> =>
  new SignJWT({ ...codeRequest(id), state: 'inside' })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(id)
    .setAudience(app.issuer)
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(keys.privateKey);

for (const type of TYPES) {
  test(`response type ${type}: everything in the fragment, bound together`, async () => {
    const { status, location } = await request(type);
    equal(status, 303);
    equal(new URL(location ?? '').search, '');
    const answer = fragmentOf(location);
    const words = type.split(' ');
    deepEqual(
      ['code', 'id_token', 'access_token'].filter((name) => answer.has(name)),
      ['code', 'id_token', 'access_token'].filter((name) => words.includes(name.replace('access_', ''))),
    );
    deepEqual([answer.get('iss'), answer.get('state')], [app.issuer, 's-1']);
    const [code, idToken, accessToken] = ['code', 'id_token', 'access_token'].map((name) => answer.get(name));
    if (idToken) {
      const claims = claimsOf(idToken);
      equal(claims.nonce, 'n-1');
      ok(Number(claims.exp) - Number(claims.iat) <= 300);
      equal(claims.at_hash, accessToken ? halfHash(accessToken) : undefined);
      equal(claims.c_hash, code ? halfHash(code) : undefined);
    }
    if (accessToken) {
      deepEqual([answer.get('token_type'), Number(answer.get('expires_in')) <= 300], ['Bearer', true]);
      const { status: known, body } = await userinfo(app, accessToken);
      deepEqual([known, body.preferred_username], [200, 'alice']);
      equal((await introspect(app, accessToken)).body.active, true);
    }
    if (code) {
      const { status: redeemed, body } = await redeem(app, client, { code, verifier: VERIFIER });
      equal(redeemed, 200, JSON.stringify(body));
      equal(claimsOf(body.id_token).nonce, 'n-1');
    }
  });
}

test('response types: also by form_post, and errors in the fragment', async () => {
  const form = await request('code id_token', { response_mode: 'form_post' });
  equal(form.status, 200);
  match(form.body, /name="id_token"/);
  const { location } = await request('id_token', { prompt: 'none', max_age: '0' });
  equal(fragmentOf(location).get('error'), 'login_required');
  const fresh = new Agent(app);
  const silent = await fresh.authorize({
    ...codeRequest(client.id),
    response_type: 'id_token token',
    nonce: 'n',
    prompt: 'none',
  });
  equal(fragmentOf(silent.location).get('error'), 'login_required');
});

test('request object: signed by the application, its parameters are the request', async () => {
  const { location } = await agent.authorize({
    client_id: client.id,
    request: await signed(),
    state: 'outside',
  });
  const answer = new URL(location ?? '').searchParams;
  deepEqual([answer.get('state'), answer.has('code')], ['inside', true]);
});

test('discovery: says what is on, and at once', async () => {
  const { body } = await call(app, 'GET', DISCOVERY);
  deepEqual(body.response_types_supported, ['code', ...TYPES].map(sorted).toSorted());
  ok(Array.isArray(body.grant_types_supported) && body.grant_types_supported.includes('implicit'));
  deepEqual(
    [body.request_parameter_supported, body.registration_endpoint],
    [true, `${app.url}/oauth2/register`],
  );
  deepEqual(body.request_object_signing_alg_values_supported, ['RS256', 'PS256', 'ES256', 'EdDSA']);
});

const sorted = (type: string): string => type.split(' ').sort().join(' ');

test('an application without the profile: as before, though the setting is on', async () => {
  const implicit = await agent.authorize({
    ...codeRequest(modern.id),
    response_type: 'id_token',
    nonce: 'n',
  });
  equal(fragmentOf(implicit.location).get('error'), 'invalid_request');
  const byObject = await agent.authorize({ ...codeRequest(modern.id), request: await signed(modern) });
  const { searchParams } = new URL(byObject.location ?? 'none:');
  equal(searchParams.get('error'), 'request_not_supported');
});

test('registration: an initial access token may carry the profile', async () => {
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'old', profile: 'legacy' });
  const register = (metadata: object, token: unknown) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...metadata }),
    });
  const made = await register(
    { response_types: ['id_token token'], grant_types: ['implicit'], request_object_signing_alg: 'ES256' },
    body.data.token,
  );
  equal(made.status, 201, made.text);
  deepEqual(
    [made.body.response_types, made.body.grant_types, made.body.request_object_signing_alg],
    [['id_token token'], ['implicit'], 'ES256'],
  );
  const url = String(made.body.registration_client_uri).slice(app.url.length);
  const headers = {
    authorization: `Bearer ${made.body.registration_access_token}`,
    'content-type': 'application/json',
  };
  const put = await call(app, 'PUT', url, {
    headers,
    body: JSON.stringify({
      client_id: made.body.client_id,
      redirect_uris: [REDIRECT_URI],
      response_types: ['code', 'id_token'],
      grant_types: ['authorization_code', 'implicit'],
    }),
  });
  equal(put.status, 200, put.text);
  deepEqual(
    [put.body.response_types, put.body.request_object_signing_alg],
    [['code', 'id_token'], undefined],
  );
});

test('setting off: discovery byte for byte, and the application has the code flow alone', async () => {
  const answers = async () =>
    Promise.all(
      [
        { response_type: 'id_token', nonce: 'n' },
        { response_type: 'code token', nonce: 'n' },
        { request: await signed() },
        { request: 'no-object', client_id: 'nobody' },
        { request_uri: 'https://rp.example/request.jwt' },
      ].map(async (more) => {
        const { status, location } = await agent.authorize({ ...codeRequest(client.id), ...more });
        const error =
          location && (fragmentOf(location).get('error') ?? new URL(location).searchParams.get('error'));
        return [status, error];
      }),
    );
  const live = fragmentOf((await request('id_token token')).location).get('access_token') ?? '';
  await change(app, { legacy_profiles: false });
  const { text } = await call(app, 'GET', DISCOVERY);
  equal(text, before.text);
  deepEqual(await answers(), [
    [303, 'unsupported_response_type'],
    [303, 'unsupported_response_type'],
    [303, 'request_not_supported'],
    [400, undefined],
    [303, 'request_uri_not_supported'],
  ]);
  const { response } = await agent.signIn(client.id, alice);
  ok(response.has('code'));
  equal((await userinfo(app, live)).status, 401);
  const { body } = await app.admin('GET', `/clients/${client.id}`);
  deepEqual([body.data.response_types, body.data.profile], [['code'], 'legacy']);
  const renamed = await app.admin('PATCH', `/clients/${client.id}`, { client_name: 'Renamed' });
  equal(renamed.status, 200, JSON.stringify(renamed.body));

  await change(app, { legacy_profiles: true });
  const again = await app.admin('GET', `/clients/${client.id}`);
  deepEqual(
    again.body.data.response_types,
    ['code', ...TYPES].map((type) => sorted(type)),
  );
  equal((await request('id_token')).status, 303);
});

test('minimal_id_tokens: an ID token alone has the claims of its scopes, one beside others none', async () => {
  const patch = (minimal_id_tokens: boolean) =>
    app.admin('PATCH', `/clients/${client.id}`, { minimal_id_tokens });
  equal((await patch(true)).status, 200);
  for (const [type, has] of [
    ['id_token', true],
    ['id_token token', false],
    ['code id_token', false],
  ] as const) {
    const { location } = await request(type, { scope: 'openid profile' });
    const claims = claimsOf(fragmentOf(location).get('id_token') ?? '');
    equal('preferred_username' in claims, has, type);
  }
  equal((await patch(false)).status, 200);
});
