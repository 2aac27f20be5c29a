// Dynamic registration and its management over HTTP (RFC 7591, RFC 7592; checklist R004, R035–R037, R124).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import {
  ADMIN,
  type Answer,
  membersOf,
  USER,
  type World,
  withEachServer,
  withServer,
} from '../admin/support.ts';
import { goodUris, hostileLinks, hostileUris, privateUseUris } from './corpus.ts';

const path = '/oauth2/register';
const web = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const body = (answer: Answer): Record<string, unknown> => membersOf(answer.body);

async function initialAccessToken({ clients }: World, uses = 10_000): Promise<string> {
  return (await clients.initialAccessTokens.create({ label: 'test', uses, expiresInSeconds: 3600 })).token;
}

interface Registered {
  readonly id: string;
  readonly path: string;
  readonly bearer: string;
  readonly secret: string;
  readonly metadata: Record<string, unknown>;
}

async function register(world: World, metadata: object = web, bearer?: string): Promise<Registered> {
  const answer = await world.call('POST', path, metadata, {
    bearer: bearer ?? (await initialAccessToken(world)),
  });
  equal(answer.status, 201, answer.text);
  const { client_id, client_secret, client_secret_expires_at, client_id_issued_at, ...rest } = body(answer);
  const { registration_access_token, registration_client_uri, ...registered } = rest;
  return {
    id: String(client_id),
    path: `${path}/${client_id}`,
    bearer: String(registration_access_token),
    secret: String(client_secret),
    metadata: registered,
  };
}

withEachServer('registration answers everything of RFC 7591 §3.2.1', async (world) => {
  const { call, now } = world;
  const bearer = await initialAccessToken(world);
  const answer = await call('POST', path, { ...web, unknown_member: 1 }, { bearer });
  equal(answer.status, 201);
  equal(answer.headers.get('cache-control'), 'no-store');
  const client = body(answer);
  match(String(client.client_id), /^[0-9a-f-]{36}$/);
  match(String(client.client_secret), /^[\w-]{43}$/);
  equal(client.client_secret_expires_at, 0);
  equal(client.client_id_issued_at, Math.floor(now() / 1000));
  equal(client.registration_client_uri, `https://id.example.com${path}/${client.client_id}`);
  match(String(client.registration_access_token), /^[\w-]{43}$/);
  deepEqual(client.redirect_uris, web.redirect_uris);
  deepEqual(client.grant_types, ['authorization_code', 'refresh_token']);
  deepEqual(client.response_types, ['code']);
  equal(client.token_endpoint_auth_method, 'client_secret_basic');
  ok(!String(client.scope).includes('admin'));
  for (const name of ['unknown_member', 'skip_consent', 'secrets', 'registrationTokenDigest']) {
    ok(!Object.hasOwn(client, name), name);
  }
  const stored = (await world.clients.find(String(client.client_id)))?.value;
  deepEqual([stored?.origin, stored?.skipConsent], ['registration', false]);

  const open = await call('POST', path, { ...web, token_endpoint_auth_method: 'none' }, { bearer });
  ok(!Object.hasOwn(body(open), 'client_secret'));
  ok(!Object.hasOwn(body(open), 'client_secret_expires_at'));
});

withServer('registration without a token, or with one that is no longer good, is 401', async (world) => {
  const { call, clients, advance } = world;
  const used = await initialAccessToken(world, 1);
  equal((await call('POST', path, web, { bearer: used })).status, 201);
  const { token: expired } = await clients.initialAccessTokens.create({
    label: '',
    uses: 1,
    expiresInSeconds: 1,
  });
  advance(1000);
  const registered = await register(world);
  for (const bearer of [null, '', 'unknown', used, expired, registered.bearer, registered.secret]) {
    const answer = await call('POST', path, web, { bearer });
    deepEqual([answer.status, body(answer).error], [401, 'invalid_token'], String(bearer));
    match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
  }
  equal((await call('POST', path, web, { bearer: USER })).status, 403);
  for (const headers of [{ authorization: 'Basic YTpi' }, { authorization: `Bearer ${ADMIN} x` }]) {
    equal((await call('POST', path, web, { bearer: null, headers })).status, 401);
  }
  const inQuery = `${path}?access_token=${await initialAccessToken(world)}`;
  equal((await call('POST', inQuery, web, { bearer: null })).status, 401);
});

