// Methods, headers, encodings and repeated steps, as other products got them wrong.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { basic, bearer, call, claimsOf, isActive, postForm, tokensOf } from '../flows/support.ts';
import { Agent, codeRequest, type Page, redeem, refresh, requestTokens } from '../support/agent.ts';
import { PASSWORD } from '../support/app.ts';
import { tried } from './report.ts';
import { alice, app } from './world.ts';

const client = await app.register({
  scope: 'openid profile email offline_access',
  post_logout_redirect_uris: ['https://rp.example/bye'],
});
const browser = new Agent(app);
const tokens = await tokensOf(app, client, alice, { scope: 'openid profile email offline_access' }, browser);
const ask = (more: Record<string, string | undefined> = {}, by = browser): Promise<Page> =>
  by.authorize({ ...codeRequest(client.id), nonce: 'n', state: 's', ...more });
const told = (page: Page): URLSearchParams => {
  const url = new URL(page.location ?? 'none:');
  return new URLSearchParams(url.hash.slice(1) || url.search);
};

tried([
  {
    report: 'sourcemeta/one#1124',
    symptom: 'a HEAD request signs out',
    tries: async () => {
      const agent = new Agent(app);
      const { id_token, access_token } = await tokensOf(app, client, alice, {}, agent);
      for (const query of ['', `?id_token_hint=${id_token}`])
        equal((await agent.request(`/oauth2/logout${query}`, { method: 'HEAD' })).status, 200);
      const { status } = await call(app, 'HEAD', `/oauth2/logout?id_token_hint=${id_token}`);
      equal(status, 200);
      ok(told(await ask({ prompt: 'none' }, agent)).get('code'));
      equal(await isActive(app, access_token), true);
    },
  },
  {
    report: 'PlaidWeb/Publ#267',
    symptom: 'a page fetched in advance signs out',
    tries: async () => {
      const agent = new Agent(app);
      const { id_token } = await tokensOf(app, client, alice, {}, agent);
      for (const purpose of ['prefetch', 'prefetch;prerender']) {
        const { status } = await agent.get(`/oauth2/logout?id_token_hint=${id_token}`, {
          headers: {
            'sec-purpose': purpose,
            'sec-fetch-site': 'none',
            'sec-fetch-mode': 'navigate',
            'sec-fetch-dest': 'document',
          },
        });
        ok(status >= 400, String(status));
      }
      ok(told(await ask({ prompt: 'none' }, agent)).get('code'));
    },
  },
  {
    report: 'inrupt-archived/pod-server#43',
    symptom: 'discovery is 404 for HEAD',
    tries: async () => {
      for (const path of [
        '/.well-known/openid-configuration',
        '/.well-known/jwks.json',
        '/oauth2/.well-known/openid-configuration',
      ])
        equal((await call(app, 'HEAD', path)).status, 200, path);
    },
  },
  {
    report: 'panva/openid-client#466',
    symptom: 'the key set is 406 for another Accept',
    tries: async () => {
      for (const accept of ['application/jwk-set+json', 'application/json', 'text/html', '*/*;q=0'])
        equal(
          (await call(app, 'GET', '/.well-known/jwks.json', { headers: { accept } })).status,
          200,
          accept,
        );
    },
  },
  {
    report: 'keycloak/keycloak#19346',
    symptom: 'userinfo is 406 for Accept: application/jwt',
    tries: async () => {
      for (const accept of ['application/jwt', 'application/json', 'text/xml']) {
        const { status, headers } = await call(app, 'GET', '/oauth2/userinfo', {
          headers: { ...bearer(tokens.access_token), accept },
        });
        deepEqual([status, headers.get('content-type')?.split(';')[0]], [200, 'application/json'], accept);
      }
    },
  },
  {
    report: 'damienbod/angular-auth-oidc-client#271',
    symptom: 'the key set is not readable with credentials',
    tries: async () => {
      const { headers } = await call(app, 'GET', '/.well-known/jwks.json', {
        headers: { origin: 'https://spa.example' },
      });
      // `*` together with credentials is refused by browsers.
      notEqual(
        `${headers.get('access-control-allow-origin')} ${headers.get('access-control-allow-credentials')}`,
        '* true',
      );
      ok(headers.get('access-control-allow-origin'));
    },
  },
  {
    report: 'wso2/product-is#3650',
    symptom: 'the name of the Basic scheme is case-sensitive',
    tries: async () => {
      const { authorization } = basic(client);
      for (const scheme of ['basic', 'BASIC'])
        equal(
          (
            await postForm(
              app,
              '/oauth2/introspect',
              { token: 'x' },
              { authorization: authorization.replace('Basic', scheme) },
            )
          ).status,
          200,
        );
      for (const scheme of ['bearer', 'BEARER'])
        equal(
          (
            await call(app, 'GET', '/oauth2/userinfo', {
              headers: { authorization: `${scheme} ${tokens.access_token}` },
            })
          ).status,
          200,
        );
    },
  },
  {
    report: 'zitadel/zitadel#10682',
    symptom: 'a hint that is no ID token of ours ends on a page',
    tries: async () => {
      for (const id_token_hint of [
        'undefined',
        'x',
        tokens.access_token,
        `${tokens.id_token.slice(0, -6)}AAAAAA`,
      ]) {
        const answer = told(await ask({ id_token_hint }));
        deepEqual([answer.get('error'), answer.get('state')], ['invalid_request', 's']);
      }
    },
  },
  {
    report: 'mitreid-connect/OpenID-Connect-Java-Spring-Server#1260',
    symptom: 'prompt=none with an unregistered address is 500',
    tries: async () => {
      for (const by of [browser, new Agent(app)])
        equal((await ask({ prompt: 'none', redirect_uri: 'https://evil.example/' }, by)).status, 400);
    },
  },
  {
    report: 'oauthlib/oauthlib#507',
    symptom: 'prompt=none needs a hint',
    tries: async () => ok(told(await ask({ prompt: 'none' })).get('code')),
  },
  {
    report: 'authlib/example-oauth2-server#52',
    symptom: 'an unknown scope beside a known one is invalid_scope',
    tries: async () => ok(told(await ask({ scope: 'openid made:up' })).get('code')),
  },
  {
    report: 'indieweb/wordpress-indieauth#157',
    symptom: 'a line break in scope joins two',
    tries: async () => {
      const { scope } = await tokensOf(app, client, alice, { scope: 'openid\nprofile' });
      equal(scope, 'openid profile');
    },
  },
  {
    report: 'thephpleague/oauth2-server#1117',
    symptom: 'scopes given up at one refresh are lost for ever',
    tries: async () => {
      const own = await tokensOf(app, client, alice, { scope: 'openid profile offline_access' });
      const narrow = await requestTokens(app, client, {
        grant_type: 'refresh_token',
        refresh_token: own.refresh_token,
        scope: 'openid',
      });
      deepEqual([narrow.body.scope, claimsOf(narrow.body.access_token).scope], ['openid', 'openid']);
      const again = await refresh(app, client, narrow.body.refresh_token ?? own.refresh_token);
      equal(again.body.scope, 'openid profile offline_access');
    },
  },
  {
    report: 'JanssenProject/jans#5462',
    symptom: 'a refresh with an empty scope has none',
    tries: async () => {
      const own = await tokensOf(app, client, alice, { scope: 'openid profile offline_access' });
      const { body } = await requestTokens(app, client, {
        grant_type: 'refresh_token',
        refresh_token: own.refresh_token,
        scope: '',
      });
      equal(body.scope, 'openid profile offline_access');
    },
  },
  {
    report: 'leodip/goiabada#202',
    symptom: 'credentials are taken from the address',
    tries: async () => {
      const query = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
      const { status } = await call(
        app,
        'POST',
        `/oauth2/token?${query}&client_id=${client.id}&client_secret=${client.secret}`,
        {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        },
      );
      ok(status === 400 || status === 401);
    },
  },
  {
    report: 'oauthjs/node-oauth2-server#637',
    symptom: 'PKCE plain, too short or without a method',
    tries: async () => {
      for (const more of [
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
        { code_challenge: 'short' },
        { code_challenge: undefined },
      ])
        equal(told(await ask(more)).get('error'), 'invalid_request', JSON.stringify(more));
    },
  },
  {
    report: 'synapsestudios/oidc-platform#344',
    symptom: 'the used sign-in form by the browser’s back is 500',
    tries: async () => {
      const agent = new Agent(app);
      const form = await ask({}, agent);
      await agent.submit(form, { username: 'alice', password: PASSWORD });
      await agent.get('/oauth2/logout');
      const again = await agent.submit(form, { username: 'alice', password: PASSWORD });
      equal(again.status, 400);
      match(again.body, /<a [^>]*href=/);
    },
  },
  {
    report: 'panva/node-oidc-provider#801',
    symptom: 'an expired sign-in form has no way on',
    tries: async () => {
      const page = await new Agent(app).post('/oauth2/login', {
        username: 'alice',
        password: PASSWORD,
        interaction: 'gone',
      });
      ok(page.status >= 400 && page.status < 500);
      match(page.body, /<a [^>]*href=/);
    },
  },
  {
    report: 'AxaFrance/oidc-client#1022',
    symptom: 'a code from before sign-out is redeemed after it',
    tries: async () => {
      const agent = new Agent(app);
      const authorization = await agent.signIn(client.id, alice);
      await agent.get('/oauth2/logout');
      equal((await redeem(app, client, authorization)).body.error, 'invalid_grant');
    },
  },
]);
