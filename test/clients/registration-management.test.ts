// Management of a registration by the client itself, over HTTP (RFC 7592).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { ADMIN } from '../admin/answers.ts';
import { withEachServer, withServer } from '../admin/support.ts';
import { hostileUris } from './corpus.ts';
import { body, forbidden, initialAccessToken, path, register, web } from './registration-support.ts';

withServer(
  'attack: a registration update that bypasses policy; every member is checked again',
  async (world) => {
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
  },
);

withEachServer('registration management: read, replace, delete (RFC 7592)', async (world) => {
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

withServer('registration management: a public client made confidential gets a secret', async (world) => {
  const client = await register(world, { ...web, token_endpoint_auth_method: 'none' });
  const changed = { ...web, client_id: client.id, token_endpoint_auth_method: 'client_secret_post' };
  const answer = await world.call('PUT', client.path, changed, { bearer: client.bearer });
  const stored = await world.clients.find(client.id);
  ok(stored && world.clients.verifySecret(stored.value, String(body(answer).client_secret)));
});

withServer(
  'attack: registration token of another client, wrong, missing or orphaned is 401',
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
      settings: { is_active: false },
      mode: 'merge',
      authority: 'administrator',
    });
    equal((await call('GET', mine.path, undefined, { bearer: mine.bearer })).status, 401, 'deactivated');
  },
);

withServer(
  'registration: administrator-only members are kept, and the client gains no more',
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
