// Dynamic registration over HTTP (RFC 7591).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { ADMIN, USER } from '../admin/answers.ts';
import { withEachServer, withServer } from '../admin/support.ts';
import { goodUris, hostileLinks, hostileUris, privateUseUris } from './corpus.ts';
import { body, forbidden, initialAccessToken, path, register, web } from './registration-support.ts';

withEachServer('registration: the response has every member of RFC 7591 §3.2.1', async (world) => {
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

withServer('registration: scopes of other servers and for administrators are left out', async (world) => {
  for (const [scope, granted] of [
    ['mcp:tools', 'openid'],
    ['openid email mcp:tools admin', 'openid email'],
  ] as const) {
    const client = await register(world, { ...web, scope });
    equal(client.metadata.scope, granted);
    equal((await world.clients.find(client.id))?.value.metadata.scope, granted, 'as told, so stored');
    const changes = { ...web, client_id: client.id, scope: `${scope} admin:read` };
    const changed = await world.call('PUT', client.path, changes, { bearer: client.bearer });
    deepEqual([changed.status, body(changed).scope], [200, granted]);
  }
});

withServer('registration: without a token or with an expired one is 401', async (world) => {
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

withEachServer('attack: 50 parallel registrations with 5 uses create 5 clients', async (world) => {
  const { call, clients } = world;
  const bearer = await initialAccessToken(world, 5);
  const answers = await Promise.all(Array.from({ length: 50 }, () => call('POST', path, web, { bearer })));
  equal(answers.filter(({ status }) => status === 201).length, 5);
  equal(answers.filter(({ status }) => status === 401).length, 45);
  equal((await clients.query({ sort: 'created_at', order: 'asc', limit: 100 })).total, 5);
});

withServer('registration: a refused one does not use up the token', async (world) => {
  const bearer = await initialAccessToken(world, 1);
  equal((await world.call('POST', path, { redirect_uris: [] }, { bearer })).status, 400);
  equal((await world.call('POST', path, undefined, { bearer, raw: '{' })).status, 400);
  equal((await world.call('POST', path, web, { bearer })).status, 201);
});

withServer('attack: hostile redirect URIs at registration, for web and native', async (world) => {
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

withServer('attack: hostile logo, policy, terms and other URIs at registration', async (world) => {
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

withServer('registration: valid URIs are stored unchanged', async (world) => {
  const bearer = await initialAccessToken(world);
  deepEqual(
    (await register(world, { ...web, redirect_uris: goodUris }, bearer)).metadata.redirect_uris,
    goodUris,
  );
  const native = { ...web, application_type: 'native', redirect_uris: privateUseUris };
  deepEqual((await register(world, native, bearer)).metadata.redirect_uris, privateUseUris);
});

withServer('registration: each member that policy forbids is refused', async (world) => {
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
