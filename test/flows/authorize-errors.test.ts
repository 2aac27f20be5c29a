// Errors of the authorization endpoint once client and redirect URI are verified: in the redirect, with `state` and `iss`, and
// never with a code (RFC 6749 §4.1.2.1, RFC 9207).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, hiddenFields, type Page } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import type { Client } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const alice = await app.createUser('alice');
const signedIn = new Agent(app);
await signedIn.signIn(client.id, alice);

const good = (to: Client = client): Record<string, string> => ({
  client_id: to.id,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid',
  state: 'a state',
  code_challenge: challengeOf('v'.repeat(43)),
  code_challenge_method: 'S256',
});

function expectError(page: Page, error: string, what: string): URLSearchParams {
  equal(page.status, 303, `${what}: ${page.body}`);
  const url = new URL(page.location ?? '');
  equal(url.origin + url.pathname, REDIRECT_URI, what);
  const values = new URLSearchParams(url.search === '' ? url.hash.slice(1) : url.search);
  deepEqual(
    [values.get('error'), values.get('state'), values.get('iss')],
    [error, 'a state', app.issuer],
    what,
  );
  const known = new Set(['error', 'error_description', 'iss', 'state', 'scope']);
  for (const name of values.keys()) ok(known.has(name), `${what}: ${name}`);
  equal(page.headers.get('cache-control'), 'no-store');
  return values;
}

test('response type: tokens in the front channel are refused, signed in or not (R009)', async () => {
  for (const response_type of [
    'token',
    'id_token',
    'id_token token',
    'code token',
    'code id_token',
    'code id_token token',
    'none',
    'made-up',
    'CODE',
  ]) {
    for (const agent of [new Agent(app), signedIn]) {
      const page = await agent.authorize({ ...good(), nonce: 'n', response_type });
      const values = expectError(page, 'unsupported_response_type', response_type);
      ok(!values.has('access_token') && !values.has('id_token') && !values.has('code'));
    }
  }
  equal((await signedIn.authorize({ ...good(), response_type: '' })).status, 303);
});

test('response type: administrators cannot register one with front-channel tokens', async () => {
  for (const fields of [
    { response_types: ['token'] },
    { response_types: ['code', 'id_token'] },
    { grant_types: ['implicit'] },
    { grant_types: ['authorization_code', 'implicit'] },
  ]) {
    const { status } = await app.admin('POST', '/clients', { redirect_uris: [REDIRECT_URI], ...fields });
    equal(status, 400, JSON.stringify(fields));
  }
});

test('response mode: unknown ones, query.jwt and its relatives are refused', async () => {
  for (const response_mode of ['jwt', 'query.jwt', 'web_message', 'made-up']) {
    const page = await signedIn.authorize({ ...good(), response_mode });
    expectError(page, 'unsupported_response_mode', response_mode);
  }
});

