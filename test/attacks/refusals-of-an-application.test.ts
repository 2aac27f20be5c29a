// Attack: refusals, which anyone can cause for any client id without credentials. They must fill nothing but the ring of that
// application, show nothing of another one, and bring no script, secret or control character onto its page.
import { deepEqual, doesNotMatch, equal, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createRecentRefusals } from '../../src/clients/recent-refusals.ts';
import { createLogger } from '../../src/log.ts';
import * as model from '../../src/store/collections.ts';
import { tokensOf } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
before(async () => {
  app = await startApp({ store: 'sqlite' });
});
after(() => app.stop());

type Items = Record<string, unknown>[];
const itemsOf = async (id: string): Promise<Items> =>
  (await app.admin('GET', `/clients/${id}/refusals`)).body.data.items ?? [];

const token = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${app.url}/oauth2/token`, { method: 'POST', headers, body: new URLSearchParams(fields) });

test('attack: a flood of refusals for one application fills only its own ring', async () => {
  const [victim, neighbour] = [await app.register(), await app.register()];
  await token({
    client_id: neighbour.id,
    client_secret: 'x',
    grant_type: 'refresh_token',
    refresh_token: 'x',
  });
  await token({ client_id: victim.id, client_secret: 'x', grant_type: 'refresh_token', refresh_token: 'x' });
  for (let round = 0; round < 60; round += 1) {
    const redirect_uri = `https://evil.example/${round}`;
    await new Agent(app).authorize({ ...codeRequest(victim.id), redirect_uri });
  }
  const items = await itemsOf(victim.id);
  ok(items.length <= 20);
  equal(items[0]?.address, 'https://evil.example/59');
  // Made-up addresses leave what went wrong before.
  ok(items.some(({ cause }) => cause === 'secret_wrong'));
  deepEqual(
    (await itemsOf(neighbour.id)).map(({ cause }) => cause),
    ['secret_wrong'],
  );
});

test('attack: only an administrator reads refusals, and an application not even its own', async () => {
  const [mine, other] = [
    await app.register({ grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }),
    await app.register(),
  ];
  await token({ client_id: other.id, client_secret: 'x', grant_type: 'refresh_token', refresh_token: 'x' });
  const answer = await token({
    client_id: mine.id,
    client_secret: mine.secret,
    grant_type: 'client_credentials',
  });
  const issued: { access_token?: string } = JSON.parse(await answer.text());
  for (const id of [mine.id, other.id]) {
    for (const authorization of [
      '',
      `Bearer ${issued.access_token}`,
      `Basic ${btoa(`${mine.id}:${mine.secret}`)}`,
    ]) {
      const { status } = await fetch(`${app.url}/admin/api/clients/${id}/refusals`, {
        headers: authorization === '' ? {} : { authorization },
      });
      ok(status === 401 || status === 403, `${status} ${authorization}`);
    }
  }
  const key = async (scopes: string[]): Promise<string> =>
    String((await app.admin('POST', '/api-keys', { name: 'k', scopes })).body.data.api_key);
  const read = await fetch(`${app.url}/admin/api/clients/${other.id}/refusals`, {
    headers: { authorization: `Bearer ${await key(['admin:read'])}` },
  });
  equal(read.status, 200);
  const text = JSON.stringify(await itemsOf(other.id));
  ok(!text.includes(mine.id) && !text.includes(mine.secret) && !text.includes(other.secret));
  equal((await app.admin('GET', '/clients/nobody/refusals')).status, 404);
});

const CANARY = 'canary-secret-value';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';

/** As long as real ones are: a text is cut within it. */
const CLAIMS = Buffer.from(JSON.stringify({ email: 'a@rp.example', more: 'x'.repeat(900) })).toString(
  'base64url',
);
const LONG_JWT = `eyJhbGciOiJSUzI1NiJ9.${CLAIMS}.c2lnbmF0dXJl`;

