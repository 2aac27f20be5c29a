// Introspection (RFC 7662, decision 0003): its members, who may call it, and that every inactive
// answer is the same.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { clients } from '../../src/store/collections.ts';
import { Agent, refresh, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import {
  basic,
  bearer,
  call,
  change,
  claimsOf,
  introspect,
  isActive,
  later,
  postForm,
  tokensOf,
} from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ rotate_refresh_tokens: 'always' });
const other = await app.register();
const alice = await app.createUser('alice');
const INACTIVE = '{"active":false}';

test('introspection of an access token: exactly the documented members', async () => {
  const { access_token } = await tokensOf(app, client, alice, { scope: 'openid email' });
  const { iat, exp, nbf, jti, sid, auth_time, acr } = claimsOf(access_token);
  const answer = await introspect(app, access_token);
  equal(answer.status, 200);
  equal(answer.headers.get('cache-control'), 'no-store');
  match(answer.headers.get('content-type') ?? '', /^application\/json/);
  deepEqual(answer.body, {
    active: true,
    sub: alice.id,
    username: 'alice',
    exp,
    iat,
    iss: app.issuer,
    aud: client.id,
    scope: 'openid email',
    client_id: client.id,
    token_type: 'Bearer',
    jti,
    nbf,
    sid,
    auth_time,
    acr,
  });
  equal(typeof sid, 'string');
  deepEqual([typeof auth_time, acr], ['number', 'urn:latchkey:acr:single-factor']);
  // The same to the client it was issued to (RFC 7662 §2.1).
  const own = await introspect(app, access_token, basic(client));
  deepEqual([own.status, own.body, own.headers.get('cache-control')], [200, answer.body, 'no-store']);
});

test('introspection of a refresh token: the same members without its identifier', async () => {
  const { refresh_token, access_token } = await tokensOf(app, client, alice, { scope: 'openid email' });
  const { body, text } = await introspect(app, refresh_token);
  const { exp, iat, ...rest } = body;
  deepEqual(rest, {
    active: true,
    sub: alice.id,
    username: 'alice',
    iss: app.issuer,
    aud: client.id,
    scope: 'openid email',
    client_id: client.id,
    token_type: 'refresh_token',
    nbf: iat,
    sid: claimsOf(access_token).sid,
    auth_time: claimsOf(access_token).auth_time,
    acr: claimsOf(access_token).acr,
  });
  equal(Number(exp) - Number(iat), 30 * 86_400);
  ok(!text.includes(refresh_token));
  deepEqual((await introspect(app, refresh_token, basic(client))).body, body);
});

test('introspection of a client credentials token: sub is the client, no username', async () => {
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'email',
  });
  const { body } = await requestTokens(app, machine, { grant_type: 'client_credentials', scope: 'email' });
  const { iat, exp, nbf, jti } = claimsOf(body.access_token);
  const answer = await introspect(app, body.access_token);
  deepEqual(answer.body, {
    active: true,
    sub: machine.id,
    exp,
    iat,
    iss: app.issuer,
    aud: machine.id,
    scope: 'email',
    client_id: machine.id,
    token_type: 'Bearer',
    jti,
    nbf,
  });
  deepEqual((await introspect(app, body.access_token, basic(machine))).body, answer.body);
});