const refusals: readonly [Record<string, string>, string][] = [
  [{ scope: 'admin' }, 'invalid_scope'],
  [{ scope: 'openid "quoted"' }, 'invalid_scope'],
  [{ prompt: 'none login' }, 'invalid_request'],
  [{ max_age: '-1' }, 'invalid_request'],
  [{ max_age: 'x' }, 'invalid_request'],
  [{ max_age: '1.5' }, 'invalid_request'],
  [{ claims: 'x' }, 'invalid_request'],
  [{ claims: '[]' }, 'invalid_request'],
  [{ claims: '{"userinfo":1}' }, 'invalid_request'],
  [{ id_token_hint: 'x.y.z' }, 'invalid_request'],
  [{ registration: '{}' }, 'registration_not_supported'],
  [{ request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
  [{ request_uri: 'https://rp.example/request.jwt' }, 'request_uri_not_supported'],
  [{ request_uri: 'http://169.254.169.254/latest/meta-data' }, 'request_uri_not_supported'],
  [{ request_uri: 'urn:ietf:params:oauth:request_uri:unknown' }, 'invalid_request_uri'],
];

for (const [fields, error] of refusals) {
  test(`authorization request: ${JSON.stringify(fields)} is ${error}`, async () => {
    const page = await signedIn.authorize({ ...good(), ...fields });
    expectError(page, error, JSON.stringify(fields));
  });
}

test('authorization request: a repeated parameter is refused by name, never used (R014)', async () => {
  for (const name of ['scope', 'state', 'nonce', 'code_challenge', 'response_type', 'prompt', 'login_hint']) {
    const query = new URLSearchParams({ ...good(), [name]: good()[name] ?? 'x' });
    query.append(name, 'other');
    for (const page of [
      await signedIn.get(`/oauth2/authorize?${query}`),
      await signedIn.request('/oauth2/authorize', { method: 'POST', body: query }),
    ]) {
      if (page.status === 303) {
        const values = new URL(page.location ?? '').searchParams;
        equal(values.get('error'), 'invalid_request', name);
        match(values.get('error_description') ?? '', new RegExp(name));
        equal(values.get('code'), null);
      } else {
        // A form is refused before it is known whose it is.
        deepEqual([page.status, page.location], [400, undefined], name);
      }
    }
  }
});

test('authorization request: unknown parameters ignored, order free, empty is absent (R014)', async () => {
  const codeOf = async (entries: [string, string][]): Promise<URLSearchParams> => {
    const page = await signedIn.get(`/oauth2/authorize?${new URLSearchParams(entries)}`);
    equal(page.status, 303, page.body);
    return new URL(page.location ?? '').searchParams;
  };
  const entries = Object.entries(good());
  const variants: [string, string][][] = [
    entries,
    entries.toReversed(),
    [...entries, ['made_up', '1'], ['utm_source', 'x'], ['__proto__', 'x'], ['constructor', 'y']],
    [...entries, ['prompt', ''], ['max_age', ''], ['nonce', ''], ['response_mode', ''], ['claims', '']],
  ];
  for (const variant of variants) {
    const values = await codeOf(variant);
    deepEqual([...values.keys()].sort(), ['code', 'iss', 'state']);
    deepEqual([values.get('iss'), values.get('state')], [app.issuer, 'a state']);
  }
  const values = await codeOf(entries.map(([name, value]) => [name, name === 'state' ? '' : value]));
  equal(values.get('state'), null);
});

test('authorization request: GET and POST are equivalent (R014)', async () => {
  const post = await signedIn.post('/oauth2/authorize', good());
  deepEqual([post.status, new URL(post.location ?? '').searchParams.get('state')], [303, 'a state']);
  ok(new URL(post.location ?? '').searchParams.get('code'));

  const agent = new Agent(app);
  const page = await agent.post('/oauth2/authorize', { ...good(), login_hint: 'alice' });
  equal(page.status, 200);
  ok(page.body.includes('value="alice"'));
  const callback = await agent.finish(page, alice);
  ok(callback.searchParams.get('code'));

  const error = await signedIn.post('/oauth2/authorize', { ...good(), max_age: 'made-up' });
  expectError(error, 'invalid_request', 'POST');
});

test('authorization request: a cross-site POST becomes a GET with its session (SameSite=Lax)', async () => {
  const answer = await new Agent(app).post('/oauth2/authorize', good(), {
    headers: {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      'content-type': 'application/x-www-form-urlencoded',
    },
  });
  equal(answer.status, 303);
  const url = new URL(answer.location ?? '');
  equal(url.origin + url.pathname, `${app.url}/oauth2/authorize`);
  deepEqual(Object.fromEntries(url.searchParams), good());
  ok(new URL((await signedIn.get(url.href)).location ?? '').searchParams.get('code'));
});

test('authorization response: every redirect with credentials is 303 and uncached (R015)', async () => {
  const agent = new Agent(app);
  const page = await agent.authorize(good());
  const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(page.body) ?? [];
  equal(action, '/oauth2/login');
  let step = await agent.post(action, {
    ...hiddenFields(page.body),
    username: 'alice',
    password: 'correct horse battery staple',
  });
  for (let hops = 0; step.location?.startsWith(app.url); hops += 1) {
    equal(step.status, 303);
    ok(hops < 5);
    step = await agent.get(step.location);
  }
  deepEqual([step.status, step.headers.get('cache-control')], [303, 'no-store']);
});
