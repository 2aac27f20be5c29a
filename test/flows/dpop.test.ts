// DPoP (RFC 9449). What its hooks do in the library (lib/helpers/validate_dpop.js, sender_constraints.js, set_rt_bindings.js,
// lib/shared/access_token.js, lib/actions/authorization/sender_constraints.js): a proof at /authorize and /par sets `dpop_jkt`; a
// nonce is accepted for two minutes to either side and replaces the check of `iat`; a new one comes with every answer to a proof
// that has another; a confidential client's refresh token is not bound, since its authentication binds it (§5).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp } from '../support/app.ts';
import { athOf, type ProofKey, proofKey, proofOf } from '../support/dpop.ts';
import { type Answer, basic, call, claimsOf, introspect, type Json, postForm } from './support.ts';

const app = await startApp();
after(() => app.stop());
const key = await proofKey();
const alice = await app.createUser('alice');
const web = await app.register({
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
  redirect_uris: [REDIRECT_URI],
});
const spa = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
const bound = await app.register({
  dpop_bound_access_tokens: true,
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
});
type Registered = typeof web;

const TOKEN = '/oauth2/token';
const at = (path: string): string => `${app.url}${path}`;

async function ask(
  client: Registered,
  fields: Record<string, string>,
  proof?: string,
  path = TOKEN,
): Promise<Answer> {
  const credentials = client.secret === '' ? {} : basic(client);
  return postForm(
    app,
    path,
    { ...fields, ...(client.secret === '' && { client_id: client.id }) },
    { ...credentials, ...(proof !== undefined && { DPoP: proof }) },
  );
}

async function codeOf(
  client: Registered,
  parameters: Record<string, string> = {},
): Promise<Record<string, string>> {
  const { code, verifier } = await new Agent(app).signIn(client.id, alice, parameters);
  return { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT_URI };
}

const proofFor = (htm: string, path: string, token?: string, by: ProofKey = key): Promise<string> =>
  proofOf(by, htm, at(path), token === undefined ? {} : { ath: athOf(token) });

const use = async (path: string, token: string, method = 'GET', by: ProofKey = key): Promise<Answer> =>
  call(app, method, path, {
    headers: { authorization: `DPoP ${token}`, DPoP: await proofFor(method, path, token, by) },
  });

const textOf = (body: Json, name: string): string => {
  const value = body[name];
  equal(typeof value, 'string', `${name} in ${JSON.stringify(body)}`);
  return String(value);
};

test('DPoP is announced with asymmetric algorithms', async () => {
  const { body } = await call(app, 'GET', '/.well-known/openid-configuration');
  deepEqual(body.dpop_signing_alg_values_supported, ['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256']);
});

test('DPoP: a code with a proof gives a bound token, in JWT, introspection and type', async () => {
  const { status, body } = await ask(web, await codeOf(web), await proofFor('POST', TOKEN));
  deepEqual([status, body.token_type], [200, 'DPoP'], JSON.stringify(body));
  const token = textOf(body, 'access_token');
  deepEqual(claimsOf(token).cnf, { jkt: key.thumbprint });
  const described = (await introspect(app, token)).body;
  deepEqual([described.active, described.token_type, described.cnf], [true, 'DPoP', { jkt: key.thumbprint }]);
  equal((await use('/oauth2/userinfo', token)).body.sub, alice.id);
});

test('DPoP: without a proof everything is as before', async () => {
  const { body } = await ask(web, await codeOf(web));
  equal(body.token_type, 'Bearer');
  const token = textOf(body, 'access_token');
  equal(claimsOf(token).cnf, undefined);
  equal(
    (await call(app, 'GET', '/oauth2/userinfo', { headers: { authorization: `Bearer ${token}` } })).status,
    200,
  );
});

for (const alg of ['EdDSA', 'RS256', 'PS256']) {
  test(`DPoP: keys for ${alg}`, async () => {
    const other = await proofKey(alg);
    const proof = await proofOf(other, 'POST', at(TOKEN), {}, { alg });
    const { body } = await ask(web, { grant_type: 'client_credentials' }, proof);
    deepEqual(claimsOf(textOf(body, 'access_token')).cnf, { jkt: other.thumbprint });
  });
}

test('DPoP: client credentials and the password grant give bound tokens', async () => {
  const machine = await ask(web, { grant_type: 'client_credentials' }, await proofFor('POST', TOKEN));
  equal(machine.body.token_type, 'DPoP');
  const fields = { grant_type: 'password', username: 'alice', password: PASSWORD, scope: 'openid' };
  const { body } = await ask(web, fields, await proofFor('POST', TOKEN));
  equal(body.token_type, 'DPoP', JSON.stringify(body));
  const token = textOf(body, 'access_token');
  deepEqual(claimsOf(token).cnf, { jkt: key.thumbprint });
  equal((await use('/oauth2/userinfo', token)).status, 200);
});

