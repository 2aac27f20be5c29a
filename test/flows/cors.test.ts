// CORS: public documents for every origin, a client's responses for its own origins, pages for none.
import { deepEqual, equal, match } from 'node:assert/strict';
import test, { after } from 'node:test';
import { CROSS_ORIGIN } from '../../src/http/cors.ts';
import { Agent, challengeOf, VERIFIER } from '../support/agent.ts';
import { opensAccounts, REDIRECT_URI, startApp } from '../support/app.ts';
import { type Answer, basic, bearer, call, isActive, later, postForm, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const HOME = 'https://rp.example';
const spa = await app.register({ token_endpoint_auth_method: 'none', ...opensAccounts });
const server = await app.register({ grant_types: ['authorization_code', 'client_credentials'] });
const alice = await app.createUser('alice');
const foreign = [
  'https://evil.example',
  'null',
  'https://rp.example.evil.example',
  'http://rp.example',
  `${HOME}:8443`,
];

const exchange = async (origin: string) => {
  const { code } = await new Agent(app).signIn(spa.id, alice, { code_challenge: challengeOf(VERIFIER) });
  const fields = {
    grant_type: 'authorization_code',
    code,
    code_verifier: VERIFIER,
    redirect_uri: REDIRECT_URI,
    client_id: spa.id,
  };
  return postForm(app, '/oauth2/token', fields, { origin });
};

test('CORS: a browser application redeems its code from its own origin only', async () => {
  const home = await exchange(HOME);
  deepEqual([home.status, home.headers.get('access-control-allow-origin')], [200, HOME]);
  // A library asks for it; the endpoint ignores cookies.
  equal(home.headers.get('access-control-allow-credentials'), 'true');
  match(home.headers.get('vary') ?? '', /Origin/i);
  equal(await isActive(app, String(home.body.access_token)), true);
  for (const origin of foreign) {
    const answer = await exchange(origin);
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [400, null], origin);
    equal(answer.body.access_token, undefined, origin);
  }
});

test('CORS: a confidential client has its own origins, and no others', async () => {
  const ask = (origin: string) =>
    postForm(app, '/oauth2/token', { grant_type: 'client_credentials' }, { ...basic(server), origin });
  const home = await ask(HOME);
  deepEqual([home.status, home.headers.get('access-control-allow-origin')], [200, HOME]);
  for (const origin of foreign) {
    const answer = await ask(origin);
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [400, null], origin);
  }
});

// An application that cannot read a refusal sees a network error, and does not renew its token.
test('CORS: refusals are readable: token, refresh, revocation, userinfo with a dead token', async () => {
  const readable = (answer: Answer, status: number, what: string): void =>
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [status, HOME], what);
  const client_id = spa.id;
  const at = { origin: HOME };
  const refused = { grant_type: 'refresh_token', refresh_token: 'x', client_id };
  readable(await postForm(app, '/oauth2/token', refused, at), 400, 'refresh');
  readable(
    await postForm(app, '/oauth2/token', { grant_type: 'nonsense', client_id }, at),
    400,
    'grant type',
  );
  const wrong = basic({ ...server, secret: 'wrong' });
  readable(await postForm(app, '/oauth2/introspect', { token: 'x' }, { ...wrong, ...at }), 401, 'secret');
  readable(await postForm(app, '/oauth2/revoke', { token: 'x', client_id }, at), 200, 'revocation');
  const long = { client_id, scope: 'openid', state: 'x'.repeat(5000) };
  readable(await postForm(app, '/oauth2/par', long, at), 400, 'our own refusal');

  const tokens = await tokensOf(app, spa, alice);
  const headers = { ...bearer(tokens.access_token), ...at };
  readable(await call(app, 'GET', '/oauth2/userinfo', { headers }), 200, 'userinfo');
  readable(await postForm(app, '/oauth2/revoke', { token: tokens.access_token }, at), 200, 'by the token');
  const dead = await call(app, 'GET', '/oauth2/userinfo', { headers });
  readable(dead, 401, 'userinfo with a revoked token');
  match(dead.headers.get('access-control-expose-headers') ?? '', /WWW-Authenticate/);
  await later(3_600_000, async () =>
    readable(await call(app, 'GET', '/oauth2/userinfo', { headers }), 401, 'userinfo with an expired token'),
  );
});

test('CORS: aliases have the policy of their endpoints', async () => {
  for (const layout of ['/oauth2', '/realms/any']) {
    const path = `${layout}/protocol/openid-connect/token`;
    const fields = { grant_type: 'refresh_token', refresh_token: 'x', client_id: spa.id };
    const { headers } = await postForm(app, path, fields, { origin: HOME });
    equal(headers.get('access-control-allow-origin'), HOME, path);
  }
});

