// The legacy profile with clients that others wrote: openid-client by hybrid and implicit flow and by a signed request object,
// each checking what the specifications have it check (hashes, nonce, issuer).
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import * as oidc from 'openid-client';
import { Agent } from '../../support/agent.ts';
import { REDIRECT_URI, startApp, type TestApp } from '../../support/app.ts';

let app: TestApp;
let agent: Agent;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let client: { id: string; secret: string };
let alice: { id: string; username: string };

before(async () => {
  app = await startApp({ store: 'sqlite' });
  keys = await generateKeyPair('ES256');
  equal((await app.admin('PATCH', '/settings', { legacy_profiles: true })).status, 200);
  client = await app.register({
    profile: 'legacy',
    redirect_uris: [REDIRECT_URI],
    response_types: ['code', 'code id_token', 'id_token'],
    jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'ES256' }] },
  });
  alice = await app.createUser('alice');
  agent = new Agent(app);
});
after(() => app.stop());

const configure = (): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(app.issuer), client.id, client.secret, undefined, {
    execute: [oidc.allowInsecureRequests],
  });

const parameters = { redirect_uri: REDIRECT_URI, scope: 'openid profile', nonce: 'n-1', state: 's-1' };
const follow = async (url: URL): Promise<URL> => agent.finish(await agent.get(url.href), alice);

test('openid-client: hybrid flow, code bound to its ID token', async () => {
  const config = await configure();
  oidc.useCodeIdTokenResponseType(config);
  const verifier = oidc.randomPKCECodeVerifier();
  const url = await follow(
    oidc.buildAuthorizationUrl(config, {
      ...parameters,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  );
  const checks = { pkceCodeVerifier: verifier, expectedState: 's-1', expectedNonce: 'n-1' };
  const tokens = await oidc.authorizationCodeGrant(config, url, checks);
  const info = await oidc.fetchUserInfo(config, tokens.access_token, alice.id);
  deepEqual([tokens.claims()?.sub, info.preferred_username], [alice.id, 'alice']);
});

test('openid-client: implicit flow; another nonce or a cut token is refused by the client', async () => {
  const config = await configure();
  oidc.useIdTokenResponseType(config);
  const url = await follow(oidc.buildAuthorizationUrl(config, parameters));
  const claims = await oidc.implicitAuthentication(config, url, 'n-1', { expectedState: 's-1' });
  equal(claims.sub, alice.id);
  await rejects(oidc.implicitAuthentication(config, url, 'n-2', { expectedState: 's-1' }));
  const cut = new URL(url.href.replace(/id_token=[^&]*/, (whole) => whole.slice(0, -8)));
  await rejects(oidc.implicitAuthentication(config, cut, 'n-1', { expectedState: 's-1' }));
});

test('openid-client: a request object that it signs itself', async () => {
  const config = await configure();
  const verifier = oidc.randomPKCECodeVerifier();
  const request = await oidc.buildAuthorizationUrlWithJAR(
    config,
    {
      ...parameters,
      response_type: 'code',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    },
    { key: keys.privateKey, kid: 'k' },
  );
  ok(request.searchParams.has('request') && !request.searchParams.has('state'));
  const url = await follow(request);
  const checks = { pkceCodeVerifier: verifier, expectedState: 's-1', expectedNonce: 'n-1' };
  const tokens = await oidc.authorizationCodeGrant(config, url, checks);
  equal(tokens.claims()?.sub, alice.id);
});
