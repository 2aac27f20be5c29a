// Programs get OAuth errors in JSON (RFC 6749 §5.2), whatever they accept: the Java runtime's HTTP client prefers text/html
// unless told otherwise, so Nimbus and pac4j could read neither `authorization_pending` nor `invalid_grant`.
import { deepEqual, equal, match } from 'node:assert/strict';
import test, { after } from 'node:test';
import { startApp } from '../support/app.ts';
import { type Answer, basic, bearer, call, postForm } from './support.ts';

/** What HttpURLConnection of JDK 17 sends. */
const JAVA = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2';
const ACCEPTS = [JAVA, 'text/html', 'text/html,application/json;q=0.1', '*/*', 'image/png'];
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ grant_types: ['authorization_code', 'refresh_token'] });
const device = await app.register({
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: [DEVICE_GRANT],
  response_types: [],
  redirect_uris: [],
});

const wrong = basic({ ...client, secret: 'wrong' });
const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
  return (accept: string): Promise<Answer> => postForm(app, `/oauth2${path}`, fields, { ...headers, accept });
};

const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://rp.example/callback' };
const refused: Readonly<Record<string, readonly [number, string, (accept: string) => Promise<Answer>]>> = {
  'token: code': [400, 'invalid_grant', form('/token', code, basic(client))],
  'token: no grant type': [400, 'invalid_request', form('/token', {}, basic(client))],
  'token: wrong secret': [401, 'invalid_client', form('/token', code, wrong)],
  'token: alias': [400, 'invalid_grant', form('/protocol/openid-connect/token', code, basic(client))],
  introspection: [401, 'invalid_client', form('/introspect', { token: 'x' }, wrong)],
  'introspection: no credentials': [401, 'invalid_client', form('/introspect', { token: 'x' })],
  revocation: [401, 'invalid_client', form('/revoke', { token: 'x' }, wrong)],
  'pushed request': [400, 'invalid_request', form('/par', { scope: 'openid' }, basic(client))],
  'device authorization': [401, 'invalid_client', form('/device_authorization', {})],
  userinfo: [
    401,
    'invalid_token',
    (accept) => call(app, 'GET', '/oauth2/userinfo', { headers: { ...bearer('x'), accept } }),
  ],
  'userinfo: no token': [
    401,
    'invalid_token',
    (accept) => call(app, 'GET', '/oauth2/userinfo', { headers: { accept } }),
  ],
  registration: [
    401,
    'invalid_token',
    (accept) => call(app, 'POST', '/oauth2/register', { headers: { accept } }),
  ],
};

for (const [name, [status, error, send]] of Object.entries(refused)) {
  test(`${name}: the error is JSON whatever the client accepts`, async () => {
    for (const accept of ACCEPTS) {
      const answer = await send(accept);
      deepEqual([answer.status, answer.body.error], [status, error], `${accept}: ${answer.text}`);
      match(answer.headers.get('content-type') ?? '', /^application\/json/, accept);
    }
  });
}

test('device polling: a Java client reads authorization_pending', async () => {
  const headers = { accept: JAVA };
  const started = await postForm(
    app,
    '/oauth2/device_authorization',
    { client_id: device.id, scope: 'openid' },
    headers,
  );
  equal(started.status, 200, started.text);
  const fields = {
    grant_type: DEVICE_GRANT,
    device_code: String(started.body.device_code),
    client_id: device.id,
  };
  const { status, body } = await postForm(app, '/oauth2/token', fields, headers);
  deepEqual([status, body.error], [400, 'authorization_pending']);
});

test('authorization endpoint and device page: browsers still get pages', async () => {
  for (const path of ['/oauth2/authorize?client_id=nobody', '/oauth2/device?user_code=x']) {
    const { headers } = await call(app, 'GET', path, { headers: { accept: JAVA } });
    match(headers.get('content-type') ?? '', /^text\/html/, path);
  }
});
