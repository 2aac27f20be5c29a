// The plans Dynamic and 3rd-party initiated login of the OpenID Foundation's suite, one row per distinct behaviour: applications
// that register themselves, as those of the suite do, with a bearer that an operator gives them.
// A process of its own: its requests are led elsewhere.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JWK,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { bearer, call, change, claimsOf, type Json, postForm, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, type Page, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp } from '../support/app.ts';
import { openPublicWeb } from '../support/public-web.ts';

let published: readonly JWK[] = [];
let requestObject = '';
const web = await openPublicWeb(({ url }, response) => {
  if (url?.startsWith('/requesturi/'))
    response.writeHead(200, { 'content-type': 'application/jwt' }).end(requestObject);
  else
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: published }));
});
const app = await startApp({ store: 'sqlite' });
after(async () => {
  await app.stop();
  await web.close();
});
await change(app, { require_pkce: false });
const person = await app.createUser('connie');

async function register(metadata: Json = {}): Promise<Json> {
  const { status, body, text } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [REDIRECT_URI], ...metadata }),
  });
  equal(status, 201, text);
  return body;
}
const credentials = ({ client_id: id, client_secret: secret = '' }: Json) => ({
  id: String(id),
  secret: String(secret),
});

const ask = (agent: Agent, made: Json, more: Record<string, string | undefined> = {}): Promise<Page> =>
  agent.authorize({
    ...codeRequest(String(made.client_id)),
    code_challenge: undefined,
    code_challenge_method: undefined,
    ...more,
  });

async function codeOf(made: Json, more: Record<string, string> = {}): Promise<string> {
  const agent = new Agent(app);
  const { searchParams } = await agent.finish(await ask(agent, made, more), person);
  return searchParams.get('code') ?? '';
}

async function tokensOf(made: Json, redirectUri = REDIRECT_URI) {
  const code = await codeOf(made, { redirect_uri: redirectUri });
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
  const { status, body } = await requestTokens(app, credentials(made), grant);
  equal(status, 200, JSON.stringify(body));
  return body;
}

const keySet = async () => JSON.parse((await call(app, 'GET', '/.well-known/jwks.json')).text);

test('oidcc-discovery-endpoint-verification: the address of registration, while it is announced', async () => {
  const read = () => call(app, 'GET', '/oauth2/.well-known/openid-configuration');
  equal((await read()).body.registration_endpoint, undefined);
  await change(app, { legacy_profiles: true });
  equal((await read()).body.registration_endpoint, `${app.url}/oauth2/register`);
  await change(app, { legacy_profiles: false });
});

test('oidcc-server (Dynamic): registers, signs in, and deletes itself', async () => {
  const made = await register();
  deepEqual(
    [typeof made.client_id, typeof made.client_secret, made.client_secret_expires_at, made.redirect_uris],
    ['string', 'string', 0, [REDIRECT_URI]],
  );
  equal(claimsOf((await tokensOf(made)).id_token).aud, made.client_id);
  const path = new URL(String(made.registration_client_uri)).pathname;
  const headers = bearer(String(made.registration_access_token));
  deepEqual(
    [(await call(app, 'DELETE', path, { headers })).status, (await ask(new Agent(app), made)).status],
    [204, 400],
  );
});

test('oidcc-idtoken-rs256: signed as registered; an unsigned ID token cannot be had', async () => {
  const made = await register({ id_token_signed_response_alg: 'RS256' });
  const { id_token: idToken } = await tokensOf(made);
  await jwtVerify(idToken, createLocalJWKSet(await keySet()), { algorithms: ['RS256'] });
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], id_token_signed_response_alg: 'none' }),
  });
  deepEqual([status, body.error], [400, 'invalid_client_metadata']);
});

test('oidcc-userinfo-rs256: the answer is a signed JWT for the application', async () => {
  const made = await register({ userinfo_signed_response_alg: 'RS256' });
  const answer = await userinfo(app, (await tokensOf(made)).access_token);
  match(answer.headers.get('content-type') ?? '', /^application\/jwt/);
  const expected = { issuer: app.issuer, audience: String(made.client_id), algorithms: ['RS256'] };
  equal((await jwtVerify(answer.text, createLocalJWKSet(await keySet()), expected)).payload.sub, person.id);
});

for (const [module, registered, sent, isRight] of [
  ['redirect-uri-query-OK', '?foo=bar', '?foo=bar', true],
  ['redirect-uri-query-mismatch', '?foo=bar', '?foo=other', false],
  ['redirect-uri-query-added', '', '?foo=bar', false],
  ['ensure-redirect-uri-in-authorization-request', '', undefined, false],
] as const)
  test(`oidcc-${module}: ${isRight ? 'the answer keeps the query' : 'a page here'}`, async () => {
    const made = await register({
      redirect_uris: [
        `${REDIRECT_URI}${registered}`,
        ...(sent === undefined ? [`${REDIRECT_URI}/second`] : []),
      ],
    });
    const uri = sent === undefined ? undefined : `${REDIRECT_URI}${sent}`;
    const agent = new Agent(app);
    const page = await ask(agent, made, { redirect_uri: uri });
    if (!isRight) {
      deepEqual([page.status, page.location], [400, undefined]);
      return;
    }
    const { searchParams } = await agent.finish(page, person);
    deepEqual([searchParams.get('foo'), searchParams.has('code')], ['bar', true]);
    ok((await tokensOf(made, uri)).access_token);
  });

