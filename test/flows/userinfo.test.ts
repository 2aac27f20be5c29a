// Userinfo (OIDC Core §5.3, RFC 6750): where the token may be, the errors, and the claims.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { requestTokens } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { type Answer, bearer, call, introspect, postForm, tokensOf, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const alice = await app.createUser('alice', {
  email: 'alice@example.com',
  given_name: 'Alice',
  phone_number: '+441865276150',
});
const { access_token: token } = await tokensOf(app, client, alice);

const path = '/oauth2/userinfo';

function expectRefusal(answer: Answer, status: number, error: string | undefined): void {
  equal(answer.status, status, answer.text);
  ok(!answer.text.includes('alice'));
  equal(answer.headers.get('cache-control'), 'no-store');
  const challenge = answer.headers.get('www-authenticate') ?? '';
  match(challenge, /^Bearer realm="[^"]+"/);
  equal(/error="([^"]*)"/.exec(challenge)?.[1], error, challenge);
}

test('userinfo: GET and POST, bearer in header or form', async () => {
  const answers = [
    await userinfo(app, token),
    await call(app, 'POST', path, { headers: bearer(token) }),
    await postForm(app, path, { access_token: token }),
    await call(app, 'GET', path, { headers: { authorization: `bearer ${token}` } }),
  ];
  for (const answer of answers) {
    equal(answer.status, 200, answer.text);
    equal(answer.headers.get('cache-control'), 'no-store');
    match(answer.headers.get('content-type') ?? '', /^application\/json/);
    deepEqual(answer.body, answers[0]?.body);
  }
  const { updated_at, ...claims } = answers[0]?.body ?? {};
  equal(typeof updated_at, 'number');
  deepEqual(claims, {
    sub: alice.id,
    name: 'Alice',
    given_name: 'Alice',
    preferred_username: 'alice',
    email: 'alice@example.com',
    email_verified: false,
  });
});

test('userinfo: only claims of the granted scopes', async () => {
  const told = async (scope: string): Promise<string[]> => {
    const { access_token } = await tokensOf(app, client, alice, { scope });
    return Object.keys((await userinfo(app, access_token)).body).sort();
  };
  deepEqual(await told('openid'), ['sub']);
  deepEqual(await told('openid email'), ['email', 'email_verified', 'sub']);
  deepEqual(await told('openid phone'), ['phone_number', 'phone_number_verified', 'sub']);
  deepEqual(await told('openid roles'), ['roles', 'sub']);
});

test('userinfo: a token in the query, or two tokens, are refused', async () => {
  expectRefusal(await call(app, 'GET', `${path}?access_token=${token}`), 400, 'invalid_request');
  for (const answer of [
    await postForm(app, path, { access_token: token }, bearer(token)),
    await postForm(app, path, [
      ['access_token', token],
      ['access_token', token],
    ]),
  ]) {
    ok([400, 401].includes(answer.status) && !answer.text.includes('alice'), answer.text);
  }
  expectRefusal(await postForm(app, path, { access_token: token }, bearer(token)), 400, 'invalid_request');
});

test('userinfo: no token gets the bare scheme, an invalid one invalid_token', async () => {
  expectRefusal(await call(app, 'GET', path), 401, undefined);
  expectRefusal(await call(app, 'POST', path), 401, undefined);
  for (const bad of ['x', 'a'.repeat(43), 'x.y.z', `${token}x`]) {
    expectRefusal(await userinfo(app, bad), 401, 'invalid_token');
  }
  for (const authorization of ['Bearer', `Basic ${token}`, `Bearer ${token} ${token}`, token]) {
    const answer = await call(app, 'GET', path, { headers: { authorization } });
    ok([400, 401].includes(answer.status) && !answer.text.includes('alice'), authorization);
    match(answer.headers.get('www-authenticate') ?? '', /^Bearer /);
  }
});

test('userinfo: without scope openid 403 insufficient_scope', async () => {
  const { access_token } = await tokensOf(app, client, alice, { scope: 'profile' });
  const answer = await userinfo(app, access_token);
  expectRefusal(answer, 403, 'insufficient_scope');
  equal(answer.body.error, 'insufficient_scope');
  equal((await introspect(app, access_token)).body.active, true);
});

test('userinfo: a client credentials token is refused, even with scope openid', async () => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const { body } = await requestTokens(app, machine, { grant_type: 'client_credentials', scope: 'openid' });
  equal(body.scope, 'openid');
  expectRefusal(await userinfo(app, body.access_token), 401, 'invalid_token');
});

test('attack: a refresh token, ID token or code at userinfo (R041)', async () => {
  const tokens = await tokensOf(app, client, alice);
  for (const wrong of [tokens.refresh_token, tokens.id_token]) {
    expectRefusal(await userinfo(app, wrong), 401, 'invalid_token');
  }
});

test('userinfo: signed for clients that request it', async () => {
  const signed = await app.register({ userinfo_signed_response_alg: 'RS256' });
  const { access_token } = await tokensOf(app, signed, alice, { scope: 'openid email' });
  const answer = await userinfo(app, access_token);
  match(answer.headers.get('content-type') ?? '', /^application\/jwt/);
  const keys = createRemoteJWKSet(new URL(`${app.url}/.well-known/jwks.json`));
  const { payload } = await jwtVerify(answer.text, keys, { issuer: app.issuer, audience: signed.id });
  deepEqual([payload.sub, payload.email], [alice.id, 'alice@example.com']);
});

test('userinfo: changes by an administrator appear at the next request', async () => {
  const { status } = await app.admin('PATCH', `/users/${alice.id}`, { given_name: 'Alicia' });
  equal(status, 200);
  equal((await userinfo(app, token)).body.given_name, 'Alicia');
});

test('userinfo: readable only from the client’s own origin (R010)', async () => {
  const from = (origin: string): Promise<Answer> =>
    call(app, 'GET', path, { headers: { ...bearer(token), origin } });
  const home = await from('https://rp.example');
  deepEqual([home.status, home.headers.get('access-control-allow-origin')], [200, 'https://rp.example']);
  equal(home.headers.get('access-control-allow-credentials'), 'true');
  for (const origin of [
    'https://evil.example',
    'null',
    'https://rp.example.evil.example',
    'http://rp.example',
  ]) {
    const answer = await from(origin);
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [400, null], origin);
    ok(!answer.text.includes('alice'));
  }
});