withEachServer('IAT overuse: 50 parallel registrations with 5 uses make 5 clients', async (world) => {
  const { call, clients } = world;
  const bearer = await initialAccessToken(world, 5);
  const answers = await Promise.all(Array.from({ length: 50 }, () => call('POST', path, web, { bearer })));
  equal(answers.filter(({ status }) => status === 201).length, 5);
  equal(answers.filter(({ status }) => status === 401).length, 45);
  equal((await clients.query({ sort: 'created_at', order: 'asc', limit: 100 })).total, 5);
});

withServer('a refused registration costs no use of the token', async (world) => {
  const bearer = await initialAccessToken(world, 1);
  equal((await world.call('POST', path, { redirect_uris: [] }, { bearer })).status, 400);
  equal((await world.call('POST', path, undefined, { bearer, raw: '{' })).status, 400);
  equal((await world.call('POST', path, web, { bearer })).status, 201);
});

withServer('hostile redirect URIs are refused at registration, for web and native', async (world) => {
  const { call, clients } = world;
  const bearer = await initialAccessToken(world);
  for (const uri of hostileUris) {
    for (const application_type of ['web', 'native']) {
      const redirect = { ...web, application_type, redirect_uris: [web.redirect_uris[0], uri] };
      const answer = await call('POST', path, redirect, { bearer });
      // A NUL character is refused before it is read as metadata.
      const error = uri.includes('\u0000') ? 'invalid_request' : 'invalid_redirect_uri';
      deepEqual([answer.status, body(answer).error], [400, error], JSON.stringify(uri));
    }
    const afterLogout = await call('POST', path, { ...web, post_logout_redirect_uris: [uri] }, { bearer });
    equal(afterLogout.status, 400, JSON.stringify(uri));
  }
  equal((await clients.query({ sort: 'created_at', order: 'asc', limit: 1 })).total, 0);
});

withServer('hostile logo, policy, terms and other URIs are refused at registration', async (world) => {
  const bearer = await initialAccessToken(world);
  const names = [
    'logo_uri',
    'policy_uri',
    'tos_uri',
    'client_uri',
    'initiate_login_uri',
    'backchannel_logout_uri',
  ];
  for (const uri of hostileLinks.filter((uri) => uri !== '')) {
    for (const name of names) {
      const answer = await world.call('POST', path, { ...web, [name]: uri }, { bearer });
      equal(answer.status, 400, `${name}: ${JSON.stringify(uri)}`);
    }
  }
});

withServer('good URIs are registered as they are', async (world) => {
  const bearer = await initialAccessToken(world);
  deepEqual(
    (await register(world, { ...web, redirect_uris: goodUris }, bearer)).metadata.redirect_uris,
    goodUris,
  );
  const native = { ...web, application_type: 'native', redirect_uris: privateUseUris };
  deepEqual((await register(world, native, bearer)).metadata.redirect_uris, privateUseUris);
});

