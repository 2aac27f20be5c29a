// The foreign path layout's realms (decisions 0001 and 0026): which names answer, an issuer under one of them, and what clients of
// Keycloak read beside the protocol.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { createHash, createPublicKey } from 'node:crypto';
import test, { after } from 'node:test';
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { Agent, challengeOf, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { freePort } from '../support/free-port.ts';
import { basic, call, change, claimsOf, postForm, tokensOf, withApp } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const PAGE = 'protocol/openid-connect/3p-cookies/step1.html';

const statusOf = async (path: string): Promise<number> => (await call(app, 'GET', path)).status;

const below = (realm: string): string[] => [
  `/realms/${realm}`,
  `/realms/${realm}/.well-known/openid-configuration`,
  `/realms/${realm}/protocol/openid-connect/certs`,
  `/realms/${realm}/${PAGE}`,
];

test('realm_aliases: without it every name answers', async () => {
  for (const realm of ['master', 'any', 'my%20realm'])
    for (const path of below(realm)) equal(await statusOf(path), 200, path);
});

test('realm_aliases: unlisted names are 404 at once, listed ones answer', async () => {
  await change(app, { realm_aliases: 'acme, staff' });
  for (const realm of ['acme', 'staff'])
    for (const path of below(realm)) equal(await statusOf(path), 200, path);
  for (const realm of ['master', 'Acme', 'acm', 'acme%20staff', 'acme2', '%61cme', '..%2facme']) {
    for (const path of below(realm)) equal(await statusOf(path), 404, path);
    const { status } = await postForm(app, `/realms/${realm}/protocol/openid-connect/token`, {
      grant_type: 'password',
    });
    equal(status, 404, realm);
  }
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const granted = async (realm: string) =>
    (
      await postForm(
        app,
        `/realms/${realm}/protocol/openid-connect/token`,
        { grant_type: 'client_credentials' },
        basic(machine),
      )
    ).status;
  // Answered before Koa (src/oidc/plain/), by the setting of now.
  equal(await granted('acme'), 200);
  equal(await granted('master'), 404);
  // The product's own addresses are no realms.
  equal(await statusOf('/oauth2/protocol/openid-connect/certs'), 200);
  await change(app, { realm_aliases: '' });
  equal(await statusOf('/realms/master'), 200);
  equal(await granted('master'), 200);
});

test('realm_aliases: names that are no plain part of a path are refused', async () => {
  for (const realm_aliases of ['a/b', '..', 'a%20b', 'ü', 'a?b', 7, ['a']]) {
    const { status, body } = await app.admin('PATCH', '/settings', { realm_aliases });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['realm_aliases']]);
  }
});

test('a realm’s document: the signing key, as python-keycloak’s public_key() reads it', async () => {
  const { status, body, headers } = await call(app, 'GET', '/realms/acme');
  deepEqual([status, headers.get('access-control-allow-origin')], [200, null]);
  deepEqual(Object.keys(body), [
    'realm',
    'public_key',
    'token-service',
    'account-service',
    'tokens-not-before',
  ]);
  const at = `${app.url}/realms/acme/protocol/openid-connect`;
  deepEqual([body.realm, body['token-service']], ['acme', at]);
  deepEqual([body['account-service'], body['tokens-not-before']], [`${app.url}/account`, 0]);
  const key = createPublicKey(`-----BEGIN PUBLIC KEY-----\n${body.public_key}\n-----END PUBLIC KEY-----`);
  const client = await app.register();
  const tokens = await tokensOf(app, client, await app.createUser('reader'));
  equal((await jwtVerify(tokens.access_token, key)).payload.iss, app.issuer);
  equal((await call(app, 'POST', '/realms/acme')).headers.get('allow'), 'GET, HEAD');
  for (const path of [
    '/realms',
    '/realms/',
    '/realms/acme/',
    '/realms/acme/account',
    '/realms/acme/protocol',
  ])
    equal(await statusOf(path), 404, path);
});