test('oidcc-registration-logo-uri, -policy-uri, -tos-uri: linked, and the logo not loaded', async () => {
  const [policy, terms] = ['https://rp.example/policy', 'https://rp.example/terms'];
  const made = await register({
    policy_uri: policy,
    tos_uri: terms,
    logo_uri: 'https://rp.example/logo.png',
  });
  const agent = new Agent(app);
  const first = await ask(agent, made);
  const consent = await agent.submit(first, {
    username: person.username,
    password: 'correct horse battery staple',
  });
  for (const address of [policy, terms]) ok(consent.body.includes(`href="${address}"`), consent.body);
  // Decision 0031: what registered itself shows its first letter.
  doesNotMatch(consent.body, /logo\.png/);
});

test('oidcc-registration-jwks-uri, -refresh-token-rp-key-rotation: the newest key alone', async () => {
  const createKey = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
    return { kid, privateKey, jwk };
  };
  const [old, next] = [await createKey('old'), await createKey('next')];
  published = [old.jwk];
  const made = await register({
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://keys.rp.test/jwks',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const id = String(made.client_id);
  equal(made.client_secret, undefined);
  const asked = async ({ kid, privateKey }: typeof old, fields: Record<string, string>) => {
    const assertion = await new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuer(id)
      .setSubject(id)
      .setAudience(app.issuer)
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey);
    return postForm(app, '/oauth2/token', {
      ...fields,
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
  };
  const code = await codeOf(made);
  const first = await asked(old, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
  equal(first.status, 200, first.text);
  published = [next.jwk];
  const grant = { grant_type: 'refresh_token', refresh_token: String(first.body.refresh_token) };
  const rotated = await asked(next, grant);
  equal(rotated.status, 200, rotated.text);
  const again = { grant_type: 'refresh_token', refresh_token: String(rotated.body.refresh_token) };
  equal((await asked(old, again)).body.error, 'invalid_client');
});

test('oidcc-request-uri-signed-rs256, -unsigned: by reference, registered with a legacy token', async () => {
  await change(app, { legacy_profiles: true });
  const given = await app.admin('POST', '/initial-access-tokens', { label: 'suite', profile: 'legacy' });
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  // The suite registers the digest of something else, since there is no object yet.
  const uri = `https://keys.rp.test/requesturi/${randomUUID()}#${'A'.repeat(43)}`;
  const { status, body, text } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(given.body.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }] },
      request_object_signing_alg: 'RS256',
      request_uris: [uri],
    }),
  });
  equal(status, 201, text);
  deepEqual([body.request_uris, body.require_pkce], [[uri], false]);
  const id = String(body.client_id);
  const inside = { client_id: id, redirect_uri: REDIRECT_URI, response_type: 'code', scope: 'openid' };
  const outside = { ...inside, request_uri: uri };
  const object = new SignJWT({ ...inside, state: 'inside' }).setProtectedHeader({ alg: 'RS256' });
  requestObject = await object.setIssuer(id).setAudience(app.issuer).sign(privateKey);
  const agent = new Agent(app);
  const { searchParams } = await agent.finish(await agent.authorize(outside), person);
  deepEqual([searchParams.get('state'), searchParams.has('code')], ['inside', true]);
  requestObject = new UnsecuredJWT({ ...inside, state: 'inside' }).encode();
  match((await agent.authorize(outside)).location ?? '', /error=invalid_request_uri/);
  await change(app, { legacy_profiles: false });
});

test('oidcc-server-rotate-keys: a new key is published, and old and new ID tokens are verified', async () => {
  const made = await register();
  const before = await tokensOf(made);
  const keysBefore: { keys: JWK[] } = await keySet();
  const { status } = await app.admin('POST', '/keys/rotate', {});
  equal(status, 200);
  const now = await tokensOf(made);
  const keysAfter: { keys: JWK[] } = await keySet();
  const kidsAfter = new Set(keysAfter.keys.map(({ kid }) => kid));
  ok(kidsAfter.size > keysBefore.keys.length && keysBefore.keys.every(({ kid }) => kidsAfter.has(kid)));
  for (const { id_token: idToken } of [before, now]) await jwtVerify(idToken, createLocalJWKSet(keysAfter));
});

test('oidcc-registration-sector-bad: pairwise subjects are refused, not ignored', async () => {
  const { subject_types_supported: subjects } = (
    await call(app, 'GET', '/oauth2/.well-known/openid-configuration')
  ).body;
  deepEqual(subjects, ['public']);
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], subject_type: 'pairwise' }),
  });
  deepEqual([status, body.error], [400, 'invalid_client_metadata']);
});

test('oidcc-3rd-party-init-login: initiate_login_uri is registered, and must be https', async () => {
  const uri = 'https://rp.example/start';
  equal((await register({ initiate_login_uri: uri })).initiate_login_uri, uri);
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], initiate_login_uri: 'http://rp.example/start' }),
  });
  deepEqual([status, body.error], [400, 'invalid_client_metadata']);
});