test('attack: nothing of a secret, token, code or query is kept of a refused request', async () => {
  const client = await app.register();
  const basic = { authorization: `Basic ${btoa(`${client.id}:${CANARY}`)}` };
  await token({ grant_type: 'authorization_code', code: CANARY, code_verifier: CANARY }, basic);
  await token({
    grant_type: 'refresh_token',
    refresh_token: CANARY,
    client_id: client.id,
    client_secret: CANARY,
  });
  await token({ grant_type: 'password', username: CANARY, password: CANARY, client_id: client.id });
  // The secret where id and secret belong.
  for (const alone of [btoa(CANARY), CANARY.padEnd(60, 'x'), btoa(`\u0001${CANARY}:x`)])
    await token({ grant_type: 'client_credentials' }, { authorization: `Basic ${alone}` });
  for (const redirect_uri of [
    `https://user:${CANARY}@rp.example/cb`,
    `https://rp.example/cb?code=${CANARY}`,
    `https://rp.example/cb#${CANARY}`,
    `ht\ttps://user:${CANARY}@rp.example/cb`,
    `//user:${CANARY}@rp.example/`,
    `user:${CANARY}@rp.example/`,
    `https:\\\\user:${CANARY}@rp.example/`,
    `https://user:${CANARY}%40rp.example/`,
    `https://rp.example/${JWT}`,
    `https://rp.example/${LONG_JWT}`,
  ]) {
    await new Agent(app).authorize({ ...codeRequest(client.id), redirect_uri, state: CANARY, nonce: CANARY });
    const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: redirect_uri });
    await fetch(`${app.url}/oauth2/logout?${query}`);
  }
  const tokens = await tokensOf(app, client, await app.createUser('mixed-up'), { scope: 'openid' });
  for (const scope of [LONG_JWT, 'x'.repeat(40_000)]) {
    const answer = await token(
      { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, scope },
      {
        authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
      },
    );
    ok((await answer.text()).length < 1000);
  }
  const shown = JSON.stringify(await itemsOf(client.id));
  const lines = app.logged.filter((line) => line.includes('"event":"refused"')).join('');
  for (const text of [shown, lines])
    ok(![CANARY, JWT, CLAIMS.slice(0, 20)].some((secret) => text.includes(secret)), text);
});

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u0000\u0007\r\n\u2028{{7*7331}}`;

test('attack: script, control characters and 10 kB in refused requests become short text', async () => {
  const client = await app.register();
  for (const redirect_uri of [
    `https://rp.example/${HOSTILE}`,
    HOSTILE,
    'https://rp.example/'.padEnd(6000, 'x'),
  ]) {
    await new Agent(app).authorize({ ...codeRequest(client.id), redirect_uri });
  }
  const scope = `${'<b>'.repeat(40)}${'y'.repeat(3000)}`.replaceAll('"', '');
  await new Agent(app).authorize({ ...codeRequest(client.id), scope });
  await token({ client_id: client.id, grant_type: HOSTILE.repeat(60), client_secret: client.secret });
  const items = await itemsOf(client.id);
  ok(items.length >= 4);
  for (const item of items) {
    for (const value of Object.values(item)) {
      if (typeof value !== 'string') continue;
      ok(value.length <= 300, value);
      doesNotMatch(value, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
  }
  await app.createUser('root-admin', { role: 'admin' });
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  await agent.submit(signIn, { username: 'root-admin', password: PASSWORD });
  const { status, body } = await agent.get(`/admin/applications/${client.id}`);
  equal(status, 200);
  doesNotMatch(body, /<img src=x|<script>alert|<b><b>|\u202e|51317/);
});

test('attack: made-up client ids are never stored, and displace no application', async () => {
  const clock = () => Date.now();
  const store = createMemoryStore({ clock });
  const { secret: _, ...some } = await app.register();
  const record = await app.store.collection(model.clients).find(some.id);
  ok(record !== undefined);
  const clients = store.collection(model.clients);
  await clients.insert(some.id, record.value);
  const collection = store.ephemeral(model.clientRefusals);
  const log = createLogger({ level: 'silent' });
  const refusals = createRecentRefusals({ collection, clients, clock, log });
  const refused = { endpoint: 'token', error: 'invalid_client', reason: 'client not found' };
  for (let n = 0; n < 1000; n += 1) refusals.noted({ ...refused, clientId: `made-up-${n}`, isKnown: false });
  refusals.noted({ ...refused, clientId: 'x'.repeat(5000), isKnown: false });
  refusals.noted({ ...refused, clientId: some.id, isKnown: true });
  refusals.noted({ ...refused, clientId: 'gone', isKnown: true });
  await refusals.close();
  equal(await collection.find('made-up-0'), undefined);
  // Nor those that were removed meanwhile.
  equal(await collection.find('gone'), undefined);
  equal((await collection.find(some.id))?.value.entries.length, 1);
  await store.close();
});

test('attack: register, cause refusals and remove, again and again: nothing stays', async () => {
  const collection = app.store.ephemeral(model.clientRefusals);
  const { id } = await app.register();
  const refuse = () =>
    token({ client_id: id, client_secret: 'x', grant_type: 'refresh_token', refresh_token: 'x' });
  await refuse();
  for (let tries = 0; (await collection.find(id)) === undefined && tries < 1200; tries += 1) await wait(50);
  ok(await collection.find(id));
  await refuse();
  equal((await app.admin('DELETE', `/clients/${id}`)).status, 204);
  equal(await collection.find(id), undefined);
});
