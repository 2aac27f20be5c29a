// Holds the way from the embedded database to MongoDB, and to MongoDB and Redis: everything is there and works as before,
// a copy that was stopped goes on, and nothing is copied over what is in use.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openStore } from '../../adapters/index.ts';
import { createMongoStore } from '../../adapters/mongodb.ts';
import { createSqliteStore } from '../../adapters/sqlite.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { accounts, audit, clients, facts, sessions } from '../../src/store/collections.ts';
import { Agent, challengeOf, redeem, refresh } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { enrolPhone, type Phone } from '../support/phone.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { run } from './run.ts';

const MANY = 1_200;
const COPIED = [accounts, clients, sessions, audit];

interface World {
  /** A stopped server's data folder. */
  readonly dataDir: string;
  readonly key: string;
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  readonly refreshToken: string;
  readonly cookies: string;
  readonly phone: Phone;
  readonly now: () => number;
}

const authorization = (clientId: string, more: Record<string, string> = {}) => ({
  client_id: clientId,
  redirect_uri: REDIRECT_URI,
  response_type: 'code',
  scope: 'openid offline_access',
  code_challenge: challengeOf('v'.repeat(43)),
  code_challenge_method: 'S256',
  ...more,
});

/** Some who live there, and many who are only names. */
async function inhabit(folder: string): Promise<World> {
  const app = await startApp({ store: 'sqlite' });
  const client = await app.register({ token_endpoint_auth_method: 'client_secret_basic' });
  const ada = await app.createUser('ada');
  const agent = new Agent(app);
  const tokens = await redeem(
    app,
    client,
    await agent.signIn(client.id, ada, { scope: 'openid offline_access' }),
  );
  assert.equal(tokens.status, 200);
  await app.createUser('bob');
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const browser = new Agent(app);
  const { phone } = await enrolPhone(app, browser, await browser.authorize(authorization(client.id)), 'bob');
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional', product_name: 'Grown' });
  const people = app.store.collection(accounts);
  const [some] = await people.findBy('username', 'ada');
  assert.ok(some);
  const names = Array.from({ length: MANY }, (_, n) => `person${n}`);
  await Promise.all(
    names.map((name) => people.insert(name, { ...some.value, username: name, usernameKey: name })),
  );
  const dataDir = join(folder, 'embedded');
  const world = { now: app.now, phone, cookies: agent.cookiesFor('/oauth2/authorize') };
  const copyFrom = app.dataDir;
  const key = (await readFile(join(copyFrom, 'secret.key'), 'utf8')).trim();
  await app.store.close();
  await cp(copyFrom, dataDir, { recursive: true });
  await app.stop();
  const { refresh_token: refreshToken } = tokens.body;
  return { ...world, dataDir, key, issuer: app.issuer, client, refreshToken, cookies: world.cookies };
}

