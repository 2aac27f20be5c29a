// What every protocol endpoint accepts (decision 0001): wrong methods and content types, missing and repeated fields.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { startApp } from '../support/app.ts';
import { basic, call, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
});

/** Path -> the methods of decision 0001, as the Allow header says them. */
const allowed: Readonly<Record<string, string>> = {
  '/oauth2/authorize': 'GET, POST',
  '/oauth2/consent': 'GET, POST',
  '/oauth2/onboard': 'GET, POST',
  '/oauth2/device': 'GET, POST',
  '/oauth2/logout': 'GET, POST',
  '/oauth2/device_authorization': 'POST, OPTIONS',
  '/oauth2/token': 'POST, OPTIONS',
  '/oauth2/protocol/openid-connect/token': 'POST, OPTIONS',
  '/realms/any/protocol/openid-connect/token': 'POST, OPTIONS',
  '/oauth2/userinfo': 'GET, POST, OPTIONS',
  '/oauth2/protocol/openid-connect/userinfo': 'GET, POST, OPTIONS',
  '/oauth2/introspect': 'POST, OPTIONS',
  '/oauth2/revoke': 'POST, OPTIONS',
  '/oauth2/par': 'POST, OPTIONS',
  '/oauth2/register': 'POST',
  '/.well-known/openid-configuration': 'GET, OPTIONS',
  '/oauth2/.well-known/openid-configuration': 'GET, OPTIONS',
  '/.well-known/oauth-authorization-server': 'GET, OPTIONS',
  '/.well-known/oauth-authorization-server/oauth2': 'GET, OPTIONS',
  '/oauth2/.well-known/oauth-authorization-server': 'GET, OPTIONS',
  '/.well-known/jwks.json': 'GET, OPTIONS',
  '/oauth2/.well-known/jwks.json': 'GET, OPTIONS',
};

for (const [path, allow] of Object.entries(allowed)) {
  test(`${path}: accepts ${allow}, others are 405`, async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await call(app, method, path);
      if (allow.split(', ').includes(method)) {
        ok(![404, 405, 500, 501].includes(answer.status), `${method} ${answer.status}`);
        continue;
      }
      deepEqual([answer.status, answer.headers.get('allow')], [405, allow], method);
      equal(answer.headers.get('cache-control'), 'no-store');
      equal(answer.headers.get('set-cookie'), null);
    }
  });
}

test('/oauth2/login: POST signs in; PUT and DELETE are 405', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH'])
    equal((await call(app, method, '/oauth2/login')).status, 405);
});

test('oidc-provider: its replaced endpoints do not exist', async () => {
  for (const path of [
    '/oauth2/logout/confirm',
    '/oauth2/logout/success',
    '/oauth2/interaction/x',
    '/oauth2/reg',
  ])
    for (const method of ['GET', 'POST'])
      equal((await call(app, method, path)).status, 404, `${method} ${path}`);
});

const endpoints = ['token', 'introspect', 'revoke', 'par', 'device_authorization'];

for (const endpoint of endpoints) {
  test(`/oauth2/${endpoint}: accepts forms only`, async () => {
    const bodies: readonly [string, string][] = [
      ['application/json', JSON.stringify({ grant_type: 'client_credentials' })],
      ['text/plain', 'grant_type=client_credentials'],
      ['multipart/form-data; boundary=x', '--x\r\n\r\nx\r\n--x--'],
      ['application/x-www-form-urlencoded-not', 'grant_type=client_credentials'],
    ];
    for (const [type, body] of bodies) {
      const headers = { ...basic(client), 'content-type': type };
      const answer = await call(app, 'POST', `/oauth2/${endpoint}`, { headers, body });
      ok([400, 415].includes(answer.status), `${type} ${answer.status}`);
      equal(answer.body.error, 'invalid_request', type);
      ok(!('access_token' in answer.body));
    }
  });

  test(`/oauth2/${endpoint}: refuses a repeated field and names it`, async () => {
    for (const name of ['client_id', 'token', 'scope', 'grant_type']) {
      const known: [string, string][] = [
        ['grant_type', 'client_credentials'],
        ['token', 'x'],
        ['scope', 'openid'],
        ['client_id', client.id],
      ];
      const relevant: Record<string, readonly string[]> = {
        token: ['client_id', 'scope', 'grant_type'],
        introspect: ['client_id', 'token'],
        revoke: ['client_id', 'token'],
        par: ['client_id', 'scope'],
        device_authorization: ['client_id', 'scope'],
      };
      if (!relevant[endpoint]?.includes(name)) continue;
      const again = known.filter(([key]) => key === name);
      const answer = await postForm(app, `/oauth2/${endpoint}`, [...known, ...again], basic(client));
      deepEqual([answer.status, answer.body.error], [400, 'invalid_request'], name);
      match(String(answer.body.error_description), new RegExp(name));
    }
  });
}

test('token endpoint: names missing fields', async () => {
  const missing: readonly [Record<string, string>, string, RegExp][] = [
    [{}, 'invalid_request', /grant_type/],
    [{ grant_type: '' }, 'invalid_request', /grant_type/],
    [{ grant_type: 'authorization_code' }, 'invalid_request', /'code'/],
    [{ grant_type: 'authorization_code', code: 'x' }, 'invalid_request', /redirect_uri/],
    [{ grant_type: 'refresh_token' }, 'invalid_request', /refresh_token/],
    [{ grant_type: 'made-up' }, 'unsupported_grant_type', /grant_type/],
    [{ grant_type: 'implicit' }, 'unsupported_grant_type', /grant_type/],
    [{ grant_type: 'password', username: 'a', password: 'b' }, 'unauthorized_client', /password/],
    [
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'x' },
      'unauthorized_client',
      /device_code/,
    ],
    [
      { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' },
      'unsupported_grant_type',
      /grant_type/,
    ],
  ];
  for (const [fields, error, description] of missing) {
    const { status, body, headers } = await postForm(app, '/oauth2/token', fields, basic(client));
    deepEqual([status, body.error], [400, error], JSON.stringify(fields));
    match(String(body.error_description), description);
    equal(headers.get('cache-control'), 'no-store');
    deepEqual(Object.keys(body).sort(), ['error', 'error_description']);
  }
});

test('token endpoint: ignores unknown fields (RFC 6749 §3.2)', async () => {
  const fields = { grant_type: 'client_credentials', made_up: '1', __proto_: '2' };
  equal((await postForm(app, '/oauth2/token', fields, basic(client))).status, 200);
});

test('unknown address: 404 for programs; HEAD is GET without a body', async () => {
  for (const path of [
    '/oauth2/nothing',
    '/oauth2/token/x',
    '/.well-known/nothing',
    '/realms/x/nothing',
    '/nothing',
  ])
    equal((await call(app, 'GET', path)).status, 404, path);
  const head = await call(app, 'HEAD', '/.well-known/openid-configuration');
  deepEqual([head.status, head.text], [200, '']);
});
