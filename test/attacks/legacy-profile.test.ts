// What the legacy profile opens (decision 0026), attacked: tokens in fragments, requests without a nonce, confused response modes
// and types, mixed-up issuers, downgraded request objects, and who may have the profile at all.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { createApi } from '../flows/api-support.ts';
import { basic, bearer, call, change, introspect, later, postForm, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, hiddenFields } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice', { role: 'admin' });
await change(app, { legacy_profiles: true });

const TYPES = ['id_token', 'id_token token', 'code id_token', 'code token', 'code id_token token'];
const keys = await generateKeyPair('RS256', { extractable: true });
const publicJwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', use: 'sig' };
const LEGACY = {
  profile: 'legacy',
  redirect_uris: [REDIRECT_URI],
  response_types: ['code', ...TYPES],
  jwks: { keys: [publicJwk] },
};
const client = await app.register(LEGACY);
const agent = new Agent(app);
await agent.signIn(client.id, alice);

const request = (type: string, more: Record<string, string | undefined> = {}) =>
  agent.authorize({
    ...codeRequest(client.id),
    response_type: type,
    scope: 'openid profile offline_access',
    nonce: 'n',
    state: 's',
    ...more,
  });

const fragmentOf = (location: string | undefined): URLSearchParams =>
  new URLSearchParams(new URL(location ?? 'none:').hash.slice(1));
const errorOf = (location: string | undefined): string | null =>
  fragmentOf(location).get('error') ?? new URL(location ?? 'none:').searchParams.get('error');

async function fragmentToken(type = 'id_token token'): Promise<string> {
  const token = fragmentOf((await request(type)).location).get('access_token');
  ok(token);
  return token;
}

test('a token from a fragment opens userinfo alone', async () => {
  const token = await fragmentToken();
  equal((await userinfo(app, token)).status, 200);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(token) })).status, 401);
  equal((await call(app, 'GET', '/account/api/profile', { headers: bearer(token) })).status, 401);
  const server = await app.register({ may_introspect: true });
  equal((await introspect(app, token, basic(server))).text, '{"active":false}');
  const { body } = await postForm(app, '/oauth2/introspect', { token }, basic(client));
  equal(body.active, true);
  // It ends its own grant, and no session.
  equal((await call(app, 'POST', '/oauth2/logout', { headers: bearer(token) })).status, 200);
  equal((await userinfo(app, token)).status, 401);
  ok(fragmentOf((await request('id_token')).location).has('id_token'));
});

test('a token from a fragment is dead after five minutes, whatever the application says', async () => {
  const { status } = await app.admin('PATCH', `/clients/${client.id}`, { access_token_seconds: 3600 });
  equal(status, 200);
  const token = await fragmentToken('code id_token token');
  await later(301_000, async () => equal((await userinfo(app, token)).status, 401));
});

test('a token from a fragment is in the audit log and the metrics, like every other', async () => {
  const audited = async (): Promise<readonly unknown[]> => {
    const query = `event=token.issued&client_id=${client.id}&limit=200`;
    const { body } = await app.admin('GET', `/audit?${query}`);
    return (body.data.items ?? []).filter(({ details }) => Object(details).grant_type === 'implicit');
  };
  const counted = async (): Promise<number> => {
    const { body } = await agent.get('/metrics');
    return Number(
      /latchkey_tokens_issued_total{grant_type="implicit",worker="0"} (\d+)/.exec(body)?.[1] ?? 0,
    );
  };
  const [before, countBefore] = [await audited(), await counted()];
  await fragmentToken();
  await request('id_token', { scope: 'openid' });
  await request('code');
  equal(await counted(), countBefore + 2);
  for (let tries = 0; (await audited()).length < before.length + 2 && tries < 1200; tries += 1)
    await sleep(50);
  equal((await audited()).length, before.length + 2);
});

