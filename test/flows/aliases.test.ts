// The second path layout (decision 0001): a client configured for another identity provider's paths works unchanged, end to
// end, under any realm name.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, type Page, VERIFIER } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp } from '../support/app.ts';
import { basic, bearer, call, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const client = await app.register({
  grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
  post_logout_redirect_uris: ['https://rp.example/bye'],
});
const alice = await app.createUser('alice');

const authorizationQuery = (more: Record<string, string> = {}): URLSearchParams =>
  new URLSearchParams({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid profile',
    state: 's',
    code_challenge: challengeOf(VERIFIER),
    code_challenge_method: 'S256',
    ...more,
  });

for (const layout of ['/oauth2', '/realms/master', '/realms/my%20realm', '/realms/x.y-z_1']) {
  const at = `${layout}/protocol/openid-connect`;

  test(`${at}: sign-in, token, userinfo, introspection, refresh, revocation, logout`, async () => {
    const agent = new Agent(app);
    const page: Page = await agent.get(`${at}/auth?${authorizationQuery()}`);
    equal(page.status, 200, page.body);
    const callback = await agent.finish(page, alice);
    equal(callback.searchParams.get('iss'), app.issuer);
    const exchanged = await postForm(
      app,
      `${at}/token`,
      {
        grant_type: 'authorization_code',
        code: callback.searchParams.get('code') ?? '',
        code_verifier: VERIFIER,
        redirect_uri: REDIRECT_URI,
      },
      basic(client),
    );
    equal(exchanged.status, 200, exchanged.text);
    const access = String(exchanged.body.access_token);
    for (const method of ['GET', 'POST']) {
      const person = await call(app, method, `${at}/userinfo`, { headers: bearer(access) });
      deepEqual([person.status, person.body.preferred_username], [200, 'alice']);
    }
    for (const headers of [bearer(ADMIN_TOKEN), basic(client)]) {
      const { status, body } = await postForm(app, `${at}/token/introspect`, { token: access }, headers);
      deepEqual([status, body.active, body.iss], [200, true, app.issuer]);
    }
    const refreshed = await postForm(
      app,
      `${at}/token`,
      { grant_type: 'refresh_token', refresh_token: String(exchanged.body.refresh_token) },
      basic(client),
    );
    equal(refreshed.status, 200, refreshed.text);
    const revoked = await postForm(app, `${at}/revoke`, { token: access });
    deepEqual([revoked.status, revoked.text], [200, '']);
    equal((await call(app, 'GET', `${at}/userinfo`, { headers: bearer(access) })).status, 401);

    const silent = await agent.get(`${at}/auth?${authorizationQuery({ prompt: 'none' })}`);
    match(silent.location ?? '', /[?&]code=/);
    const bye = new URLSearchParams({
      id_token_hint: String(refreshed.body.id_token),
      post_logout_redirect_uri: 'https://rp.example/bye',
      state: 'x',
    });
    const out = await agent.get(`${at}/logout?${bye}`);
    deepEqual([out.status, out.location], [303, 'https://rp.example/bye?state=x']);
    const again = await agent.get(`${at}/auth?${authorizationQuery({ prompt: 'none' })}`);
    match(again.location ?? '', /error=login_required/);
  });

  test(`${at}: keys, device flow, POST to auth, errors and methods`, async () => {
    const keys = await call(app, 'GET', `${at}/certs`);
    equal(keys.text, (await call(app, 'GET', '/.well-known/jwks.json')).text);
    const device = await postForm(app, `${at}/auth/device`, { scope: 'openid' }, basic(client));
    deepEqual([device.status, device.body.verification_uri], [200, `${app.url}/oauth2/device`]);
    const agent = new Agent(app);
    const page = await agent.post(`${at}/auth`, Object.fromEntries(authorizationQuery()));
    match((await agent.finish(page, alice)).href, /[?&]code=/);
    const wrong = await agent.get(
      `${at}/auth?${authorizationQuery({ redirect_uri: 'https://evil.example/' })}`,
    );
    deepEqual([wrong.status, wrong.location], [400, undefined]);
    match(wrong.headers.get('content-type') ?? '', /^text\/html/);
    const method = await call(app, 'GET', `${at}/token`);
    deepEqual([method.status, method.headers.get('allow')], [405, 'POST, OPTIONS']);
    const bad = await postForm(app, `${at}/token`, { grant_type: 'x' });
    match(bad.headers.get('content-type') ?? '', /^application\/json/);
  });
}

test('realm alias: discovery is the same document', async () => {
  const { text } = await call(app, 'GET', '/oauth2/.well-known/openid-configuration');
  for (const realm of ['master', 'x%2Fy', 'ü']) {
    const answer = await call(app, 'GET', `/realms/${encodeURI(realm)}/.well-known/openid-configuration`);
    deepEqual([answer.status, answer.text], [200, text], realm);
  }
});

test('attack: an alias bypasses a check, or reaches paths outside the layout', async () => {
  for (const path of [
    '/realms/protocol/openid-connect/token',
    '/realms/a/b/protocol/openid-connect/token',
    '/realms//protocol/openid-connect/token',
    '/realms/x/protocol/openid-connect/register',
    '/realms/x/protocol/openid-connect/constructor',
    '/realms/x/protocol/openid-connect/__proto__',
    '/realms/x/protocol/openid-connect/token/',
    '/realms/x/protocol/openid-connect/../../../../admin/api/users',
    '/realms/x/protocol/saml',
    '/oauth2/protocol/openid-connect/',
    '/protocol/openid-connect/token',
  ]) {
    const { status } = await postForm(app, path, { grant_type: 'client_credentials' }, basic(client));
    ok([401, 404].includes(status), `${path} ${status}`);
  }
  const { status, body } = await postForm(app, '/realms/x/protocol/openid-connect/token/introspect', {
    token: 'x',
  });
  deepEqual([status, 'active' in body], [401, false]);
});
