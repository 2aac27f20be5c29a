// API keys (decision 0002): created, listed and revoked over HTTP, and what each permits in the whole application.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { apiKeys } from '../../src/store/administration.ts';
import { audit } from '../../src/store/collections.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { dataOf, errorOf, itemsOf, send, wrongFields } from './answers.ts';
import { withEachServer, withServer } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

withEachServer(
  'API key: shown once, stored as a digest, listed without its value, revoked',
  async (world) => {
    const { api, store } = world;
    const created = await api('POST', '/api-keys', { name: 'Terraform', scopes: ['admin'] });
    equal(created.status, 201);
    const { api_key: value, id, ...rest } = dataOf(created);
    match(String(value), /^latchkey_[\w-]{43}$/);
    equal(created.headers.get('location'), `https://id.example.com/admin/api/api-keys/${id}`);
    deepEqual(rest, {
      name: 'Terraform',
      scopes: ['admin'],
      owner_kind: 'installation',
      owner_id: null,
      created_by: 'bootstrap:ADMIN_TOKEN',
      created_at: '2026-01-31T12:00:00.000Z',
      expires_at: '2026-05-01T12:00:00.000Z',
      last_used_at: null,
    });
    const stored = await store.collection(apiKeys).find(String(id));
    ok(!JSON.stringify(stored).includes(String(value).slice(9)));
    const events = await store.collection(audit).query({ sort: 'id', order: 'asc', limit: 10 });
    ok(!JSON.stringify(events).includes(String(value).slice(9)));
    equal(events.items[0]?.value.event, 'api_key.created');
    deepEqual(events.items[0]?.value.targetId, id);

    const second = await api('POST', '/api-keys', { name: 'Reader', expires_in_seconds: 60 });
    deepEqual(dataOf(second).scopes, ['admin:read'], 'the less where nothing is said');
    const listed = await api('GET', '/api-keys?sort=name&order=asc');
    deepEqual(
      itemsOf(listed).map(({ name }) => name),
      ['Reader', 'Terraform'],
    );
    ok(!listed.text.includes('latchkey_') && !listed.text.includes('digest'));
    deepEqual(
      itemsOf(await api('GET', '/api-keys?search=terra')).map((item) => item.id),
      [id],
    );
    const read = await api('GET', `/api-keys/${id}`);
    deepEqual(dataOf(read), { id, ...rest });

    world.advance(60_000);
    deepEqual(
      itemsOf(await api('GET', '/api-keys')).map((item) => item.id),
      [id],
      'an expired key is gone',
    );
    const stale = await api('DELETE', `/api-keys/${id}`, undefined, { headers: { 'if-match': '"7"' } });
    equal(stale.status, 412);
    const etag = read.headers.get('etag') ?? '';
    equal((await api('DELETE', `/api-keys/${id}`, undefined, { headers: { 'if-match': etag } })).status, 204);
    for (const method of ['GET', 'DELETE']) {
      const gone = await api(method, `/api-keys/${id}`);
      deepEqual([gone.status, errorOf(gone).reason], [404, 'api_key.not_found']);
    }
  },
);

withServer('API key: errors of a creation request name their fields', async ({ api }) => {
  const cases: readonly (readonly [unknown, readonly string[]])[] = [
    [{}, ['name']],
    [{ name: '' }, ['name']],
    [{ name: 'x'.repeat(201) }, ['name']],
    [{ name: 1 }, ['name']],
    [{ name: 'x', scopes: [] }, ['scopes']],
    [{ name: 'x', scopes: ['openid'] }, ['scopes']],
    [{ name: 'x', scopes: ['admin', 'admin'] }, ['scopes']],
    [{ name: 'x', scopes: 'admin' }, ['scopes']],
    [{ name: 'x', expires_in_seconds: 59 }, ['expires_in_seconds']],
    [{ name: 'x', expires_in_seconds: 1e12 }, ['expires_in_seconds']],
    [{ name: 'x', expires_in_seconds: null }, ['expires_in_seconds']],
    [{ name: 'x', digest: 'y', created_by: 'z', api_key: 'mine' }, ['api_key', 'created_by', 'digest']],
  ];
  for (const [body, fields] of cases) {
    const answer = await api('POST', '/api-keys', body);
    deepEqual([answer.status, wrongFields(answer)], [400, fields], JSON.stringify(body));
  }
  equal((await api('PUT', '/api-keys')).status, 405);
  equal((await api('PATCH', '/api-keys/x', {})).status, 405);
  equal((await api('GET', '/api-keys?sort=digest')).status, 400);
  equal((await api('GET', "/api-keys/x'%20OR%201=1")).status, 404);
});