test('a token from a fragment is never for an API', async () => {
  const identifier = 'https://api.example/orders';
  await createApi(app, { identifier, scopes: [{ name: 'read', description: 'Read', is_default: true }] });
  for (const more of [
    { resource: identifier, scope: 'openid read' },
    { scope: `openid ${identifier}/read` },
    { scope: `openid ${identifier}/.default` },
  ]) {
    for (const type of ['id_token token', 'code token']) {
      const { location } = await request(type, more);
      equal(errorOf(location), 'invalid_target', JSON.stringify(more));
      ok(!fragmentOf(location).has('access_token'));
    }
  }
});

test('a request without a nonce is refused for every type that gives an ID token', async () => {
  for (const type of TYPES) {
    const { location } = await request(type, { nonce: undefined });
    // Its ID token comes from the token endpoint (OIDC Core §3.3.2.11; decision 0026).
    if (type === 'code token') {
      equal(errorOf(location), null, type);
      continue;
    }
    equal(errorOf(location), 'invalid_request', type);
    deepEqual([...fragmentOf(location).keys()].sort(), ['error', 'error_description', 'iss', 'state'], type);
  }
});

test('response mode and type: no token reaches a query, and no type is had by another spelling', async () => {
  for (const type of TYPES) {
    for (const mode of ['query', 'query.jwt', 'web_message', 'jwt', 'Query']) {
      const { location = '', status, body } = await request(type, { response_mode: mode });
      ok(!/(?:access_token|id_token|code)=/.test(location), `${type} ${mode}: ${location}`);
      ok(status >= 400 || errorOf(location) !== null, body);
    }
  }
  for (const type of ['token', 'none', 'code none', 'ID_TOKEN', 'id_token  token', 'token token', '']) {
    const { location } = await request(type);
    const answer = fragmentOf(location);
    ok(!answer.has('access_token') || type === 'id_token  token', type);
  }
});

test('response type: taken back during the sign-in, it is not answered', async () => {
  const other = await app.register(LEGACY);
  const browser = new Agent(app);
  const page = await browser.authorize({
    ...codeRequest(other.id),
    response_type: 'id_token token',
    nonce: 'n',
  });
  match(page.body, /name="password"/);
  equal((await app.admin('PATCH', `/clients/${other.id}`, { profile: null })).status, 200);
  const callback = await browser.finish(page, alice);
  equal(fragmentOf(callback.href).get('error'), 'unsupported_response_type');
  ok(!fragmentOf(callback.href).has('access_token'));
});

test('setting: turned off during the sign-in, nothing of the profile is answered', async () => {
  const other = await app.register(LEGACY);
  const browser = new Agent(app);
  const page = await browser.authorize({
    ...codeRequest(other.id),
    response_type: 'code id_token token',
    nonce: 'n',
  });
  match(page.body, /name="password"/);
  await change(app, { legacy_profiles: false });
  const callback = await browser.finish(page, alice);
  equal(fragmentOf(callback.href).get('error'), 'unsupported_response_type');
  deepEqual(
    ['code', 'id_token', 'access_token'].filter((name) => fragmentOf(callback.href).has(name)),
    [],
  );
  await change(app, { legacy_profiles: true });
});

test('mix-up: every answer says its issuer, errors and forms too', async () => {
  for (const type of ['code', ...TYPES]) {
    const { location } = await request(type);
    const answer = type === 'code' ? new URL(location ?? '').searchParams : fragmentOf(location);
    equal(answer.get('iss'), app.issuer, type);
    const form = await request(type, { response_mode: 'form_post' });
    equal(hiddenFields(form.body).iss, app.issuer, type);
    const wrong = await request(type, { prompt: 'login none' });
    const error = type === 'code' ? new URL(wrong.location ?? '').searchParams : fragmentOf(wrong.location);
    deepEqual([error.get('error'), error.get('iss')], ['invalid_request', app.issuer], type);
  }
});