test('DPoP: a public client’s refresh token is bound, a confidential one’s follows the proof', async () => {
  const other = await proofKey();
  for (const [client, status] of [
    [spa, 400],
    [web, 200],
  ] as const) {
    const first = (await ask(client, await codeOf(client), await proofFor('POST', TOKEN))).body;
    const fields = { grant_type: 'refresh_token', refresh_token: textOf(first, 'refresh_token') };
    const elsewhere = await ask(client, fields, await proofFor('POST', TOKEN, undefined, other));
    equal(elsewhere.status, status, JSON.stringify(elsewhere.body));
    const left =
      status === 200 ? { ...fields, refresh_token: textOf(elsewhere.body, 'refresh_token') } : fields;
    const again = await ask(client, left, await proofFor('POST', TOKEN));
    equal(again.body.token_type, 'DPoP', JSON.stringify(again.body));
    deepEqual(claimsOf(textOf(again.body, 'access_token')).cnf, { jkt: key.thumbprint });
  }
});

test('DPoP: a device gets a bound token', async () => {
  const device = await app.register({
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: [],
    response_types: [],
    skip_consent: true,
  });
  const started = (await ask(device, { scope: 'openid' }, undefined, '/oauth2/device_authorization')).body;
  const agent = new Agent(app);
  const page = await agent.get('/oauth2/device');
  const question = await agent.submit(page, { user_code: textOf(started, 'user_code') });
  const login = await agent.submit(question, { confirm: 'yes' });
  await agent.submit(login, { username: 'alice', password: PASSWORD });
  const fields = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: textOf(started, 'device_code'),
  };
  const { body } = await ask(device, fields, await proofFor('POST', TOKEN));
  deepEqual(claimsOf(textOf(body, 'access_token')).cnf, { jkt: key.thumbprint });
});

test('dpop_bound_access_tokens: no grant type gives a token without a proof', async () => {
  const grants = [
    await codeOf(bound),
    { grant_type: 'client_credentials' },
    { grant_type: 'password', username: 'alice', password: PASSWORD, scope: 'openid' },
  ];
  for (const fields of grants) {
    const refused = await ask(bound, fields);
    deepEqual([refused.status, refused.body.error], [400, 'invalid_grant'], JSON.stringify(fields));
    equal((await ask(bound, fields, await proofFor('POST', TOKEN))).body.token_type, 'DPoP');
  }
});

test('dpop_jkt: by parameter and by a proof at PAR, the code belongs to that key', async () => {
  const other = await proofKey();
  const named = await codeOf(web, { dpop_jkt: key.thumbprint });
  const stolen = await ask(web, named, await proofFor('POST', TOKEN, undefined, other));
  equal(stolen.body.error, 'invalid_grant');
  const bare = await ask(web, await codeOf(web, { dpop_jkt: key.thumbprint }));
  equal(bare.body.error, 'invalid_grant');
  equal(
    (await ask(web, await codeOf(web, { dpop_jkt: key.thumbprint }), await proofFor('POST', TOKEN))).status,
    200,
  );

  const pushed = await ask(
    web,
    {
      client_id: web.id,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: REDIRECT_URI,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      dpop_jkt: other.thumbprint,
    },
    await proofFor('POST', '/oauth2/par'),
    '/oauth2/par',
  );
  deepEqual([pushed.status, pushed.body.error], [400, 'invalid_request'], 'proof and dpop_jkt of two keys');
});

test('DPoP-Nonce: given with an answer, accepted later, replaced when it is not known', async () => {
  const first = await ask(web, { grant_type: 'client_credentials' }, await proofFor('POST', TOKEN));
  const nonce = first.headers.get('dpop-nonce') ?? '';
  match(nonce, /^[\w-]{43}$/);
  const old = { nonce, iat: 1 };
  const accepted = await ask(
    web,
    { grant_type: 'client_credentials' },
    await proofOf(key, 'POST', at(TOKEN), old),
  );
  equal(accepted.status, 200, 'a client with a wrong clock');
  const unknown = await ask(
    web,
    { grant_type: 'client_credentials' },
    await proofOf(key, 'POST', at(TOKEN), { nonce: 'x'.repeat(43) }),
  );
  deepEqual([unknown.status, unknown.body.error], [400, 'use_dpop_nonce']);
  match(unknown.headers.get('dpop-nonce') ?? '', /^[\w-]{43}$/);
});

test('DPoP: a proof names the address that was called, also in the foreign layout', async () => {
  for (const path of [
    '/realms/main/protocol/openid-connect/token',
    '/oauth2/protocol/openid-connect/token',
  ]) {
    const { status, body } = await ask(
      web,
      { grant_type: 'client_credentials' },
      await proofFor('POST', path),
      path,
    );
    deepEqual([status, body.token_type], [200, 'DPoP'], path);
  }
});

test('DPoP: the account API and the admin API take bound tokens with their proof', async () => {
  const console = await app.register({ skip_consent: true, scope: 'openid admin account' });
  const admin = await app.createUser('root', { role: 'admin' });
  const { code, verifier } = await new Agent(app).signIn(console.id, admin, {
    scope: 'openid admin account',
  });
  const fields = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  };
  const token = textOf((await ask(console, fields, await proofFor('POST', TOKEN))).body, 'access_token');
  for (const path of ['/account/api/profile', '/admin/api/users']) {
    equal((await use(path, token)).status, 200, path);
    const plain = await call(app, 'GET', path, { headers: { authorization: `Bearer ${token}` } });
    equal(plain.status, 401, path);
    ok(plain.text.includes('bound to a key'), plain.text);
  }
});