describe('scripts/copy-store.ts', () => {
  let folder: string;
  let mongo: MongoServer;
  let redis: RedisServer;
  let world: World;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-copy-'));
    [mongo, redis, world] = await Promise.all([startMongoServer(), startRedis(), inhabit(folder)]);
  });
  after(async () => {
    await Promise.all([mongo.stop(), redis.stop()]);
    await rm(folder, { recursive: true });
  });

  const copy = (uri: string, env: Record<string, string> = {}) =>
    run('scripts/copy-store.ts', [], {
      env: { DATA_DIR: world.dataDir, MONGODB_URI: uri, SECRET_KEY: world.key, ...env },
    });
  const openMongo = (uri: string) =>
    createMongoStore({ uri, clock: Date.now, definitions: allCollections, timeoutMs: 20_000 });

  /** What people and applications held before works with the copy. */
  async function assertWorks(app: TestApp): Promise<void> {
    const { client, refreshToken, cookies, phone } = world;
    const signedIn = await redeem(app, client, await new Agent(app).signIn(client.id, { username: 'ada' }));
    assert.equal(signedIn.status, 200, 'password and client secret');
    const refreshed = await refresh(app, client, refreshToken);
    assert.equal(refreshed.status, 200, 'refresh token');
    const browser = new Agent(app);
    browser.plant(cookies);
    const silent = await browser.authorize(authorization(client.id, { prompt: 'none', scope: 'openid' }));
    assert.match(silent.location ?? '', /[?&]code=/, 'session of a browser');
    const other = new Agent(app);
    const asked = await other.submit(await other.authorize(authorization(client.id, { scope: 'openid' })), {
      username: 'bob',
      password: PASSWORD,
    });
    assert.equal(asked.status, 200);
    assert.equal(asked.location, undefined, 'the second factor is asked for');
    // The phone's clock goes on from where it was.
    app.advance(world.now() - Date.now() + 60_000);
    const done = await other.submit(asked, { code: phone.code() });
    assert.match(done.location ?? '', /[?&]code=/, 'code of the app on the phone');
    assert.equal((await app.admin('GET', '/settings')).status, 200);
    assert.match(await (await fetch(`${app.url}/oauth2/login`)).text(), /Grown/, 'settings');
  }

  test('MongoDB: everything is there, verified, and works as before', async () => {
    const uri = mongo.freshUri();
    const { code, stdout, stderr } = await copy(uri);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /accounts: 1202 verified, sha256 [0-9a-f]{16}\n/);
    assert.match(stdout, /documents copied and verified/);
    const source = createSqliteStore({ file: join(world.dataDir, 'latchkey.db'), clock: Date.now });
    const store = await openMongo(uri);
    for (const definition of COPIED as unknown as typeof allCollections) {
      const page = { sort: 'id', order: 'asc', limit: 1000 } as const;
      const [from, to] = await Promise.all([
        source.collection(definition).query(page),
        store.collection(definition).query(page),
      ]);
      assert.ok(from.total > 0, definition.name);
      // Versions, too: what was read before the move may be written after it.
      assert.deepEqual(to, from);
    }
    await source.close();
    const app = await startApp({ shared: store, env: { SECRET_KEY: world.key, ISSUER: world.issuer } });
    try {
      await assertWorks(app);
    } finally {
      await app.stop();
      await store.close();
    }
  });

  test('MongoDB and Redis: what is short-lived is in Redis, and all works as before', async () => {
    const config = { dataDir: '', mongodbUri: mongo.freshUri(), redisUrl: redis.url };
    const { code, stdout, stderr } = await copy(config.mongodbUri, { REDIS_URL: redis.url });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /oidc_sessions: \d+ verified/);
    const store = await openStore({ config, clock: Date.now });
    const app = await startApp({ shared: store, env: { SECRET_KEY: world.key, ISSUER: world.issuer } });
    try {
      const browser = new Agent(app);
      browser.plant(world.cookies);
      const silent = await browser.authorize(
        authorization(world.client.id, { prompt: 'none', scope: 'openid' }),
      );
      assert.match(silent.location ?? '', /[?&]code=/);
      const refreshed = await refresh(app, world.client, world.refreshToken);
      assert.equal(refreshed.status, 200);
    } finally {
      await app.stop();
      await store.close();
    }
  });

  test('a copy that was stopped half-way goes on; a finished one is not copied over', async () => {
    const uri = mongo.freshUri();
    const store = await openMongo(uri);
    const source = createSqliteStore({ file: join(world.dataDir, 'latchkey.db'), clock: Date.now });
    const [some] = await source.collection(accounts).findBy('username', 'ada');
    await source.close();
    assert.ok(some);
    // As a copy leaves it that was killed: begun, with some documents and one of an older state.
    await store.collection(facts).insert('copied_from_embedded', { at: 1, value: 'running' });
    await store.collection(accounts).insert(some.id, { ...some.value, failedLoginAttempts: 99 });
    const first = await copy(uri);
    assert.deepEqual([first.code, first.stderr], [0, '']);
    assert.deepEqual((await store.collection(accounts).find(some.id))?.value, some.value);
    const again = await copy(uri);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /holds a finished copy/);
    await store.close();
  });

  test('attack: copying over a database that somebody uses', async () => {
    const uri = mongo.freshUri();
    const store = await openMongo(uri);
    await store.collection(facts).insert('installed', { at: 1, value: 'here' });
    const { code, stderr } = await copy(uri);
    assert.equal(code, 1);
    assert.match(stderr, /not empty \(facts\)/);
    assert.equal((await store.collection(accounts).query({ sort: 'id', order: 'asc', limit: 1 })).total, 0);
    await store.close();
  });

  test('a document too many is found out by the comparison', async () => {
    const uri = mongo.freshUri();
    const store = await openMongo(uri);
    await store.collection(facts).insert('copied_from_embedded', { at: 1, value: 'running' });
    await store.collection(facts).insert('stranger', { at: 1, value: 'x' });
    const { code, stderr } = await copy(uri);
    assert.equal(code, 1);
    assert.match(stderr, /^facts: \d+ documents in the source, \d+ in the copy/);
    assert.equal((await store.collection(facts).find('copied_from_embedded'))?.value.value, 'running');
    await store.close();
  });

  test('without the key that sealed the secrets nothing is copied; no message tells a password', async () => {
    const uri = mongo.freshUri();
    const wrong = await copy(uri, { SECRET_KEY: 'another-secret-key-0123456789-0123456789' });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /SECRET_KEY does not hold the key in .*secret\.key/);
    const away = await copy('mongodb://app:hunter2@127.0.0.1:1/x');
    assert.equal(away.code, 1);
    assert.doesNotMatch(away.stdout + away.stderr, /hunter2/);
    const nowhere = await copy(uri, { DATA_DIR: join(folder, 'nowhere') });
    assert.match(nowhere.stderr, /There is no database at .*nowhere/);
  });
});
