// CORS (checklist R010): public documents for every origin, a client's responses for its own origins, pages for none.
import { deepEqual, equal, match } from 'node:assert/strict';
import test, { after } from 'node:test';
import { CROSS_ORIGIN } from '../../src/http/cors.ts';
import { Agent, challengeOf, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { basic, call, isActive, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const HOME = 'https://rp.example';
const spa = await app.register({ token_endpoint_auth_method: 'none' });
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
  equal(home.headers.get('access-control-allow-credentials'), null);
  match(home.headers.get('vary') ?? '', /Origin/i);
  equal(await isActive(app, String(home.body.access_token)), true);
  for (const origin of foreign) {
    const answer = await exchange(origin);
    deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [400, null], origin);
    equal(answer.body.access_token, undefined, origin);
  }
});

test('CORS: a confidential client has no allowed origin', async () => {
  const answer = await postForm(
    app,
    '/oauth2/token',
    { grant_type: 'client_credentials' },
    { ...basic(server), origin: HOME },
  );
  deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [400, null]);
});

test('CORS: preflights of script endpoints are answered, without credentials', async () => {
  for (const endpoint of CROSS_ORIGIN.client) {
    const answer = await call(app, 'OPTIONS', endpoint, {
      headers: {
        origin: HOME,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    equal(answer.status, 204, endpoint);
    match(answer.headers.get('access-control-allow-methods') ?? '', /POST/, endpoint);
    equal(answer.headers.get('access-control-allow-credentials'), null, endpoint);
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