test('introspection: unknown, revoked, used, expired and foreign tokens get one answer', async () => {
  const tokens = await tokensOf(app, client, alice);
  const revoked = (await tokensOf(app, client, alice)).access_token;
  await postForm(app, '/oauth2/revoke', { token: revoked });
  const { body: rotated } = await refresh(app, client, tokens.refresh_token);
  const shapeOf = ({ status, text, headers }: Awaited<ReturnType<typeof introspect>>): string => {
    const seen = [...headers].filter(([name]) => !['x-request-id', 'date', 'vary'].includes(name));
    return JSON.stringify([status, text, seen]);
  };
  const dead: Record<string, string> = {
    unknown: 'a'.repeat(43),
    malformed: 'x.y.z',
    nonsense: '"><script>alert(1)</script>',
    'no text at all': '\u{1f600}',
    revoked,
    used: tokens.refresh_token,
    'an ID token': tokens.id_token,
    'the admin token': ADMIN_TOKEN,
    'a client id': client.id,
    'the jti': String(claimsOf(tokens.access_token).jti),
  };
  for (const headers of [bearer(ADMIN_TOKEN), basic(client)]) {
    const shapes = new Map<string, string>();
    for (const [name, token] of Object.entries(dead)) {
      const answer = await introspect(app, token, headers);
      equal(answer.text, INACTIVE, name);
      shapes.set(shapeOf(answer), name);
    }
    const expired = await later(901_000, () => introspect(app, tokens.access_token, headers));
    shapes.set(shapeOf(expired), 'expired');
    if (headers.authorization.startsWith('Basic')) {
      shapes.set(shapeOf(await introspect(app, tokens.access_token, basic(other))), 'foreign access token');
      shapes.set(
        shapeOf(await introspect(app, rotated.refresh_token, basic(other))),
        'foreign refresh token',
      );
    }
    equal(shapes.size, 1, JSON.stringify([...shapes]));
  }
  equal((await introspect(app, tokens.access_token)).body.active, true);
});

test('introspection: no, wrong or non-admin bearer is 401 or 403 and reveals nothing (R043)', async () => {
  const { access_token: token, refresh_token } = await tokensOf(app, client, alice);
  const expect = async (status: number, headers: Record<string, string>): Promise<void> => {
    const answer = await introspect(app, token, headers);
    equal(answer.status, status, JSON.stringify(headers));
    ok(!('active' in answer.body) && !answer.text.includes('alice'), answer.text);
    match(answer.headers.get('www-authenticate') ?? '', /^(?:Bearer|Basic)/);
    equal(answer.headers.get('cache-control'), 'no-store');
  };
  await expect(401, {});
  for (const bad of [
    '',
    'x',
    `${ADMIN_TOKEN}x`,
    ADMIN_TOKEN.slice(0, -1),
    ADMIN_TOKEN.toUpperCase(),
    refresh_token,
  ])
    await expect(401, bearer(bad));
  await expect(403, bearer(token));
  await expect(401, basic({ ...client, secret: 'wrong' }));
  await expect(401, basic({ id: 'nobody', secret: 'wrong' }));
  const expired = await later(901_000, () => introspect(app, token, bearer(token)));
  deepEqual([expired.status, 'active' in expired.body], [401, false]);
});

test('attack: a public client introspects by naming itself', async () => {
  const open = await app.register({ token_endpoint_auth_method: 'none', application_type: 'native' });
  const { access_token: token } = await tokensOf(app, open, alice);
  const answer = await postForm(app, '/oauth2/introspect', { token, client_id: open.id });
  deepEqual([answer.status, answer.body.error, 'active' in answer.body], [401, 'invalid_client', false]);
});

test('introspection: missing token 400, wrong body refused, repeated field 400', async () => {
  for (const headers of [bearer(ADMIN_TOKEN), basic(client)]) {
    for (const fields of [{}, { token: '' }]) {
      const answer = await postForm(app, '/oauth2/introspect', fields, headers);
      deepEqual([answer.status, answer.body.error], [400, 'invalid_request']);
    }
    const twice = await postForm(
      app,
      '/oauth2/introspect',
      [
        ['token', 'a'],
        ['token', 'b'],
      ],
      headers,
    );
    deepEqual([twice.status, twice.body.error], [400, 'invalid_request']);
    const json = await call(app, 'POST', '/oauth2/introspect', {
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"token":"a"}',
    });
    ok([400, 415].includes(json.status), String(json.status));
    equal(json.body.error, 'invalid_request');
  }
  const inQuery = await call(app, 'POST', '/oauth2/introspect?token=a', {
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/x-www-form-urlencoded' },
  });
  equal(inQuery.status, 400);
});

test('introspection: a wrong or unknown token_type_hint changes nothing (R046)', async () => {
  const tokens = await tokensOf(app, client, alice);
  for (const headers of [bearer(ADMIN_TOKEN), basic(client)]) {
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const plain = await introspect(app, token, headers);
      equal(plain.body.active, true);
      for (const token_type_hint of ['access_token', 'refresh_token', 'id_token', 'nonsense', '']) {
        const hinted = await postForm(app, '/oauth2/introspect', { token, token_type_hint }, headers);
        deepEqual([hinted.status, hinted.text], [plain.status, plain.text], token_type_hint);
      }
    }
  }
});

