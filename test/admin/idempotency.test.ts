// Idempotency-Key on requests that create something: a repeated request is performed once.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { idempotencyKeys } from '../../src/store/administration.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { type Answer, dataOf, errorOf, itemsOf, membersOf, send, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const client = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const totalOf = async ({ api }: World, path: string): Promise<unknown> =>
  dataOf(await api('GET', path)).total;

const app = await startApp();
after(() => app.stop());

withEachServer('idempotency key: a repeated request gets the same answer and runs once', async (world) => {
  const { api, store } = world;
  const first = await api('POST', '/clients', client, keyed('k-1'));
  const again = await api('POST', '/clients', client, keyed('k-1'));
  const reordered = { redirect_uris: client.redirect_uris, client_name: client.client_name };
  const third = await api('POST', '/clients', reordered, keyed('k-1'));
  equal(first.status, 201);
  for (const answer of [again, third]) {
    deepEqual([answer.status, answer.text], [201, first.text], 'with its secret');
    for (const name of ['etag', 'location']) equal(answer.headers.get(name), first.headers.get(name));
    equal(answer.headers.get('idempotency-replayed'), 'true');
  }
  equal(first.headers.get('idempotency-replayed'), null);
  equal(await totalOf(world, '/clients'), 1);
  equal(itemsOf(await api('GET', '/audit?event=client.created')).length, 1);
  const secret = String(dataOf(first).client_secret);
  const records = await store.collection(idempotencyKeys).query({ sort: 'id', order: 'asc', limit: 10 });
  equal(records.items.length, 1);
  ok(!JSON.stringify(records).includes(secret), 'kept sealed');
  equal((await api('POST', '/clients', client, keyed('k-2'))).status, 201, 'another key, another one');
  equal(await totalOf(world, '/clients'), 2);
});

withEachServer('idempotency key: reuse with another body is 422 and does nothing', async (world) => {
  const { api } = world;
  await api('POST', '/clients', client, keyed('k'));
  const other = await api('POST', '/clients', { ...client, client_name: 'Other' }, keyed('k'));
  deepEqual(
    [other.status, errorOf(other).reason, wrongFields(other)],
    [422, 'request.key_reused', ['Idempotency-Key']],
  );
  equal(await totalOf(world, '/clients'), 1);
  const elsewhere = await api('POST', '/api-keys', { name: 'x' }, keyed('k'));
  equal(elsewhere.status, 201, 'the key is of one address');
});

withEachServer(
  'idempotency key: of concurrent requests one runs, the rest get its answer or 409',
  async (world) => {
    const { api } = world;
    const user = { username: 'alice', password: goodPassword };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api('POST', '/users', user, keyed('race'))),
    );
    const made = answers.filter(({ status }) => status === 201);
    const told = answers.filter(({ status }) => status === 409);
    ok(made.length >= 1);
    equal(made.length + told.length, answers.length);
    equal(new Set(made.map(({ text }) => text)).size, 1);
    for (const answer of told) {
      equal(errorOf(answer).reason, 'request.in_progress');
      equal(answer.headers.get('retry-after'), '1');
    }
    equal(await totalOf(world, '/users'), 1);
    equal((await api('POST', '/users', user, keyed('race'))).status, 201);
  },
);

withServer('idempotency key: a refused request does not consume it', async ({ api }) => {
  const wrong = await api('POST', '/users', { username: 'al' }, keyed('k'));
  equal(wrong.status, 400);
  const user = { username: 'alice', password: goodPassword };
  equal((await api('POST', '/users', user, keyed('k'))).status, 201);
  equal((await api('POST', '/users', user, keyed('other'))).status, 409);
});

withServer(
  'idempotency key: valid for 24 hours; a malformed one is named in a 400',
  async ({ api, advance }) => {
    const first = await api('POST', '/api-keys', { name: 'x' }, keyed('k'));
    advance(24 * 3_600_000);
    const later = await api('POST', '/api-keys', { name: 'x' }, keyed('k'));
    ok(dataOf(first).id !== dataOf(later).id);
    // An empty header is a client whose key got lost: created twice, nobody would notice.
    for (const key of ['a b', 'ä', 'x'.repeat(256), '\t', '']) {
      const answer = await api('POST', '/api-keys', { name: 'x' }, keyed(key));
      deepEqual([answer.status, wrongFields(answer)], [400, ['Idempotency-Key']], key);
    }
    const changed = await api('PATCH', '/settings', { product_name: 'A' }, keyed('k'));
    equal(changed.status, 200, 'what makes nothing does not look at it');
  },
);

withServer('idempotency key: the OpenAPI document declares which requests accept it', async ({ api }) => {
  const paths = membersOf(membersOf((await api('GET', '/openapi.json')).body).paths);
  const headersOf = (path: string, method: string): unknown[] => {
    const { parameters } = membersOf(membersOf(paths[path])[method]);
    ok(Array.isArray(parameters));
    return parameters.filter((one) => one.in === 'header').map((one) => one.name);
  };
  for (const path of ['/users', '/clients', '/groups', '/api-keys', '/initial-access-tokens'])
    deepEqual(headersOf(path, 'post'), ['Idempotency-Key'], path);
  deepEqual(headersOf('/users/{id}', 'patch'), ['If-Match']);
  deepEqual(headersOf('/settings', 'put'), ['If-Match']);
  deepEqual(headersOf('/users', 'get'), []);
});

test('idempotency key: bound to the sender', async () => {
  const make = async (): Promise<string> => {
    const { body } = await app.admin('POST', '/api-keys', { name: 'admin', scopes: ['admin'] });
    return String(body.data.api_key);
  };
  const [one, two] = [await make(), await make()];
  const post = (bearer: string): Promise<Answer> =>
    send(`${app.url}/admin/api/clients`, 'POST', client, { bearer, ...keyed('shared') });
  const [first, second, third] = [await post(one), await post(two), await post(ADMIN_TOKEN)];
  equal(new Set([first, second, third].map((answer) => dataOf(answer).client_id)).size, 3);
  equal((await post(one)).text, first.text);
  const unknown = await post('nobody');
  equal(unknown.status, 401);
});
