// openid-client as an independent relying party: what it discovers, checks and sends is its own code.
import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import test, { after } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import * as oidc from 'openid-client';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type Client, isActive } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice', { email: 'alice@example.com' });
const keys = await generateKeyPair('ES256');

const discover = (client: Client, authentication?: oidc.ClientAuth): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(app.issuer), client.id, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  });

interface Visit {
  readonly callback: URL;
  readonly checks: oidc.AuthorizationCodeGrantChecks;
}

async function visit(config: oidc.Configuration, parameters: Record<string, string> = {}): Promise<Visit> {
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedNonce: oidc.randomNonce(),
    expectedState: oidc.randomState(),
    idTokenExpected: true,
  };
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile email',
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    nonce: checks.expectedNonce,
    state: checks.expectedState,
    ...parameters,
  });
  const agent = new Agent(app);
  return { callback: await agent.finish(await agent.get(url.href), alice), checks };
}

/** Each way to authenticate, registered and used. */
const kinds: Readonly<Record<string, () => Promise<{ client: Client; authentication: oidc.ClientAuth }>>> = {
  async client_secret_basic() {
    const client = await app.register();
    return { client, authentication: oidc.ClientSecretBasic(client.secret) };
  },
  async client_secret_post() {
    const client = await app.register({ token_endpoint_auth_method: 'client_secret_post' });
    return { client, authentication: oidc.ClientSecretPost(client.secret) };
  },
  async private_key_jwt() {
    const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] };
    const client = await app.register({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    return { client, authentication: oidc.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' }) };
  },
  async none() {
    const client = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
    return { client, authentication: oidc.None() };
  },
};

for (const [method, register] of Object.entries(kinds)) {
  test(`relying party: sign-in, userinfo, refresh and revocation with ${method}`, async () => {
    const { client, authentication } = await register();
    equal(client.secret === '', !method.startsWith('client_secret'));
    const config = await discover(client, authentication);
    const { callback, checks } = await visit(config);
    // With this it also checks the ID token's signature against the published keys, which the back channel makes optional.
    oidc.enableNonRepudiationChecks(config);
    const tokens = await oidc.authorizationCodeGrant(config, callback, checks);
    const claims = tokens.claims();
    equal(claims?.sub, alice.id);
    equal(claims?.iss, app.issuer);

    const person = await oidc.fetchUserInfo(config, tokens.access_token, alice.id);
    equal(person.preferred_username, 'alice');
    equal(person.email, 'alice@example.com');

    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    equal(refreshed.claims()?.sub, alice.id);
    equal(refreshed.claims()?.auth_time, claims?.auth_time);
    // Where the application authenticates, nobody else can use it (RFC 9700 §4.14.2).
    equal(refreshed.refresh_token === tokens.refresh_token, method !== 'none');
    notEqual(refreshed.access_token, tokens.access_token);

    if (method === 'none') {
      await rejects(oidc.tokenIntrospection(config, refreshed.access_token), oidc.ResponseBodyError);
      equal(await isActive(app, refreshed.access_token), true);
    } else {
      const before = await oidc.tokenIntrospection(config, refreshed.access_token);
      equal(before.active, true);
      equal(before.sub, alice.id);
      equal((await oidc.tokenIntrospection(config, refreshed.refresh_token ?? '')).active, true);
    }
    await oidc.tokenRevocation(config, refreshed.refresh_token ?? '');
    equal(await isActive(app, refreshed.access_token), false);
    equal(await isActive(app, refreshed.refresh_token ?? ''), false);
    await rejects(oidc.refreshTokenGrant(config, refreshed.refresh_token ?? ''), { error: 'invalid_grant' });
    await rejects(oidc.fetchUserInfo(config, refreshed.access_token, alice.id), { status: 401 });
  });
}

test('attack: foreign state, nonce, iss or code; the relying party detects it', async () => {
  const client = await app.register();
  const config = await discover(client, oidc.ClientSecretBasic(client.secret));
  const { callback, checks } = await visit(config);
  equal(callback.searchParams.get('iss'), app.issuer);
  const tampered = (change: (url: URL) => void): URL => {
    const url = new URL(callback);
    change(url);
    return url;
  };
  const refusals: [URL, oidc.AuthorizationCodeGrantChecks][] = [
    [callback, { ...checks, expectedState: 'other' }],
    [tampered((url) => url.searchParams.set('state', 'other')), checks],
    [tampered((url) => url.searchParams.set('iss', 'https://evil.example')), checks],
    [tampered((url) => url.searchParams.delete('iss')), checks],
  ];
  for (const [url, expected] of refusals) await rejects(oidc.authorizationCodeGrant(config, url, expected));
  // None of them reached the token endpoint, so the code is still good.
  await rejects(
    oidc.authorizationCodeGrant(config, callback, { ...checks, expectedNonce: 'other' }),
    /claim value/,
  );
});

test('relying party: client credentials, pushed requests and the logout address', async () => {
  const client = await app.register({
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    post_logout_redirect_uris: ['https://rp.example/bye'],
  });
  const config = await discover(client, oidc.ClientSecretBasic(client.secret));
  const own = await oidc.clientCredentialsGrant(config, { scope: 'openid' });
  equal(own.token_type, 'bearer');
  equal(own.refresh_token, undefined);
  equal(own.id_token, undefined);
  const told = await oidc.tokenIntrospection(config, own.access_token);
  deepEqual([told.active, told.sub, told.username], [true, client.id, undefined]);

  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const pushed = await oidc.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
    state: 'pushed',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  deepEqual([...pushed.searchParams.keys()].sort(), ['client_id', 'request_uri']);
  const agent = new Agent(app);
  const callback = await agent.finish(await agent.get(pushed.href), alice);
  const tokens = await oidc.authorizationCodeGrant(config, callback, {
    pkceCodeVerifier,
    expectedState: 'pushed',
    idTokenExpected: true,
  });
  ok(tokens.id_token !== undefined);

  const bye = oidc.buildEndSessionUrl(config, {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: 'https://rp.example/bye',
    state: 'ended',
  });
  match(bye.href, new RegExp(`^${app.url}/oauth2/logout\\?`));
  const page = await agent.get(bye.href);
  deepEqual([page.status, page.location], [303, 'https://rp.example/bye?state=ended']);
  equal(await isActive(app, tokens.access_token), false);
});

test('relying party: discovery is one document for OIDC and OAuth 2.0 (RFC 8414)', async () => {
  const client = await app.register();
  for (const algorithm of ['oidc', 'oauth2'] as const) {
    const config = await oidc.discovery(new URL(app.issuer), client.id, client.secret, undefined, {
      algorithm,
      execute: [oidc.allowInsecureRequests],
    });
    equal(config.serverMetadata().issuer, app.issuer);
    equal(config.serverMetadata().supportsPKCE(), true);
  }
});
