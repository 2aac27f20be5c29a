// Rotation of signing keys over HTTP: two processes on one store, under load, with every token verifiable everywhere; the API
// and its audit events; tokens and logout hints of the previous key.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { RETIRED_MS } from '../../src/keys/stored-keys.ts';
import type { Store } from '../../src/store/port.ts';
import { Agent, requestTokens } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { call, introspect, tokensOf, userinfo } from './support.ts';

let folder: string;
const stores: Store[] = [];
let apps: TestApp[] = [];
let offset = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-rotation-'));
  // A connection each, as two processes have.
  const open = (): Store => {
    const store = createSqliteStore({ file: join(folder, 'latchkey.db'), clock: () => Date.now() + offset });
    stores.push(store);
    return store;
  };
  const one = await startApp({ shared: open() });
  apps = [one, await startApp({ shared: open(), env: { BASE_URL: one.url } })];
});
after(async () => {
  for (const app of apps) await app.stop();
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true });
});
const ROTATIONS = process.env.LONG === '1' ? 4 : 1;
const at = (n: number): TestApp => apps[n % apps.length] ?? failed();
const failed = (): never => {
  throw new Error('no application');
};

/** The keys for ES256 come and go with them (test/flows/es256.test.ts). */
interface Shown {
  readonly alg: string;
  readonly kid: string;
  readonly state: string;
  readonly activates_at: string | null;
  readonly removed_at: string | null;
}
const keysAt = async (app: TestApp): Promise<Shown[]> => {
  const { status, body } = await app.admin('GET', '/keys');
  equal(status, 200);
  // The route's schema says so, and test/admin holds it.
  const items = (body.data.items ?? []) as unknown as Shown[];
  return items.filter(({ alg }) => alg === 'RS256');
};
const kidsServed = async (app: TestApp): Promise<string[]> => {
  const { body } = await call(app, 'GET', '/.well-known/jwks.json');
  const keys = body.keys as { kid: string; alg: string }[];
  return keys.filter(({ alg }) => alg === 'RS256').map(({ kid }) => kid);
};
const signerOf = (token: string): string => decodeProtectedHeader(token).kid ?? '';
const rotate = async (app: TestApp, body?: Record<string, unknown>): Promise<void> => {
  const answer = await app.admin('POST', '/keys/rotate', body);
  equal(answer.status, 200, JSON.stringify(answer.body));
};
const machine = (app: TestApp) =>
  app.register({ grant_types: ['client_credentials'], redirect_uris: [], response_types: [] });
/** Both applications have their own offset; the store follows. */
const advance = (ms: number): void => {
  offset += ms;
  for (const app of apps) app.advance(ms);
};

test('rotation by API: every process publishes the new key within a second; audited', async () => {
  const [before = failed()] = await keysAt(at(0));
  equal(before.state, 'current');
  await rotate(at(0));
  const [next = failed()] = await keysAt(at(0));
  deepEqual([next.state, (await keysAt(at(1)))[0]?.kid], ['next', next.kid]);
  deepEqual(await kidsServed(at(0)), [before.kid, next.kid]);
  await sleep(1000);
  // The first request after the change sees it, also one that goes past everything else.
  deepEqual(await kidsServed(at(1)), [before.kid, next.kid]);
  const { body } = await at(1).admin('GET', '/audit?event=key.rotation_requested');
  const [event = failed()] = body.data.items ?? [];
  equal(event.outcome, 'success');
  match(JSON.stringify(event), /"kind":"bootstrap"|bootstrap/);
});

test('rotation by API: administrators only, validated input, nothing private returned', async () => {
  for (const [method, path] of [
    ['GET', '/admin/api/keys'],
    ['POST', '/admin/api/keys/rotate'],
  ] as const) {
    equal((await call(at(0), method, path)).status, 401);
  }
  equal((await at(0).admin('POST', '/keys/rotate', { mode: 'sideways' })).status, 400);
  equal((await at(0).admin('POST', '/keys/rotate', { mode: 'gradual', kid: 'mine' })).status, 400);
  const { body } = await at(0).admin('GET', '/keys');
  for (const item of body.data.items ?? []) {
    deepEqual(Object.keys(item).sort(), [
      'activated_at',
      'activates_at',
      'alg',
      'created_at',
      'kid',
      'removed_at',
      'retired_at',
      'state',
    ]);
  }
});