test('keycloak-js’s check of cookies in frames: a constant answer, for the framing origin alone', async () => {
  const agent = new Agent(app);
  await agent.signIn((await app.register()).id, await app.createUser('framed'));
  const cookie = agent.cookiesFor('/');
  const page = await call(app, 'GET', `/realms/acme/${PAGE}`);
  const signedIn = await call(app, 'GET', `/realms/acme/${PAGE}`, { headers: { cookie } });
  equal(signedIn.text, page.text);
  equal(signedIn.headers.getSetCookie().length, 0);
  match(page.headers.get('content-type') ?? '', /^text\/html; charset=utf-8/);
  equal(page.headers.get('x-frame-options'), null);
  const [, script = ''] = /<script>([^<]*)<\/script>/.exec(page.text) ?? [];
  doesNotMatch(script, /['"]\*['"]|cookie|fetch|storage/i);
  const policy = page.headers.get('content-security-policy') ?? '';
  const digest = createHash('sha256').update(script).digest('base64');
  ok(policy.includes(`script-src 'sha256-${digest}'`), policy);
  match(policy, /default-src 'none'.*sandbox allow-scripts;/);
  doesNotMatch(policy, /allow-same-origin|unsafe/);
});

test('session status iframe: not served', async () => {
  for (const name of ['login-status-iframe.html', 'login-status-iframe.html/init', '3p-cookies/step2.html'])
    equal(await statusOf(`/realms/acme/protocol/openid-connect/${name}`), 404, name);
  const { body } = await call(app, 'GET', '/realms/acme/.well-known/openid-configuration');
  equal(body.check_session_iframe, undefined);
});

test('ISSUER under a realm: every discovery path, sign-in, assertion and logout', async () => {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}/realms/acme`;
  await withApp({ port, env: { ISSUER: issuer } }, async (it) => {
    for (const path of [
      '/realms/acme/.well-known/openid-configuration',
      '/realms/acme/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/realms/acme',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/oauth2/.well-known/openid-configuration',
    ]) {
      const { status, body } = await call(it, 'GET', path);
      deepEqual([status, body.issuer], [200, issuer], path);
    }
    for (const path of below('acme')) equal((await call(it, 'GET', path)).status, 200, path);
    for (const path of below('other')) equal((await call(it, 'GET', path)).status, 404, path);
    await change(it, { realm_aliases: 'other' });
    for (const realm of ['acme', 'other'])
      for (const path of below(realm)) equal((await call(it, 'GET', path)).status, 200, path);

    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const client = await it.register({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] },
      post_logout_redirect_uris: ['https://rp.example/bye'],
    });
    const at = '/realms/acme/protocol/openid-connect';
    const agent = new Agent(it);
    const request = new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid',
      code_challenge: challengeOf(VERIFIER),
      code_challenge_method: 'S256',
    });
    const callback = await agent.finish(await agent.get(`${at}/auth?${request}`), await it.createUser('eve'));
    equal(callback.searchParams.get('iss'), issuer);
    const exchange = async (aud: string) => {
      const assertion = new SignJWT({ jti: crypto.randomUUID(), iss: client.id, sub: client.id, aud });
      return postForm(it, `${at}/token`, {
        grant_type: 'authorization_code',
        code: callback.searchParams.get('code') ?? '',
        code_verifier: VERIFIER,
        redirect_uri: REDIRECT_URI,
        client_id: client.id,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await assertion
          .setProtectedHeader({ alg: 'RS256', kid: 'k' })
          .setIssuedAt()
          .setExpirationTime('1m')
          .sign(privateKey),
      });
    };
    equal((await exchange(`${it.url}/oauth2`)).body.error, 'invalid_client');
    const { status, text, body } = await exchange(issuer);
    equal(status, 200, text);
    for (const token of [body.access_token, body.id_token]) equal(claimsOf(String(token)).iss, issuer);
    const bye = new URLSearchParams({
      id_token_hint: String(body.id_token),
      post_logout_redirect_uri: 'https://rp.example/bye',
    });
    equal((await agent.get(`${at}/logout?${bye}`)).location, 'https://rp.example/bye');
  });
});

test('realms are no tenants: an application is the same under each name', async () => {
  const client = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  for (const realm of ['one', 'two']) {
    const path = `/realms/${realm}/protocol/openid-connect/token`;
    const { body } = await postForm(app, path, { grant_type: 'client_credentials' }, basic(client));
    equal(claimsOf(String(body.access_token)).iss, app.issuer);
  }
});