const claims = () => ({ ...codeRequest(client.id), state: 'inside' });

test('request object: none, HMAC, another algorithm or key than registered: refused', async () => {
  const unsigned = new UnsecuredJWT(claims()).setIssuer(client.id).setAudience(app.issuer).encode();
  const sign = (alg: string, key: Parameters<SignJWT['sign']>[0], more: object = {}) =>
    new SignJWT({ ...claims(), ...more })
      .setProtectedHeader({ alg, kid: 'k' })
      .setIssuer(client.id)
      .setAudience(app.issuer)
      .setExpirationTime('5m')
      .sign(key);
  const pem = new TextEncoder().encode(JSON.stringify(publicJwk));
  const other = await generateKeyPair('RS256');
  const expired = new SignJWT(claims())
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setIssuer(client.id)
    .setAudience(app.issuer)
    .setExpirationTime(1);
  const elsewhere = new SignJWT(claims())
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setIssuer(client.id)
    .setAudience('https://elsewhere.example')
    .setExpirationTime('5m');
  const good = await sign('RS256', keys.privateKey);
  const [head, , signature] = good.split('.');
  const forged = [head, unsigned.split('.')[1], signature].join('.');
  for (const [what, object] of Object.entries({
    none: unsigned,
    'HMAC by the secret': await sign('HS256', new TextEncoder().encode(client.secret)),
    'HMAC by the public key': await sign('HS256', pem),
    'another key': await sign('RS256', other.privateKey),
    'another payload': forged,
    expired: await expired.sign(keys.privateKey),
    'another audience': await elsewhere.sign(keys.privateKey),
    nested: await sign('RS256', keys.privateKey, { request: good }),
    'by reference inside': await sign('RS256', keys.privateKey, { request_uri: 'https://rp.example/o' }),
  })) {
    const { location } = await agent.authorize({ ...codeRequest(client.id), request: object });
    equal(errorOf(location), 'invalid_request_object', what);
    ok(!new URL(location ?? '').searchParams.has('code'), what);
  }
  equal((await agent.authorize({ ...codeRequest(client.id), request: good })).status, 303);
  // A registered algorithm is the only one.
  const strict = { request_object_signing_alg: 'ES256' };
  equal((await app.admin('PATCH', `/clients/${client.id}`, strict)).status, 200);
  const { location } = await agent.authorize({ ...codeRequest(client.id), request: good });
  equal(errorOf(location), 'invalid_request_object');
  equal(
    (await app.admin('PATCH', `/clients/${client.id}`, { request_object_signing_alg: null })).status,
    200,
  );
});

test('attack: a request object kept for later, of an application as FAPI 2.0 has them', async () => {
  const strict = await app.register({
    ...LEGACY,
    response_types: ['code'],
    token_endpoint_auth_method: 'private_key_jwt',
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
  });
  const sign = (lifetime: object) =>
    new SignJWT({ ...codeRequest(strict.id), iss: strict.id, sub: strict.id, aud: app.issuer, ...lifetime })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setJti(crypto.randomUUID())
      .sign(keys.privateKey);
  const now = Math.floor(Date.now() / 1000);
  const push = async (lifetime: object): Promise<unknown> => {
    const { status, body } = await postForm(app, '/oauth2/par', {
      client_id: strict.id,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await sign({ exp: now + 60 }),
      request: await sign(lifetime),
    });
    return status === 201 ? status : body.error;
  };
  for (const [lifetime, answer] of [
    [{ nbf: now, exp: now + 300 }, 201],
    [{ nbf: now + 8, exp: now + 300 }, 201],
    [{ exp: now + 300 }, 'invalid_request_object'],
    [{ nbf: now }, 'invalid_request_object'],
    [{ nbf: now, exp: now + 4200 }, 'invalid_request_object'],
    [{ nbf: now - 4200, exp: now + 300 }, 'invalid_request_object'],
    [{ nbf: now - 4200, exp: now - 700 }, 'invalid_request_object'],
  ] as const)
    equal(await push(lifetime), answer, JSON.stringify(lifetime));
});

