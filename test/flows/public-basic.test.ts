// A public client that sends its id as `Authorization: Basic base64(id:)`, as Duende.IdentityModel and the C# client of MCP do.
import { deepEqual, equal } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type Answer, basic, call, isActive, postForm, tokensOf } from './support.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const metadata = {
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT],
};
const open = await app.register(metadata);
const other = await app.register(metadata);
const withSecret = await app.register({ grant_types: ['authorization_code', 'client_credentials'] });
const withKey = await app.register({
  token_endpoint_auth_method: 'private_key_jwt',
  jwks_uri: 'https://rp.example/jwks',
  grant_types: ['client_credentials'],
  redirect_uris: [],
});
const alice = await app.createUser('alice');

const withoutPassword = (id: string): { authorization: string } => basic({ id, secret: '' });
const post = (path: string, fields: Record<string, string>, headers = withoutPassword(open.id)) =>
  postForm(app, `/oauth2${path}`, fields, headers);
const outcome = ({ status, body }: Answer): unknown[] => [status, body.error];

test('Basic of a public client without a password: code, refresh and revocation', async () => {
  const { code, verifier } = await new Agent(app).signIn(open.id, alice);
  const grant = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  };
  const tokens = await post('/token', grant);
  equal(tokens.status, 200, tokens.text);
  const fields = { grant_type: 'refresh_token', refresh_token: String(tokens.body.refresh_token) };
  const refreshed = await post('/token', { ...fields, client_id: open.id });
  equal(refreshed.status, 200, refreshed.text);
  const token = String(refreshed.body.access_token);
  const revoked = await post('/revoke', { token });
  deepEqual([revoked.status, revoked.text], [200, '']);
  equal(await isActive(app, token), false);
});

test('Basic of a public client without a password: device flow and pushed requests', async () => {
  const device = await post('/device_authorization', { scope: 'openid' });
  equal(device.status, 200, device.text);
  const fields = { grant_type: DEVICE_GRANT, device_code: String(device.body.device_code) };
  deepEqual(outcome(await post('/token', fields)), [400, 'authorization_pending']);
  const pushed = await post('/par', {
    redirect_uri: REDIRECT_URI,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  equal(pushed.status, 201, pushed.text);
});

test('Basic of a public client without a password: no introspection', async () => {
  deepEqual(outcome(await post('/introspect', { token: 'x' })), [401, 'invalid_client']);
});

test('Basic of a public client without a password: no body is a form, JSON is not', async () => {
  const headers = withoutPassword(open.id);
  const revoked = await call(app, 'POST', '/oauth2/revoke', { headers });
  deepEqual([revoked.status, revoked.text], [200, '']);
  deepEqual(outcome(await call(app, 'POST', '/oauth2/token', { headers })), [400, 'invalid_request']);
  const json = { headers: { ...headers, 'content-type': 'application/json' }, body: '{}' };
  for (const path of ['/oauth2/revoke', '/oauth2/token'])
    deepEqual(outcome(await call(app, 'POST', path, json)), [400, 'invalid_request']);
});

test('attack: an empty Basic password as the credential of a client that has one', async () => {
  const grant = { grant_type: 'client_credentials' };
  for (const { id } of [withSecret, withKey, { id: 'unknown' }, { id: '' }, { id: 'console' }])
    deepEqual(outcome(await post('/token', grant, withoutPassword(id))), [400, 'invalid_request'], id);
  const { access_token: token } = await tokensOf(app, withSecret, alice);
  for (const path of ['/revoke', '/introspect'])
    deepEqual(outcome(await post(path, { token }, withoutPassword(withSecret.id))), [400, 'invalid_request']);
  equal(await isActive(app, token), true);
});

test('attack: an empty Basic password beside another credential or another client_id', async () => {
  const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
  const beside: readonly Record<string, string>[] = [
    { client_id: other.id },
    { client_id: '' },
    { client_id: withSecret.id, client_secret: withSecret.secret },
    { client_secret: withSecret.secret },
    { client_secret: '' },
    { client_assertion: 'x.y.z' },
    { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
  ];
  for (const fields of beside) {
    for (const path of ['/token', '/revoke']) {
      const answer = await post(path, { ...grant, token: 'x', ...fields });
      deepEqual(outcome(answer), [400, 'invalid_request'], `${path} ${JSON.stringify(fields)}`);
    }
  }
});

test('attack: a revocation by another public client’s empty Basic password has no effect', async () => {
  const tokens = await tokensOf(app, open, alice);
  const answer = await post('/revoke', { token: tokens.access_token }, withoutPassword(other.id));
  equal(answer.status, 200);
  equal(await isActive(app, tokens.access_token), true);
});

test('attack: malformed Basic headers are not repaired', async () => {
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  const headers = [
    `Basic ${encode(open.id)}`,
    `Basic ${encode(`${open.id}::`)}`,
    `Basic ${encode(`:${open.id}:`)}`,
    `Basic ${encode(`${open.id}:`)} x`,
    `Basic ${encode(`${open.id}%zz:`)}`,
    'Basic Og==',
    'Basic',
  ];
  for (const authorization of headers) {
    const answer = await post(
      '/token',
      { grant_type: 'refresh_token', refresh_token: 'x' },
      { authorization },
    );
    deepEqual([answer.status >= 400 && answer.status < 402, answer.body.access_token], [true, undefined]);
    equal(answer.body.error === 'invalid_grant', false, authorization);
  }
});
