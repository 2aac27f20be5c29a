// A release over the store of the previous version: sessions stay signed in, revoked and deactivated things
// stay so, and settings hold. That version itself wrote the store (store-of-a-version.ts).
// A process of its own: its clock is moved.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { generateSync } from 'otplib';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { bearer, call, claimsOf, isActive, userinfo } from '../flows/support.ts';
import { Agent, codeRequest, type Page, redeem, refresh, VERIFIER } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { type Held, PUBLIC_URL } from './store-of-a-version.ts';

const fixture = (name: string): Promise<Buffer> =>
  readFile(join(import.meta.dirname, 'fixtures', `store-905c62a.${name}`));
const held: Held = JSON.parse((await fixture('json')).toString());

// The release comes ten seconds later: for the product, the protocol core and the store.
mock.timers.enable({ apis: ['Date'], now: held.at + 10_000 });
const folder = await mkdtemp(join(tmpdir(), 'latchkey-version-'));
const file = join(folder, 'latchkey.db');
await writeFile(file, gunzipSync(await fixture('db.gz')));
const store = createSqliteStore({ file, clock: () => Date.now(), definitions: allCollections });
const app = await startApp({ shared: store, env: { BASE_URL: PUBLIC_URL } });
after(async () => {
  await app.stop();
  await store.close();
  await rm(folder, { recursive: true, force: true });
  mock.timers.reset();
});

const { alice, bob } = held.users;
const browser = (): Agent => new Agent(app, { publicUrl: PUBLIC_URL });
const codeIn = (page: Page): string => new URL(page.location ?? 'about:blank').searchParams.get('code') ?? '';

test('store of the previous version: every document reads, and settings hold', async () => {
  let documents = 0;
  for (const definition of allCollections) {
    const { items } = await store.collection(definition).query({ sort: 'id', order: 'asc', limit: 1000 });
    documents += items.length;
  }
  ok(documents > 50, String(documents));
  const { body } = await app.admin('GET', '/settings');
  const values = Object.fromEntries((body.data.items ?? []).map(({ key, value }) => [key, value]));
  deepEqual([values.product_name, values.retention_audit_seconds], ['Acme', 34_560_000]);
});

test('store of the previous version: a changed default keeps its value until it is changed', async () => {
  const isPkceRequired = async (): Promise<unknown> =>
    (await app.admin('GET', '/settings')).body.data.items?.find(({ key }) => key === 'require_pkce')?.value;
  equal(await isPkceRequired(), true);
  equal((await app.admin('PATCH', '/settings', { require_pkce: false })).status, 200);
  const again = await startApp({ shared: store, env: { BASE_URL: PUBLIC_URL } });
  await again.stop();
  equal(await isPkceRequired(), false);
  equal((await app.admin('PATCH', '/settings', { require_pkce: true })).status, 200);
});

test('store of the previous version: its users, groups, clients and logs are listed', async () => {
  for (const [path, least] of [
    ['/users', 4],
    ['/groups', 1],
    ['/clients', 2],
    ['/sessions', 1],
    [`/users/${alice}/sessions`, 1],
    [`/users/${alice}/grants`, 2],
    [`/tokens?user_id=${alice}`, 1],
    ['/invitations', 1],
    ['/initial-access-tokens', 1],
    ['/api-keys', 1],
    ['/audit', 10],
    ['/keys', 1],
  ] as const) {
    const { status, body } = await app.admin('GET', path);
    equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    ok((body.data.items ?? []).length >= least, path);
  }
});

test('store of the previous version: browser session and consent still count', async () => {
  const agent = browser();
  agent.plant(held.cookies);
  for (const client of [held.firstParty, held.thirdParty]) {
    const page = await agent.authorize({ ...codeRequest(client.id), scope: 'openid profile' });
    ok(codeIn(page) !== '', page.body.slice(0, 2000));
    const { status, body } = await redeem(app, client, { code: codeIn(page), verifier: VERIFIER });
    equal(status, 200, JSON.stringify(body));
    equal(claimsOf(body.id_token).sub, alice);
    ok(Number(claimsOf(body.id_token).auth_time) <= held.at / 1000, 'nobody proved anything anew');
  }
});

test('store of the previous version: tokens work, a used refresh token does not', async () => {
  equal(await isActive(app, held.accessToken), true);
  equal((await userinfo(app, held.accessToken)).body.email, 'alice@example.com');
  equal(await isActive(app, held.usedRefreshToken), false);
  const renewed = await refresh(app, held.firstParty, held.refreshToken);
  equal(renewed.status, 200, JSON.stringify(renewed.body));
  equal(await isActive(app, renewed.body.access_token), true);
  mock.timers.setTime(Date.now() + 60_000);
  equal((await refresh(app, held.firstParty, held.usedRefreshToken)).body.error, 'invalid_grant');
  deepEqual(
    [await isActive(app, renewed.body.refresh_token), await isActive(app, renewed.body.access_token)],
    [false, false],
    'its reuse ends the family',
  );
});

test('store of the previous version: second factors, deactivation and credentials hold', async () => {
  const phoned = browser();
  const asked = await phoned.submit(await phoned.authorize(codeRequest(held.firstParty.id)), {
    username: 'carol',
    password: PASSWORD,
  });
  deepEqual([asked.status, asked.location], [200, undefined], 'the password alone is not enough');
  mock.timers.setTime(Date.now() + 120_000);
  const code = generateSync({ secret: held.totpSecret, epoch: Math.floor(Date.now() / 1000) });
  const arrived = await phoned.submit(asked, { code, method: 'totp' });
  ok(codeIn(arrived) !== '', arrived.body.slice(0, 2000));

  const shut = browser();
  const refused = await shut.submit(await shut.authorize(codeRequest(held.firstParty.id)), {
    username: 'bob',
    password: PASSWORD,
  });
  equal(refused.status, 401);
  equal((await app.admin('GET', `/users/${bob}`)).body.data.is_active, false);

  equal((await call(app, 'GET', '/admin/api/users', { headers: bearer(held.apiKey) })).status, 200);
  const write = { headers: bearer(held.apiKey) };
  equal((await call(app, 'DELETE', `/admin/api/users/${bob}`, write)).status, 403);
  const registered = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(held.registrationToken), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://partner.example/callback'] }),
  });
  equal(registered.status, 201, registered.text);
  const invited = await browser().get(held.inviteUrl);
  equal(invited.status, 200);
  match(invited.body, /dave@example\.com/);
});