const forbidden: readonly (readonly [string, unknown])[] = [
  ['scope', 'openid admin'],
  ['scope', 'root'],
  ['grant_types', ['authorization_code', 'password']],
  ['grant_types', ['implicit']],
  ['response_types', ['token']],
  ['response_types', ['code id_token']],
  ['token_endpoint_auth_method', 'client_secret_jwt'],
  ['id_token_signed_response_alg', 'none'],
  ['id_token_signed_response_alg', 'HS256'],
  ['redirect_uris', ['javascript:alert(1)']],
  ['redirect_uris', ['https://app.example.com@evil.example/']],
  ['redirect_uris', 'https://app.example.com/callback'],
  ['redirect_uris', { $ne: 1 }],
  ['redirect_uris', []],
  ['post_logout_redirect_uris', ['data:text/html,x']],
  ['logo_uri', 'JAVASCRIPT:alert(1)'],
  ['policy_uri', 'vbscript:x'],
  ['tos_uri', 'file:///etc/passwd'],
  ['jwks_uri', 'http://127.0.0.1/jwks'],
  ['backchannel_logout_uri', 'http://localhost/'],
  ['client_name', 'a\nb'],
  ['client_name', { $gt: '' }],
  ['jwks', { keys: [{ kty: 'oct', k: 'x' }] }],
  ['skip_consent', true],
  ['is_active', true],
  ['access_token_seconds', 86_400],
  ['allow_self_signup', true],
  ['client_type', 'public'],
  ['origin', 'seed'],
  ['created_at', '2020-01-01T00:00:00Z'],
  ['client_id_issued_at', 1],
  ['client_secret_expires_at', 1],
  ['registration_access_token', 'x'],
  ['registration_client_uri', 'https://evil.example/'],
];

withServer('what policy forbids is refused at registration, one member at a time', async (world) => {
  const bearer = await initialAccessToken(world);
  const chosen: typeof forbidden = [
    ['client_id', 'chosen'],
    ['client_secret', 'chosen'],
  ];
  for (const [name, value] of [...forbidden, ...chosen]) {
    const answer = await world.call('POST', path, { ...web, [name]: value }, { bearer });
    equal(answer.status, 400, name);
    const expected = name === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    equal(body(answer).error, expected, name);
    ok(String(body(answer).error_description).includes(name), answer.text);
  }
});

withServer('DCR update skipping policy: every member is checked again as at registration', async (world) => {
  const client = await register(world);
  const same = { ...client.metadata, client_id: client.id };
  const before = await world.clients.find(client.id);
  for (const [name, value] of forbidden) {
    const answer = await world.call(
      'PUT',
      client.path,
      { ...same, [name]: value },
      { bearer: client.bearer },
    );
    equal(answer.status, 400, name);
  }
  for (const uri of hostileUris) {
    const changed = { ...same, redirect_uris: [uri] };
    equal((await world.call('PUT', client.path, changed, { bearer: client.bearer })).status, 400, uri);
  }
  deepEqual(await world.clients.find(client.id), before);
});

withEachServer('RFC 7592: read, replace, delete', async (world) => {
  const { call, clients } = world;
  const client = await register(world, { ...web, logo_uri: 'https://app.example.com/logo.png' });
  const { bearer } = client;
  const read = await call('GET', client.path, undefined, { bearer });
  equal(read.status, 200);
  equal(read.headers.get('cache-control'), 'no-store');
  deepEqual([body(read).client_id, body(read).registration_access_token], [client.id, bearer]);
  ok(!Object.hasOwn(body(read), 'client_secret'));
  ok(!read.text.includes(client.secret));

  const changed = { client_id: client.id, client_secret: client.secret, ...web, client_name: 'Other' };
  const replaced = await call('PUT', client.path, changed, { bearer });
  equal(replaced.status, 200);
  equal(body(replaced).client_name, 'Other');
  ok(!Object.hasOwn(body(replaced), 'logo_uri'), 'PUT replaces: what is absent is gone');
  const stored = await clients.find(client.id);
  ok(stored && clients.verifySecret(stored.value, client.secret));

  for (const wrong of [
    { ...changed, client_id: 'other' },
    { ...web },
    { ...changed, client_secret: 'other' },
    { ...changed, client_secret: { $ne: '' } },
    { ...changed, client_secret: null },
    [],
    null,
  ]) {
    const answer = await call('PUT', client.path, wrong, { bearer });
    deepEqual([answer.status, body(answer).error], [400, 'invalid_client_metadata'], JSON.stringify(wrong));
  }
  equal((await call('PATCH', client.path, {}, { bearer })).headers.get('allow'), 'GET, HEAD, PUT, DELETE');
  equal((await call('GET', path, undefined, { bearer })).status, 405);

  const gone = await call('DELETE', client.path, undefined, { bearer });
  deepEqual([gone.status, gone.text], [204, '']);
  equal((await call('GET', client.path, undefined, { bearer })).status, 401);
  equal(await clients.find(client.id), undefined);
});

