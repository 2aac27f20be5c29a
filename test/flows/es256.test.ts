// ID tokens, userinfo answers and logout tokens by ES256, for applications that ask for it (decision 0019). Everything else, access
// tokens above all, stays as it is for the others.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Agent, redeem, refresh } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { call, claimsOf, headerOf, isActive, later, requestTokensOf, tokensOf, userinfo } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const BYE = 'https://rp.example/bye';
const wanted = { id_token_signed_response_alg: 'ES256', userinfo_signed_response_alg: 'ES256' };
const client = await app.register({ ...wanted, post_logout_redirect_uris: [BYE] });
const ordinary = await app.register({ post_logout_redirect_uris: [BYE] });
const alice = await app.createUser('alice', { email: 'alice@example.com' });

/** Fetched anew, as an application does that sees an unknown key. */
const verified = (token: string, audience = client.id) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${app.url}/.well-known/jwks.json`)), {
    issuer: app.issuer,
    audience,
    algorithms: ['ES256'],
  });
const keysOf = async (alg: string): Promise<string[]> => {
  const { body } = await call(app, 'GET', '/.well-known/jwks.json');
  return [body.keys].flat().flatMap((key) => (Object(key).alg === alg ? [String(Object(key).kid)] : []));
};

test('ES256: ID tokens of every grant by it, access tokens by RS256', async () => {
  const first = await tokensOf(app, client, alice, { nonce: 'n' });
  const { payload, protectedHeader } = await verified(first.id_token);
  deepEqual(Object.keys(protectedHeader).sort(), ['alg', 'kid']);
  deepEqual([payload.sub, payload.nonce], [alice.id, 'n']);
  const half = createHash('sha256').update(first.access_token, 'ascii').digest().subarray(0, 16);
  equal(payload.at_hash, half.toString('base64url'));
  const again = await refresh(app, client, first.refresh_token);
  equal((await verified(again.body.id_token)).payload.sub, alice.id);
  for (const token of [first.access_token, again.body.access_token]) {
    deepEqual([headerOf(token).alg, headerOf(token).typ], ['RS256', 'at+jwt']);
    equal(await isActive(app, token), true);
  }
  const [rsa = ''] = await keysOf('RS256');
  equal(headerOf(first.access_token).kid, rsa);
});

test('ES256: applications that do not ask for it have what they had', async () => {
  const { id_token, access_token } = await tokensOf(app, ordinary, alice);
  deepEqual([headerOf(id_token).alg, headerOf(access_token).alg], ['RS256', 'RS256']);
  match((await userinfo(app, access_token)).headers.get('content-type') ?? '', /^application\/json/);
  const { body } = await app.admin('GET', `/clients/${ordinary.id}`);
  deepEqual(
    [body.data.id_token_signed_response_alg, body.data.userinfo_signed_response_alg],
    ['RS256', undefined],
  );
});

test('ES256: signed userinfo', async () => {
  const { access_token } = await tokensOf(app, client, alice, { scope: 'openid email' });
  const answer = await userinfo(app, access_token);
  match(answer.headers.get('content-type') ?? '', /^application\/jwt/);
  equal((await verified(answer.text)).payload.email, 'alice@example.com');
});

test('ES256: a machine’s tokens are access tokens alone, by RS256', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    id_token_signed_response_alg: 'ES256',
  });
  const tokens = await requestTokensOf(app, machine, { grant_type: 'client_credentials' });
  equal(headerOf(tokens.access_token).alg, 'RS256');
});

test('ES256: its ID token is a hint at sign-in and sign-out', async () => {
  const agent = new Agent(app);
  const { id_token } = await tokensOf(app, client, alice, {}, agent);
  const bob = await app.createUser('bob');
  const { id_token: bobs } = await tokensOf(app, client, bob);
  const silent = await agent.signIn(client.id, alice, { prompt: 'none', id_token_hint: id_token });
  ok(silent.code);
  const mismatch = await agent.signIn(client.id, alice, { prompt: 'none', id_token_hint: bobs });
  equal(mismatch.response.get('error'), 'login_required');
  const navigation = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: BYE });
  const { status, location } = await agent.get(`/oauth2/logout?${query}`, { headers: navigation });
  deepEqual([status, location], [303, BYE]);
});

test('ES256: an application that changes gets the other algorithm with its next token', async () => {
  const changing = await app.register();
  const first = await tokensOf(app, changing, alice);
  equal(headerOf(first.id_token).alg, 'RS256');
  const change = (alg: string | null) =>
    app.admin('PATCH', `/clients/${changing.id}`, { id_token_signed_response_alg: alg });
  equal((await change('ES256')).status, 200);
  const second = await refresh(app, changing, first.refresh_token);
  equal((await verified(second.body.id_token, changing.id)).payload.sub, alice.id);
  equal((await change(null)).status, 200);
  equal(headerOf((await refresh(app, changing, second.body.refresh_token)).body.id_token).alg, 'RS256');
});

test('ES256: keys rotated during a sign-in; both tokens verify, the earlier is still a hint', async () => {
  const agent = new Agent(app);
  const before = await tokensOf(app, client, alice, {}, agent);
  const code = await agent.signIn(client.id, alice);
  const [signing = ''] = await keysOf('ES256');
  equal(headerOf(before.id_token).kid, signing);
  equal((await app.admin('POST', '/keys/rotate', { mode: 'immediate' })).status, 200);
  const shown = await keysOf('ES256');
  deepEqual([shown.length, shown[0]], [2, signing]);
  app.advance(4000);
  await later(4000, async () => {
    const { body } = await redeem(app, client, code);
    notEqual(headerOf(body.id_token).kid, signing);
    deepEqual(await keysOf('ES256'), [headerOf(body.id_token).kid, signing]);
    for (const token of [before.id_token, body.id_token])
      equal((await verified(token)).payload.sub, alice.id);
    equal(claimsOf(body.id_token).sid, claimsOf(before.id_token).sid);
    ok((await agent.signIn(client.id, alice, { prompt: 'none', id_token_hint: before.id_token })).code);
  });
});