test('rotation under load: every token verifies in every process (R070)', async (t) => {
  const client = await machine(at(0));
  const signers = new Set<string>();
  const issued: string[] = [];
  let isOver = false;
  let checks = 0;
  // As applications do: keys are kept, and fetched again for an unknown one.
  const kept = createRemoteJWKSet(new URL(`${at(1).url}/.well-known/jwks.json`), { cooldownDuration: 0 });
  const work = async (n: number): Promise<void> => {
    for (let round = n; !isOver; round += 1) {
      const { status, body } = await requestTokens(at(round), client, { grant_type: 'client_credentials' });
      equal(status, 200, JSON.stringify(body));
      const token = body.access_token;
      signers.add(signerOf(token));
      issued.push(token);
      const elsewhere = at(round + 1);
      const { body: told } = await introspect(elsewhere, token);
      equal(told.active, true, `refused by the other process: ${signerOf(token)}`);
      const { body: jwks } = await call(elsewhere, 'GET', '/.well-known/jwks.json');
      await jwtVerify(token, createLocalJWKSet({ keys: jwks.keys as [] }), { issuer: at(0).issuer });
      await jwtVerify(token, kept, { issuer: at(0).issuer });
      checks += 3;
    }
  };
  const workers = Promise.all(Array.from({ length: 6 }, (_, n) => work(n))).finally(() => {
    isOver = true;
  });
  const untilIssued = async (count: number): Promise<void> => {
    while (issued.length < count && !isOver) await sleep(10);
  };
  for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
    await untilIssued(issued.length + 20);
    const known = signers.size;
    await rotate(at(rotation), { mode: 'immediate' });
    while (signers.size === known && !isOver) await sleep(10);
    await untilIssued(issued.length + 50);
  }
  isOver = true;
  await workers;
  equal(signers.size, ROTATIONS + 1);
  for (const token of [issued[0], issued.at(-1)]) {
    equal((await introspect(at(0), token ?? '')).body.active, true, 'a token of before verifies after');
  }
  t.diagnostic(`${issued.length} tokens, ${checks} verifications, ${signers.size} keys`);
});

test('rotation: tokens, refresh and logout hints outlive it; then the old key is removed', async () => {
  const client = await at(0).register();
  const alice = await at(0).createUser('alice');
  const agent = new Agent(at(0));
  const tokens = await tokensOf(at(0), client, alice, {}, agent);
  const old = signerOf(tokens.id_token);
  await rotate(at(1), { mode: 'immediate' });
  await sleep(3100);
  equal((await userinfo(at(0), tokens.access_token)).status, 200);
  equal((await userinfo(at(1), tokens.access_token)).status, 200);
  const renewed = await requestTokens(at(1), client, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
  });
  equal(renewed.status, 200);
  notEqual(signerOf(renewed.body.id_token), old);
  notEqual(signerOf(renewed.body.access_token), old);
  equal(signerOf(renewed.body.id_token), signerOf(renewed.body.access_token));
  // A hint that verifies ends the session without asking.
  const page = await agent.get(`/oauth2/logout?${new URLSearchParams({ id_token_hint: tokens.id_token })}`);
  ok(!/<form/.test(page.body) || page.status === 303, 'the hint was not believed');

  const retired = (await keysAt(at(0))).find(({ kid }) => kid === old);
  equal(retired?.state, 'retired');
  ok(Date.parse(retired?.removed_at ?? '') >= Date.now() + RETIRED_MS - 20_000);
  advance(RETIRED_MS - 60_000);
  ok((await kidsServed(at(0))).includes(old));
  advance(61_000);
  for (const app of apps) ok(!(await kidsServed(app)).includes(old), 'the old key is still shown');
});

test('compromised key: its signatures are refused here at once, elsewhere within a second', async () => {
  const client = await machine(at(0));
  const { body } = await requestTokens(at(0), client, { grant_type: 'client_credentials' });
  equal((await introspect(at(1), body.access_token)).body.active, true);
  await rotate(at(0), { mode: 'compromised' });
  equal((await introspect(at(0), body.access_token)).body.active, false);
  await sleep(1000);
  equal((await introspect(at(1), body.access_token)).body.active, false);
  ok(!(await kidsServed(at(1))).includes(signerOf(body.access_token)));
  const next = await requestTokens(at(1), client, { grant_type: 'client_credentials' });
  equal((await introspect(at(0), next.body.access_token)).body.active, true);
});

test('scheduled rotation: the job publishes and activates the next key; 0 turns it off', async () => {
  const current = async (): Promise<Shown> =>
    (await keysAt(at(0))).find(({ state }) => state === 'current') ?? failed();
  const first = await current();
  const set = (seconds: number) => at(0).admin('PATCH', '/settings', { key_rotation_seconds: seconds });
  await set(0);
  advance(100 * 86_400_000);
  await at(0).app.jobs.tick();
  equal((await current()).kid, first.kid);
  await set(90 * 86_400);
  advance(61_000);
  await at(0).app.jobs.tick();
  const next = (await keysAt(at(0))).find(({ state }) => state === 'next');
  ok(next);
  ok((await kidsServed(at(1))).includes(next.kid));
  advance(900_000);
  await at(0).app.jobs.tick();
  equal((await current()).kid, next.kid);
  const { body } = await at(0).admin('GET', '/audit?event=key.rotated');
  ok(JSON.stringify(body).includes(next.kid));
});