test('CORS: web_origins of an application read its responses, and it always uses PKCE', async () => {
  const widget = 'https://widget.example';
  const local = 'http://localhost:5173';
  const made = await app.register({ web_origins: [widget, local] });
  const path = `/clients/${made.id}`;
  const { body: shown } = await app.admin('GET', path);
  deepEqual([shown.data.web_origins, shown.data.require_pkce], [[local, widget], true]);
  const fields = { grant_type: 'refresh_token', refresh_token: 'x' };
  const readBy = async (origin: string) =>
    (await postForm(app, '/oauth2/token', fields, { ...basic(made), origin })).headers.get(
      'access-control-allow-origin',
    );
  for (const origin of [widget, local, HOME]) equal(await readBy(origin), origin);
  for (const origin of [...foreign, 'http://localhost', 'http://127.0.0.1:5173'])
    equal(await readBy(origin), null, origin);
  equal((await app.admin('PATCH', path, { web_origins: [] })).status, 200);
  equal(await readBy(widget), null);
});

test('CORS: web_origins that are no exact origins are refused, as are those of registrants', async () => {
  const hostile = [
    '*',
    'null',
    'https://*.example.com',
    'https://app.example/',
    'https://app.example/path',
    'https://app.example:443',
    'https://APP.example',
    'https://user@app.example',
    'http://app.example',
    'app.example',
    'com.example.app://x',
    'javascript:alert(1)',
    '',
  ];
  for (const origin of hostile) {
    const { status, body } = await app.admin('POST', '/clients', {
      redirect_uris: [REDIRECT_URI],
      web_origins: [origin],
    });
    equal(status, 400, origin);
    match(body.error?.fields?.web_origins ?? '', /^Entry 1 must/, origin);
  }
  const { body: token } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const refused = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(token.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], web_origins: ['https://evil.example'] }),
  });
  deepEqual([refused.status, refused.body.error], [400, 'invalid_client_metadata']);
});

test('CORS: the account API is readable by the origins of the bearer’s client', async () => {
  const ours = await app.register({
    token_endpoint_auth_method: 'none',
    skip_consent: true,
    ...opensAccounts,
  });
  const { access_token: token } = await tokensOf(app, ours, alice);
  const path = '/account/api/sessions';
  const read = (origin: string) => call(app, 'GET', path, { headers: { ...bearer(token), origin } });
  const home = await read(HOME);
  deepEqual([home.status, home.headers.get('access-control-allow-origin')], [200, HOME]);
  equal(home.headers.get('access-control-allow-credentials'), null);
  for (const origin of foreign) equal((await read(origin)).headers.get('access-control-allow-origin'), null);
  const preflight = await call(app, 'OPTIONS', path, {
    headers: { origin: HOME, 'access-control-request-method': 'DELETE' },
  });
  deepEqual(
    [preflight.status, preflight.headers.get('access-control-allow-methods')],
    [204, 'GET,POST,PUT,PATCH,DELETE'],
  );
});

test('CORS: preflights of script endpoints are answered', async () => {
  for (const [endpoint, methods] of Object.entries(CROSS_ORIGIN.client)) {
    const answer = await call(app, 'OPTIONS', endpoint, {
      headers: {
        origin: HOME,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    equal(answer.status, 204, endpoint);
    equal(answer.headers.get('access-control-allow-methods'), methods, endpoint);
    equal(answer.headers.get('access-control-allow-headers'), 'authorization', endpoint);
    equal(answer.headers.get('access-control-allow-credentials'), 'true', endpoint);
  }
});

test('CORS: public documents are readable from anywhere', async () => {
  for (const path of [...CROSS_ORIGIN.any, '/.well-known/openid-configuration', '/.well-known/jwks.json']) {
    const { headers } = await call(app, 'GET', path, { headers: { origin: 'https://evil.example' } });
    equal(headers.get('access-control-allow-origin'), '*', path);
    equal(headers.get('cross-origin-resource-policy'), null, path);
  }
});

test('CORS: a preflight of a public document is answered for any origin', async () => {
  for (const path of CROSS_ORIGIN.any) {
    const { status, headers } = await call(app, 'OPTIONS', path, {
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
    });
    deepEqual([status, headers.get('access-control-allow-origin')], [204, 'https://evil.example'], path);
    deepEqual(
      [headers.get('access-control-allow-methods'), headers.get('access-control-allow-credentials')],
      ['GET', null],
      path,
    );
  }
});

test('CORS: the admin API is readable from no other origin', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const { headers } = await call(app, method, '/admin/api/users', {
      headers: { origin: HOME, 'access-control-request-method': 'GET' },
    });
    for (const name of headers.keys()) equal(name.startsWith('access-control-'), false, `${method} ${name}`);
  }
});