withServer('a public client that becomes confidential gets a secret in the answer', async (world) => {
  const client = await register(world, { ...web, token_endpoint_auth_method: 'none' });
  const changed = { ...web, client_id: client.id, token_endpoint_auth_method: 'client_secret_post' };
  const answer = await world.call('PUT', client.path, changed, { bearer: client.bearer });
  const stored = await world.clients.find(client.id);
  ok(stored && world.clients.verifySecret(stored.value, String(body(answer).client_secret)));
});

withServer(
  'registration token of another client, wrong, missing or of no client: 401, never 404',
  async (world) => {
    const { call, clients } = world;
    const [mine, other] = [await register(world), await register(world)];
    const bearers = [null, 'wrong', other.bearer, mine.secret, ADMIN, await initialAccessToken(world)];
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      for (const bearer of bearers) {
        const sent = method === 'GET' ? undefined : { ...web, client_id: mine.id };
        const answer = await call(method, mine.path, sent, { bearer });
        deepEqual([answer.status, body(answer).error], [401, 'invalid_token'], `${method} ${bearer}`);
        match(answer.headers.get('www-authenticate') ?? '', /^Bearer/);
      }
      for (const unknown of ['unknown', '', '__proto__', `${mine.id}/x`, '%00', 'x'.repeat(500)]) {
        equal(
          (await call(method, `${path}/${unknown}`, undefined, { bearer: mine.bearer })).status,
          401,
          unknown,
        );
      }
    }
    equal((await call('GET', other.path, undefined, { bearer: other.bearer })).status, 200, 'it still works');
    const byAdmin = await clients.create({ metadata: web, origin: 'admin' });
    for (const bearer of ['', 'undefined', byAdmin.clientSecret ?? '']) {
      equal((await call('GET', `${path}/${byAdmin.client.id}`, undefined, { bearer })).status, 401);
    }
    await clients.update(mine.id, {
      settings: { isActive: false },
      mode: 'merge',
      authority: 'administrator',
    });
    equal((await call('GET', mine.path, undefined, { bearer: mine.bearer })).status, 401, 'deactivated');
  },
);

withServer(
  'an administrator registers with what is his to give; the client keeps it, and gains no more',
  async (world) => {
    const metadata = { ...web, scope: 'openid admin', skip_consent: true, access_token_seconds: 60 };
    const client = await register(world, metadata, ADMIN);
    deepEqual([client.metadata.scope, client.metadata.skip_consent], ['openid admin', true]);
    const stored = (await world.clients.find(client.id))?.value;
    deepEqual([stored?.origin, stored?.skipConsent, stored?.accessTokenSeconds], ['admin', true, 60]);

    const read = body(await world.call('GET', client.path, undefined, { bearer: client.bearer }));
    const put = (changes: object) =>
      world.call('PUT', client.path, { ...web, client_id: client.id, ...changes }, { bearer: client.bearer });
    equal((await put({ scope: read.scope })).status, 200);
    equal((await put({ grant_types: ['authorization_code', 'password'] })).status, 400);
    equal((await put({ skip_consent: true })).status, 400);
    equal((await put({ scope: 'openid' })).status, 200);
    equal((await put({ scope: 'openid admin' })).status, 400, 'given back is given back');
    equal((await world.clients.find(client.id))?.value.skipConsent, true);
    const wrong = await world.call('POST', path, { ...web, access_token_seconds: 1, client_id: 'mine' });
    equal(wrong.status, 400);
  },
);
