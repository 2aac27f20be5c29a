// Dynamic registration over the whole product (RFC 7591, RFC 7592): a registered client signs users in, and its deletion ends
// what it was granted. The rules for metadata are tested in test/clients.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import test, { after } from 'node:test';
import * as oidc from 'openid-client';
import { announceRegistration } from '../../scripts/sample/connection.ts';
import { Agent } from '../support/agent.ts';
import { ADMIN_TOKEN, REDIRECT_URI, startApp } from '../support/app.ts';
import { type Answer, basic, bearer, call, isActive, type Json, postForm, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const alice = await app.createUser('alice');

async function initialAccessToken(uses = 1): Promise<string> {
  const { status, body } = await app.admin('POST', '/initial-access-tokens', { label: 'test', uses });
  equal(status, 201);
  return String(body.data.token);
}

const register = (metadata: Partial<oidc.ClientMetadata>, token?: string): Promise<oidc.Configuration> =>
  oidc.dynamicClientRegistration(new URL(app.issuer), metadata, undefined, {
    ...(token !== undefined && { initialAccessToken: token }),
    [oidc.customFetch]: announceRegistration,
    execute: [oidc.allowInsecureRequests],
  });

const manage = (client: Json, method: string, body?: object, token?: string): Promise<Answer> =>
  call(app, method, new URL(String(client.registration_client_uri)).pathname, {
    headers: {
      ...bearer(token ?? String(client.registration_access_token)),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

const metadata = { client_name: 'Newcomer', redirect_uris: [REDIRECT_URI], scope: 'openid profile email' };

test('registration: by initial access token; signs a user in, reads, changes, deletes itself', async () => {
  const token = await initialAccessToken();
  const config = await register(metadata, token);
  const made: Json = { ...config.clientMetadata() };
  const client = { id: String(made.client_id), secret: String(made.client_secret) };
  match(client.id, /^[0-9a-f-]{36}$/);
  await rejects(register(metadata, token), { status: 401 });

  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const agent = new Agent(app);
  const callback = await agent.finish(await agent.get(url.href), alice);
  const tokens = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier });
  equal(tokens.claims()?.aud, client.id);

  const read = await manage(made, 'GET');
  deepEqual([read.status, read.body.client_id, read.body.client_secret], [200, client.id, undefined]);
  equal(read.headers.get('cache-control'), 'no-store');
  const moved = { ...metadata, client_id: client.id, redirect_uris: ['https://rp.example/new'] };
  const put = await manage(made, 'PUT', moved);
  deepEqual([put.status, put.body.redirect_uris], [200, ['https://rp.example/new']]);
  const old = await new Agent(app).authorize({
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
  });
  deepEqual([old.status, old.location], [400, undefined]);

  equal(await isActive(app, tokens.access_token), true);
  equal((await manage(made, 'DELETE')).status, 204);
  equal((await manage(made, 'GET')).status, 401);
  equal(await isActive(app, tokens.access_token), false);
  const refused = await postForm(app, '/oauth2/token', { grant_type: 'client_credentials' }, basic(client));
  deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
});

test('registration by an administrator’s bearer: may set what strangers may not', async () => {
  const privileged = { ...metadata, scope: 'openid admin', grant_types: ['authorization_code', 'password'] };
  const made = await register(privileged, ADMIN_TOKEN);
  match(String(made.clientMetadata().scope), /\badmin\b/);
  const stranger = await initialAccessToken();
  await rejects(register(privileged, stranger), { status: 400 });
  const left = await register({ ...privileged, grant_types: ['authorization_code'] }, stranger);
  equal(left.clientMetadata().scope, 'openid');
  await rejects(register(metadata), { status: 401 });
  // A person's token without the scope `admin` is no one's.
  const { access_token } = await tokensOf(app, await app.register(), alice);
  await rejects(register(metadata, access_token), { status: 403 });
});

test('attack: registration access token of another client, a secret, an access token or none', async () => {
  const [one, two] = [
    { ...(await register(metadata, ADMIN_TOKEN)).clientMetadata() } as Json,
    { ...(await register(metadata, ADMIN_TOKEN)).clientMetadata() } as Json,
  ];
  const answers = new Set<string>();
  for (const token of [two.registration_access_token, one.client_secret, 'guessed', '']) {
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await manage(one, method, undefined, String(token));
      answers.add(JSON.stringify([status, body]));
    }
  }
  equal(answers.size, 1, [...answers].join('\n'));
  match([...answers].join(), /^\[401,/);
  const unknown = { ...one, registration_client_uri: `${app.url}/oauth2/register/nobody` };
  equal((await manage(unknown, 'GET')).status, 401);
  equal((await manage(one, 'GET')).status, 200);
});

test('registration: a wrong method or content type is reported, nothing is registered', async () => {
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const answer = await call(app, method, '/oauth2/register', { headers: bearer(ADMIN_TOKEN) });
    deepEqual([answer.status, answer.headers.get('allow')], [405, 'POST'], method);
  }
  const made: Json = { ...(await register(metadata, ADMIN_TOKEN)).clientMetadata() };
  const posted = await manage(made, 'POST', metadata);
  deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, PUT, DELETE']);
  const form = await postForm(app, '/oauth2/register', { client_name: 'x' }, bearer(ADMIN_TOKEN));
  equal(form.status, 415);
  const { body } = await app.admin('GET', '/clients?limit=1000');
  ok(!body.data.items?.some(({ client_name }) => client_name === 'x'));
});
