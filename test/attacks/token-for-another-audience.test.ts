// Attack: a token meant for another audience. Of what belongs to APIs this holds already:
// an unknown resource is refused wherever it is requested, and no token claims to be bound to a certificate.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  basic,
  bearer,
  call,
  claimsOf,
  headerOf,
  introspect,
  isActive,
  postForm,
  requestTokensOf,
  tokensOf,
  userinfo,
} from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const client = await app.register({
  scope: 'openid profile offline_access account',
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials', DEVICE],
});
const alice = await app.createUser('alice');
const scope = 'openid profile offline_access';
const tokens = await tokensOf(app, client, alice, { scope, prompt: 'consent' });
const RESOURCES = ['https://api.example', 'urn:api', 'not an address', 'https://api.example#x'];

test('attack: token for another audience; an unregistered resource is invalid_target', async () => {
  for (const resource of RESOURCES) {
    const page = await new Agent(app).authorize({ ...codeRequest(client.id), resource, prompt: 'none' });
    equal(new URL(page.location ?? '').searchParams.get('error'), 'invalid_target', resource);
    const { id: client_id } = client;
    const asked = { ...codeRequest(client_id), resource };
    const answers = {
      par: await postForm(app, '/oauth2/par', asked, basic(client)),
      machine: await postForm(
        app,
        '/oauth2/token',
        { grant_type: 'client_credentials', resource },
        basic(client),
      ),
      refresh: await postForm(
        app,
        '/oauth2/token',
        { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, resource },
        basic(client),
      ),
      device: await postForm(
        app,
        '/oauth2/device_authorization',
        { scope: 'openid', resource },
        basic(client),
      ),
    };
    for (const [at, { status, body }] of Object.entries(answers))
      deepEqual([status, body.error], [400, 'invalid_target'], `${at} ${resource}: ${JSON.stringify(body)}`);
  }
  equal(
    await isActive(app, tokens.refresh_token),
    true,
    'decided before the token is consumed (decision 0007)',
  );
});

test('attack: an ID token at userinfo and the APIs', async () => {
  deepEqual([claimsOf(tokens.id_token).aud, headerOf(tokens.access_token).typ], [client.id, 'at+jwt']);
  equal((await userinfo(app, tokens.id_token)).status, 401);
  equal((await call(app, 'GET', '/account/api/profile', { headers: bearer(tokens.id_token) })).status, 401);
  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(tokens.id_token) })).status, 401);
});

test('mTLS: not announced, and no token claims to be bound to a certificate', async () => {
  const { body: document } = await call(app, 'GET', '/.well-known/openid-configuration');
  ok(!Object.keys(document).some((name) => /tls_client|resource/i.test(name)), Object.keys(document).join());
  equal(claimsOf(tokens.access_token).cnf, undefined);
  equal((await introspect(app, tokens.access_token)).body.cnf, undefined);
});

test('consent withdrawal: by list or button it ends codes, access and refresh tokens', async () => {
  const partner = await app.register({
    scope,
    skip_consent: false,
    client_name: 'Partner',
    redirect_uris: [REDIRECT_URI],
  });
  const bob = await app.createUser('bob');
  const agent = new Agent(app);
  const given = await tokensOf(app, partner, bob, { scope, prompt: 'consent' }, agent);
  const { code, verifier } = await agent.signIn(partner.id, bob, { scope });
  ok(code !== '');
  const own = await requestTokensOfOwner(bob, agent);
  const list = await call(app, 'GET', '/account/api/applications', { headers: bearer(own) });
  match(list.text, new RegExp(`"client_id":"${partner.id}","client_name":"Partner"`));
  const gone = await call(app, 'DELETE', `/account/api/applications/${partner.id}`, { headers: bearer(own) });
  equal(gone.status, 204, gone.text);
  deepEqual(
    [await isActive(app, given.access_token), await isActive(app, given.refresh_token)],
    [false, false],
  );
  equal((await userinfo(app, given.access_token)).status, 401);
  const late = await postForm(
    app,
    '/oauth2/token',
    { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
    basic(partner),
  );
  deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
  const asked = await agent.authorize({ ...codeRequest(partner.id), scope: 'openid' });
  match(asked.body, /\/oauth2\/consent/, 'the person is asked again');
  equal(await isActive(app, own), true, 'another application keeps what it has');
});

async function requestTokensOfOwner(user: { username: string }, agent: Agent): Promise<string> {
  return (await tokensOf(app, client, user, { scope: 'openid account', prompt: 'login' }, agent))
    .access_token;
}

test('client credentials: the token has no user, and this server as audience', async () => {
  const { access_token } = await requestTokensOf(app, client, { grant_type: 'client_credentials' });
  equal(claimsOf(access_token).aud, app.issuer);
  equal((await userinfo(app, access_token)).status, 401);
});