const make = async (fields: Record<string, unknown>): Promise<{ id: string; value: string }> => {
  const { status, body } = await app.admin('POST', '/api-keys', { name: 'test', ...fields });
  equal(status, 201, JSON.stringify(body));
  return { id: String(body.data.id), value: String(body.data.api_key) };
};
const as = (bearer: string, method: string, path: string, body?: unknown) =>
  send(`${app.url}/admin/api${path}`, method, body, { bearer });
const introspect = (bearer: string) =>
  fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}` },
    body: new URLSearchParams({ token: 'x' }),
  });

test('API key: scope admin permits everything an administrator does; the log names the key', async () => {
  const key = await make({ scopes: ['admin'] });
  const user = await as(key.value, 'POST', '/users', { username: 'bykey', password: 'seven tall lanterns' });
  equal(user.status, 201, user.text);
  equal((await as(key.value, 'GET', '/mails')).status, 200);
  equal((await introspect(key.value)).status, 200);
  const { body } = await app.admin('GET', `/audit?event=user.created&actor_id=${key.id}`);
  deepEqual(
    body.data.items?.map((item) => [item.actor_kind, item.target_id]),
    [['api_key', dataOf(user).id]],
  );
});

test('API key: scope admin:read reads, changes nothing and opens no mails', async () => {
  const key = await make({});
  for (const path of ['/users', '/clients', '/settings', '/audit', '/api-keys', '/openapi.json']) {
    equal((await as(key.value, 'GET', path)).status, 200, path);
  }
  equal((await introspect(key.value)).status, 200);
  const refused: readonly (readonly [string, string])[] = [
    ['GET', '/mails'],
    ['POST', '/users'],
    ['POST', '/api-keys'],
    ['DELETE', `/api-keys/${key.id}`],
    ['PATCH', '/settings'],
    ['DELETE', '/users/x'],
    ['PROPFIND', '/users'],
  ];
  for (const [method, path] of refused) {
    const answer = await as(key.value, method, path, method === 'GET' ? undefined : {});
    deepEqual([answer.status, errorOf(answer).reason], [403, 'auth.insufficient_scope'], `${method} ${path}`);
    match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_scope"/);
  }
  const registration = await send(`${app.url}/oauth2/register`, 'POST', {}, { bearer: key.value });
  equal(registration.status, 403);
});

test('API key: revoked or expired it is refused at the next request, invented ones always', async () => {
  const key = await make({ scopes: ['admin'] });
  equal((await as(key.value, 'GET', '/users')).status, 200);
  equal((await app.admin('DELETE', `/api-keys/${key.id}`)).status, 204);
  equal((await as(key.value, 'GET', '/users')).status, 401);
  equal((await introspect(key.value)).status, 401);
  const short = await make({ expires_in_seconds: 60 });
  equal((await as(short.value, 'GET', '/users')).status, 200);
  app.advance(60_000);
  equal((await as(short.value, 'GET', '/users')).status, 401);
  for (const guess of ['latchkey_', `latchkey_${'A'.repeat(43)}`, key.id, `${short.value}x`]) {
    equal((await as(guess, 'GET', '/users')).status, 401, guess);
  }
});

test('API key: last use is recorded per quarter of an hour, not per request', async () => {
  const key = await make({});
  const lastUse = async () => (await app.admin('GET', `/api-keys/${key.id}`)).body.data.last_used_at;
  equal(await lastUse(), null);
  await as(key.value, 'GET', '/settings');
  const first = await lastUse();
  ok(typeof first === 'string');
  app.advance(60_000);
  await Promise.all(Array.from({ length: 5 }, () => as(key.value, 'GET', '/settings')));
  equal(await lastUse(), first);
  app.advance(15 * 60_000);
  await as(key.value, 'GET', '/settings');
  ok(String(await lastUse()) > first);
  equal((await as(ADMIN_TOKEN, 'GET', '/settings')).status, 200);
});

test('attack: a stolen store contains no usable API key', async () => {
  const key = await make({ scopes: ['admin'] });
  const [stored] = (
    await app.store.collection(apiKeys).query({ sort: 'created_at', order: 'desc', limit: 1 })
  ).items;
  for (const value of [stored?.value.digest ?? '', `latchkey_${stored?.value.digest}`, key.id]) {
    equal((await as(value, 'GET', '/users')).status, 401);
  }
  ok(!app.logged.join('').includes(key.value));
});
