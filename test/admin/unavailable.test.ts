// The admin API during a store outage: nothing is done twice, and what was done is reported.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { systemClock } from '../../src/clock.ts';
import { accounts } from '../../src/store/collections.ts';
import { invitations } from '../../src/store/signups.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp } from '../support/app.ts';
import { breakable } from '../support/broken-store.ts';
import { createGuardedStore } from '../support/guarded-store.ts';
import { dataOf, errorOf, membersOf, send } from './answers.ts';

const { store: breaking, broken } = breakable(createMemoryStore({ clock: systemClock }));
/** Invitations that can be stored until their collection is away. */
let invitationsLeft = Number.POSITIVE_INFINITY;
const store = createGuardedStore(breaking, (name, method) => {
  if (name !== 'invitations' || !['insert', 'writeTogether'].includes(method)) return;
  invitationsLeft -= 1;
  if (invitationsLeft < 0) broken.add(name);
});
const app = await startApp({ shared: store });
after(() => app.stop());

const client = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const total = async (path: string): Promise<unknown> => {
  const { body } = await app.admin('GET', path);
  return body.data.total;
};

test('client creation: unaudited it is 503, and the same idempotency key creates no second', async () => {
  const before = Number(await total('/clients'));
  const options = { bearer: ADMIN_TOKEN, headers: { 'idempotency-key': 'once' } };
  const post = () => send(`${app.url}/admin/api/clients`, 'POST', client, options);
  broken.add('audit');
  equal((await post()).status, 503);
  broken.clear();
  const again = await post();
  deepEqual([again.status, errorOf(again).reason], [409, 'request.in_progress']);
  equal(await total('/clients'), before + 1);
});

test('client creation: without the store of idempotency keys nothing is created', async () => {
  const before = await total('/clients');
  const options = { bearer: ADMIN_TOKEN, headers: { 'idempotency-key': 'later' } };
  const post = () => send(`${app.url}/admin/api/clients`, 'POST', client, options);
  broken.add('idempotency_keys');
  equal((await post()).status, 503);
  broken.clear();
  equal(await total('/clients'), before);
  equal(dataOf(await post()).client_name, 'Acme');
});

test('API key: refused while keys cannot be read from the store', async () => {
  const { body } = await app.admin('POST', '/api-keys', { name: 'x' });
  const ask = () =>
    send(`${app.url}/admin/api/settings`, 'GET', undefined, { bearer: String(body.data.api_key) });
  broken.add('api_keys');
  equal((await ask()).status, 503);
  broken.clear();
  equal((await ask()).status, 200);
});

test('import: interrupted by a store outage it reports what was created and where it stopped', async () => {
  const lines = (from: number, to: number): Uint8Array =>
    Buffer.from(
      Array.from({ length: to - from }, (_, index) => `{"username":"person-${from + index}"}\n`).join(''),
    );
  const collection = store.collection(accounts);
  const created = async (): Promise<number> =>
    (await collection.query({ sort: 'id', order: 'asc', limit: 1 })).total;
  const before = await created();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(lines(0, 64));
      while ((await created()) < before + 64) await new Promise((resolve) => setTimeout(resolve, 5));
      // Their events are being written: the answer of the first lines is on its way.
      await new Promise((resolve) => setTimeout(resolve, 50));
      broken.add('accounts');
      controller.enqueue(lines(64, 200));
      controller.close();
    },
  });
  const response = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body,
    duplex: 'half',
  });
  broken.clear();
  equal(response.status, 200);
  const results = (await response.text())
    .trim()
    .split('\n')
    .map((line) => membersOf(JSON.parse(line)));
  ok(results.slice(0, 64).every(({ status }) => status === 'created'));
  const failed = results.slice(64, -1);
  ok(
    failed.every(
      ({ status, error }) => status === 'failed' && membersOf(error).reason === 'server.unavailable',
    ),
  );
  const last = results.at(-1);
  deepEqual(
    [last?.line, last?.status],
    [65 + failed.length, 'stopped'],
    'from here on nothing was looked at',
  );
  ok(failed.length >= 1 && failed.length <= 64);
  equal(await created(), before + 64);
});

test('invite many: a store that goes away in the middle leaves the report of what was sent', async () => {
  await app.createUser('inviter', { role: 'admin' });
  const agent = new Agent(app);
  const form = await agent.follow(await agent.get('/admin'));
  await agent.submit(form, { username: 'inviter', password: PASSWORD });
  const many = '/admin/invitations/many';
  const csrf = hiddenFields((await agent.get(many)).body).csrf ?? '';
  const addresses = Array.from({ length: 20 }, (_, at) => `guest-${at}@example.com`);
  const send = (list: readonly string[]) =>
    agent.post(many, { csrf, addresses: list.join('\n'), days: '3', step: 'send' });
  const collection = store.collection(invitations);
  const count = async (): Promise<number> =>
    (await collection.query({ sort: 'id', order: 'asc', limit: 1 })).total;
  invitationsLeft = 3;
  const page = await send(addresses);
  equal(page.status, 500);
  const words = page.body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  broken.clear();
  invitationsLeft = Number.POSITIVE_INFINITY;
  const sent = await count();
  equal(sent, 3);
  match(words, new RegExp(`${sent} invited, ${addresses.length - sent} not invited`));
  match(words, /20 guest-19@example\.com Not sent, because the server had a problem\. Invite this person/);
  ok(app.logged.join('').includes('invitations is away'), 'logged');
  // As it says: those are invited then, and nobody twice.
  const again = await send(addresses);
  equal(again.status, 303);
  equal(await count(), addresses.length);
});