test('request object: an address inside that is not registered is not returned to', async () => {
  const object = await new SignJWT({ ...claims(), redirect_uri: 'https://evil.example/' })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setIssuer(client.id)
    .setAudience(app.issuer)
    .setExpirationTime('5m')
    .sign(keys.privateKey);
  const { status, location } = await agent.authorize({ ...codeRequest(client.id), request: object });
  deepEqual([status, location], [400, undefined]);
});

test('the profile: refused to native, admin and built-in applications', async () => {
  const { jwks: _, ...bare } = LEGACY;
  const refused: readonly [Record<string, unknown>, string][] = [
    [{ ...bare, application_type: 'native', redirect_uris: ['com.example.app:/cb'] }, 'profile'],
    [{ ...bare, scope: 'openid admin' }, 'profile'],
    [{ ...bare, scope: 'openid admin:read', response_types: ['code'] }, 'profile'],
    [{ ...bare, redirect_uris: ['http://127.0.0.1/cb'] }, 'response_types'],
    [{ ...bare, redirect_uris: ['https://localhost/cb'] }, 'response_types'],
    [{ ...bare, profile: null }, 'response_types'],
    [{ ...bare, profile: 'modern' }, 'profile'],
    [{ ...bare, request_object_signing_alg: 'none' }, 'request_object_signing_alg'],
    [{ ...bare, request_object_signing_alg: 'HS256' }, 'request_object_signing_alg'],
  ];
  for (const [metadata, field] of refused) {
    const { status, body } = await app.admin('POST', '/clients', metadata);
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, [field]], JSON.stringify(metadata));
  }
  for (const change of [{ application_type: 'native' }, { scope: 'openid admin' }]) {
    const { status, body } = await app.admin('PATCH', `/clients/${client.id}`, change);
    equal(status, 400, JSON.stringify(body));
    ok(body.error?.fields?.profile, JSON.stringify(body));
  }
  const builtIn = await app.admin('PATCH', '/clients/latchkey-admin', { profile: 'legacy' });
  ok(builtIn.status >= 400, JSON.stringify(builtIn.body));
});

test('the profile: strangers cannot get it, by asking, by a change, or from an administrator', async () => {
  await change(app, { agents: true });
  const post = (metadata: object) =>
    call(app, 'POST', '/oauth2/register', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...metadata }),
    });
  equal((await post({ profile: 'legacy' })).status, 400);
  const made = await post({
    response_types: ['code', 'id_token token'],
    grant_types: ['authorization_code', 'implicit'],
    request_uris: ['https://rp.example/o.jwt'],
    frontchannel_logout_uri: 'https://rp.example/out',
    request_object_signing_alg: 'ES256',
  });
  ok([201, 400].includes(made.status), made.text);
  const plain = await post({});
  equal(plain.status, 201, plain.text);
  for (const { body } of [made, plain]) {
    if (body.client_id === undefined) continue;
    ok(
      !('request_uris' in body || 'frontchannel_logout_uri' in body || 'request_object_signing_alg' in body),
    );
    deepEqual(body.response_types, ['code']);
  }
  const path = `/clients/${plain.body.client_id}`;
  for (const wished of [
    { profile: 'legacy' },
    { frontchannel_logout_uri: 'https://rp.example/out' },
    { profile: 'legacy', response_types: ['code', 'id_token'] },
  ]) {
    const { status } = await app.admin('PATCH', path, wished);
    equal(status, 400, JSON.stringify(wished));
  }
  // Who registered with an ordinary token is no stranger, and has no profile either.
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'ordinary' });
  const registered = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(body.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], response_types: ['id_token'] }),
  });
  deepEqual([registered.status, registered.body.error], [400, 'invalid_client_metadata']);
});
