// BASE_URL with a path, an ISSUER of its own, https, and headers that claim another address (decision 0001).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { request } from 'node:http';
import test from 'node:test';
import * as oidc from 'openid-client';
import { Agent, redeem, refresh } from '../support/agent.ts';
import { REDIRECT_URI, type TestApp } from '../support/app.ts';
import { call, claimsOf, introspect, isActive, tokensOf, userinfo, withApp } from './support.ts';

/** Every address in the document, by name. */
async function addressesOf(app: TestApp): Promise<[string, string][]> {
  const { body } = await call(app, 'GET', '/.well-known/openid-configuration');
  return Object.entries(body).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && /_endpoint$|_uri$/.test(entry[0]),
  );
}

test('BASE_URL with a path: everything is below it, end to end', async () => {
  await withApp({ path: '/auth' }, async (app) => {
    match(app.url, /\/auth$/);
    equal(app.issuer, `${app.url}/oauth2`);
    const addresses = await addressesOf(app);
    ok(addresses.length >= 9);
    for (const [name, address] of addresses) ok(address.startsWith(`${app.url}/`), `${name} ${address}`);

    const client = await app.register({ post_logout_redirect_uris: ['https://rp.example/bye'] });
    const alice = await app.createUser('alice');
    const config = await oidc.discovery(
      new URL(app.issuer),
      client.id,
      undefined,
      oidc.ClientSecretBasic(client.secret),
      {
        execute: [oidc.allowInsecureRequests],
      },
    );
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const agent = new Agent(app);
    const page = await agent.get(url.href);
    match(page.body, /<form[^>]*action="\/auth\/oauth2\/login"/);
    for (const [, link = ''] of page.body.matchAll(/(?:href|src)="(\/[^"]*)"/g))
      ok(link.startsWith('/auth/'), link);
    for (const cookie of page.headers.getSetCookie()) match(cookie, /; path=\/auth/i);
    const callback = await agent.finish(page, alice);
    const tokens = await oidc.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      idTokenExpected: true,
    });
    equal(tokens.claims()?.iss, app.issuer);
    equal((await userinfo(app, tokens.access_token)).status, 200);
    equal((await introspect(app, tokens.access_token)).body.iss, app.issuer);
    equal((await agent.get(`${app.url}/oauth2/device`)).status, 200);

    const realm = await call(app, 'GET', '/realms/x/.well-known/openid-configuration');
    deepEqual([realm.status, realm.body.issuer], [200, app.issuer]);
    const asking = await app.register({ skip_consent: false });
    match((await agent.signIn(asking.id, alice)).code, /./);
    const wrong = await agent.authorize({
      client_id: client.id,
      redirect_uri: 'https://evil.example/',
      response_type: 'code',
    });
    ok(wrong.body.includes(`"${app.url}/admin/applications/${client.id}?`), wrong.body);

    const out = await agent.get(
      oidc.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: 'https://rp.example/bye',
      }).href,
    );
    deepEqual([out.status, out.location], [303, 'https://rp.example/bye']);
    equal(await isActive(app, tokens.access_token), false);

    // Above it there is nothing of ours.
    const { origin } = new URL(app.url);
    for (const path of ['/oauth2/token', '/.well-known/openid-configuration', '/admin/api/users', '/'])
      equal((await fetch(`${origin}${path}`, { redirect: 'manual' })).status, 404, path);
  });
});

test('ISSUER: in every token and response; endpoint addresses stay those of BASE_URL', async () => {
  const issuer = 'https://login.example.com/tenant';
  await withApp({ env: { ISSUER: issuer } }, async (app) => {
    equal(app.issuer, issuer);
    const { body } = await call(app, 'GET', '/oauth2/.well-known/openid-configuration');
    equal(body.issuer, issuer);
    for (const [name, address] of await addressesOf(app))
      ok(address.startsWith(`${app.url}/`), `${name} ${address}`);
    const client = await app.register();
    const alice = await app.createUser('alice');
    const authorization = await new Agent(app).signIn(client.id, alice);
    equal(authorization.response.get('iss'), issuer);
    const { body: tokens } = await redeem(app, client, authorization);
    deepEqual([claimsOf(tokens.id_token).iss, claimsOf(tokens.access_token).iss], [issuer, issuer]);
    equal((await introspect(app, tokens.access_token)).body.iss, issuer);
    equal((await userinfo(app, tokens.access_token)).status, 200);
    equal((await refresh(app, client, tokens.refresh_token)).status, 200);
  });
});

test('attack: a token of another issuer with the same keys', async () => {
  const SECRET_KEY = '0123456789abcdef0123456789abcdef0123456789';
  await withApp({ env: { SECRET_KEY, ISSUER: 'https://one.example' } }, async (one) => {
    const client = await one.register();
    const alice = await one.createUser('alice');
    const { access_token, refresh_token } = await tokensOf(one, client, alice);
    await withApp({ shared: one.store, env: { SECRET_KEY, ISSUER: 'https://two.example' } }, async (two) => {
      equal(await isActive(one, access_token), true);
      equal(await isActive(two, access_token), false);
      equal((await userinfo(two, access_token)).status, 401);
      // Opaque, and the same store: this one is theirs.
      equal(await isActive(two, refresh_token), true);
    });
  });
});

/** By a client that lets us say what we like about the host. */
const raw = (
  app: TestApp,
  path: string,
  headers: Record<string, string>,
): Promise<{ text: string; headers: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.url);
    const sent = request({ host: hostname, port, path, headers, setHost: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({ text: Buffer.concat(chunks).toString(), headers: JSON.stringify(answer.headers) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });

test('attack: Host, Forwarded and X-Forwarded-* in addresses, redirects and cookies (R006)', async () => {
  await withApp({}, async (app) => {
    const client = await app.register();
    const query = new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid',
    });
    const claims: readonly Record<string, string>[] = [
      { host: 'evil.example' },
      { host: new URL(app.url).host, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      {
        host: new URL(app.url).host,
        forwarded: 'host=evil.example;proto=https',
        'x-forwarded-prefix': '/evil.example',
      },
      { host: new URL(app.url).host, 'x-original-url': '/evil.example', 'x-rewrite-url': '/evil.example' },
    ];
    for (const headers of claims) {
      for (const path of [
        '/.well-known/openid-configuration',
        '/oauth2/.well-known/openid-configuration',
        `/oauth2/authorize?${query}`,
        `/oauth2/authorize?${query}&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256`,
        '/oauth2/device',
        '/oauth2/logout',
        '/',
        '/admin',
      ]) {
        const answer = await raw(app, path, { accept: 'text/html', ...headers });
        ok(
          !answer.text.includes('evil.example') && !answer.headers.includes('evil.example'),
          `${path} ${answer.headers}`,
        );
      }
    }
  });
});