test('introspection: the client’s answer follows the account as the administrator’s does', async () => {
  const bob = await app.createUser('bob');
  const { access_token: token } = await tokensOf(app, client, bob, {}, new Agent(app));
  equal((await introspect(app, token, basic(client))).body.active, true);
  equal((await app.admin('POST', `/users/${bob.id}/deactivate`)).status, 200);
  equal((await introspect(app, token, basic(client))).text, INACTIVE);
});

test('may_introspect: an API asks about access tokens of all applications', async () => {
  const api = await app.register({ may_introspect: true });
  const machine = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'email',
  });
  const tokens = await tokensOf(app, client, alice, { scope: 'openid email' });
  const { body: own } = await requestTokens(app, machine, { grant_type: 'client_credentials' });
  for (const token of [tokens.access_token, String(own.access_token)])
    deepEqual(
      (await introspect(app, token, basic(api))).body,
      (await introspect(app, token)).body,
      'what an administrator sees',
    );
  equal((await introspect(app, tokens.refresh_token, basic(api))).text, INACTIVE);
  equal((await introspect(app, tokens.id_token, basic(api))).text, INACTIVE);
  // Taken back: at once.
  equal((await app.admin('PATCH', `/clients/${api.id}`, { may_introspect: false })).status, 200);
  equal((await introspect(app, tokens.access_token, basic(api))).text, INACTIVE);
});

test('may_introspect: the token of an application whose deactivation a crash interrupted', async () => {
  const [api, gone] = [await app.register({ may_introspect: true }), await app.register()];
  const { access_token } = await tokensOf(app, gone, alice);
  equal((await introspect(app, access_token, basic(api))).body.active, true);
  const records = app.store.collection(clients);
  const { version = 0, value } = (await records.find(gone.id)) ?? {};
  ok(value !== undefined);
  // Written first; its grants are still there.
  await records.replace(gone.id, version, { ...value, isActive: false });
  const { status, text } = await introspect(app, access_token, basic(api));
  deepEqual([status, text], [200, INACTIVE]);
});

test('attack: a resource server learns of a token with an admin scope', async () => {
  const api = await app.register({ may_introspect: true });
  const automation = await app.register({
    grant_types: ['client_credentials'],
    redirect_uris: [],
    scope: 'admin admin:read email',
  });
  for (const scope of ['admin', 'admin:read', 'admin:read email']) {
    const { body } = await requestTokens(app, automation, { grant_type: 'client_credentials', scope });
    equal((await introspect(app, String(body.access_token))).body.active, true, scope);
    equal((await introspect(app, String(body.access_token), basic(api))).text, INACTIVE, scope);
  }
});

test('attack: an application that registers itself asks to introspect all tokens', async () => {
  const made = await app.admin('POST', '/initial-access-tokens', { label: 'test', uses: 1 });
  const { status, body } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(made.body.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://rp.example/callback'], may_introspect: true }),
  });
  deepEqual([status, body.error], [400, 'invalid_client_metadata']);
  match(String(body.error_description), /^may_introspect: Is for an administrator/);
});

test('introspection: a refresh token that a refresh would refuse is inactive', async () => {
  const client = await app.register();
  const user = await app.createUser('refused');
  const tokens = await tokensOf(app, client, user);
  const isLive = () => isActive(app, tokens.refresh_token);
  const patch = async (changes: object) =>
    equal((await app.admin('PATCH', `/clients/${client.id}`, { ...changes })).status, 200);
  equal(await isLive(), true);
  await patch({ required_acr: 'urn:latchkey:acr:multi-factor' });
  equal(await isLive(), false);
  equal(await isActive(app, tokens.access_token), true, 'what was given lives on');
  await patch({ required_acr: null });
  equal(await isLive(), true);
  await change(app, {
    refresh_token_idle_seconds: 3600,
    refresh_token_absolute_seconds: 3600,
    browser_refresh_token_seconds: 3600,
  });
  equal(await later(3_700_000, isLive), false);
  equal((await refresh(app, client, tokens.refresh_token)).status, 200, 'nothing of it is spent');
});
