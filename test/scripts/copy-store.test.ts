// Holds the way from the embedded database to MongoDB, and to MongoDB and Redis: everything is there and works as before,
// a copy that was stopped goes on, and nothing is copied over what is in use.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Transform } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { openStore } from '../../adapters/index.ts';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { copiedCollections, digestOfAll } from '../../scripts/copy/copy-collections.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { apis } from '../../src/store/apis.ts';
import { accounts, audit, clients, facts, sessions } from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';
import { oidcSessions } from '../../src/store/protocol-collections.ts';
import { layWire, type Wire } from '../faults/wire.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { fill, people } from '../support/crowd.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { isWithin } from '../support/patience.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { plain, runInTerminal } from '../support/terminal.ts';
import { type Credentials, makeCredentials, proofsOf } from './credentials.ts';
import { type Outcome, run } from './run.ts';

const MANY = 1_200;
/**
 * The npm package's server compares every document of a collection with every other at each write to it: some 3 s a write at
 * 20,000 documents, minutes at 100,000. So many are for a real one, or for someone with a day.
 */
const VERY_MANY = Number(
  process.env.COPY_USERS ?? (process.env.MONGODB_TEST_URI === undefined ? 12_000 : 100_000),
);
const HOUR_MS = 3_600_000;
const AWAY = 'mongodb://app:hunter2@127.0.0.1:1/x';
const isLong = process.env.LONG === '1';
const COPIED = [accounts, clients, apis, sessions, audit];

interface World {
  /** A stopped server's data folder. */
  readonly dataDir: string;
  readonly key: string;
  /** Where it was, and has to be again: passkeys belong to a place. */
  readonly url: string;
  readonly given: Credentials;
}

/** Someone with each kind of credential, and many who are only names. */
async function inhabit(folder: string): Promise<World> {
  const app = await startApp({ store: 'sqlite' });
  const given = await makeCredentials(app);
  await app.admin('PATCH', '/settings', { product_name: 'Grown' });
  const people = app.store.collection(accounts);
  const [some] = await people.findBy('username', 'ada');
  assert.ok(some);
  const names = Array.from({ length: MANY }, (_, n) => `person${n}`);
  await Promise.all(
    names.map((name) => people.insert(name, { ...some.value, username: name, usernameKey: name })),
  );
  const dataDir = join(folder, 'embedded');
  const key = (await readFile(join(app.dataDir, 'secret.key'), 'utf8')).trim();
  await app.store.close();
  await cp(app.dataDir, dataDir, { recursive: true });
  await app.stop();
  return { dataDir, key, url: app.url, given };
}

describe('scripts/copy-store.ts', () => {
  let folder: string;
  let mongo: MongoServer;
  let redis: RedisServer;
  let world: World;
  /** To a MongoDB that does not answer: asked for ten seconds, which other tests need not wait for. */
  let away: Promise<Outcome>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-copy-'));
    [mongo, redis, world] = await Promise.all([startMongoServer(), startRedis(), inhabit(folder)]);
    away = copy(AWAY);
  });
  after(async () => {
    await Promise.all([mongo.stop(), redis.stop()]);
    await rm(folder, { recursive: true });
  });

  const copy = (uri: string, env: Record<string, string> = {}) =>
    run('scripts/copy-store.ts', [], {
      env: { DATA_DIR: world.dataDir, MONGODB_URI: uri, SECRET_KEY: world.key, ...env },
      ...(isLong && { timeoutMs: HOUR_MS }),
    });
  /** Of the application, while there is one: what expires does so by the clock that the tests move. */
  let app: TestApp | undefined;
  const clock = (): number => app?.now() ?? Date.now();
  const openMongo = (uri: string) =>
    createMongoStore({ uri, clock, definitions: allCollections, timeoutMs: isLong ? HOUR_MS : 20_000 });

  /** Does what the message says for starting over; the compatible server cannot drop, and what it holds is removed instead. */
  async function startOver(
    advice: string,
    { mongodbUri, redisUrl }: { mongodbUri: string; redisUrl?: string },
  ) {
    const [, javaScript = ''] = /mongosh "\$MONGODB_URI" --eval '([^']+)'/.exec(advice) ?? [];
    assert.equal(javaScript, 'db.dropDatabase()');
    const client = new MongoClient(mongodbUri);
    try {
      const database = client.db();
      for (const { name } of copiedCollections) await database.collection(name).deleteMany({});
    } finally {
      await client.close();
    }
    const [command = ''] = /redis-cli -u "\$REDIS_URL" flushdb/.exec(advice) ?? [];
    assert.notEqual(command, '');
    if (redisUrl === undefined) return;
    const { stdout } = await promisify(execFile)('sh', ['-c', command], {
      env: { ...process.env, REDIS_URL: redisUrl },
    });
    assert.match(stdout, /OK/);
  }

  /** What people and applications held before works with the copy. */
  async function assertWorks(store: Store, say: (what: string) => void = () => {}): Promise<void> {
    const { port } = new URL(world.url);
    app = await startApp({ shared: store, port: Number(port), env: { SECRET_KEY: world.key } });
    try {
      for (const [what, prove] of Object.entries(proofsOf(app, world.given))) {
        const startedAt = performance.now();
        await assert.doesNotReject(prove, what);
        say(`${what}: ${Math.round(performance.now() - startedAt)} ms`);
      }
      assert.match(await (await fetch(`${app.url}/oauth2/login`)).text(), /Grown/, 'settings');
    } finally {
      await app.stop();
      app = undefined;
      await store.close();
    }
  }

  test('MongoDB: everything is copied, verified, and works as before', async () => {
    const uri = mongo.freshUri();
    const { code, stdout, stderr } = await copy(uri);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /accounts: 1207 verified, sha256 [0-9a-f]{16}\n/);
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
    await assertWorks(store);
  });

  test('MongoDB and Redis: ephemeral data is in Redis, and all works as before', async () => {
    const config = { dataDir: '', mongodbUri: mongo.freshUri(), redisUrl: redis.url };
    const { code, stdout, stderr } = await copy(config.mongodbUri, { REDIS_URL: redis.url });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /oidc_sessions: \d+ verified/);
    await assertWorks(await openStore({ config, clock }));
  });

  test('an interrupted copy continues; a finished one is not overwritten', async () => {
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
    assert.match(again.stderr, /contains a finished copy/);
    await store.close();
  });

  test('Ctrl-C stops between steps, says what is whole, and the same command continues', async () => {
    const uri = mongo.freshUri();
    const env = { DATA_DIR: world.dataDir, MONGODB_URI: uri, SECRET_KEY: world.key };
    const program = runInTerminal([process.execPath, 'scripts/copy-store.ts'], env);
    await program.waitFor(/: \d+ copied/);
    program.type('\x03');
    assert.equal(await program.exited, 130, program.shown());
    const shown = plain(program.shown());
    assert.match(shown, /Stopping after this step/);
    const [, done, total] =
      /Stopped: (\d+) of (\d+) documents are in the copy.*same command again/.exec(shown) ?? [];
    assert.ok(Number(done) > 0 && Number(done) <= Number(total), shown);
    assert.doesNotMatch(shown, /\n\s+at /);
    const again = await copy(uri);
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.match(again.stdout, new RegExp(`\n${total} documents copied and verified`));
  });

  test('attack: an older version copies a newer database without what it does not know', async () => {
    const newer = join(folder, 'newer');
    await cp(world.dataDir, newer, { recursive: true });
    const file = join(newer, 'latchkey.db');
    const store = createSqliteStore({ file, clock: Date.now, definitions: copiedCollections });
    const marks = store.collection<object>({ ...facts, indexes: {}, fields: {} });
    const mark = await marks.find('model');
    await marks.put('model', { ...mark?.value, model: 99, version: '9.9.9' });
    await store.close();
    const { code, stderr } = await copy(AWAY, { DATA_DIR: newer });
    assert.equal(code, 1);
    assert.match(stderr, /written by version 9\.9\.9 \(model 99\).*nothing was copied/);
  });

  test('an unknown option is refused before anything is opened', async () => {
    const { code, stderr } = await run('scripts/copy-store.ts', ['--dry-run']);
    assert.equal(code, 2);
    assert.match(stderr, /Unknown option '--dry-run'[\s\S]*Try --help/);
  });

  test('attack: copying over a database in use', async () => {
    const uri = mongo.freshUri();
    const store = await openMongo(uri);
    await store.collection(facts).insert('installed', { at: 1, value: 'here' });
    const { code, stderr } = await copy(uri);
    assert.equal(code, 1);
    assert.match(stderr, /not empty \(facts\)/);
    assert.equal((await store.collection(accounts).query({ sort: 'id', order: 'asc', limit: 1 })).total, 0);
    await store.close();
  });

  test('an extra document is detected by the comparison', async () => {
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

  test('an interrupted copy does not continue if the server has run since', async () => {
    const ranOn = async (redisUrl?: string): Promise<void> => {
      const dataDir = join(folder, redisUrl === undefined ? 'ran-on' : 'ran-on-redis');
      await cp(world.dataDir, dataDir, { recursive: true });
      const change = async (act: (source: Store) => Promise<unknown>): Promise<void> => {
        const source = createSqliteStore({ file: join(dataDir, 'latchkey.db'), clock: Date.now });
        await act(source);
        await source.close();
      };
      const value = { accountId: 'ada', uid: 'u' };
      const short = { expiresAt: Date.now() + 1_500 };
      await change(async (source) => {
        await source.ephemeral(oidcSessions).insert('ends', value, { expiresAt: Date.now() + HOUR_MS });
        await source.ephemeral(oidcSessions).insert('expires', value, short);
      });
      const env: Record<string, string> = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
      const config = {
        dataDir: '',
        mongodbUri: mongo.freshUri(),
        ...(redisUrl !== undefined && { redisUrl }),
      };
      const again = () => copy(config.mongodbUri, { DATA_DIR: dataDir, ...env });
      assert.equal((await again()).code, 0);
      const store = await openMongo(config.mongodbUri);
      // As if it had been stopped before its end: what it had noted at its beginning.
      const at = Date.now();
      const source = createSqliteStore({ file: join(dataDir, 'latchkey.db'), clock: () => at });
      const noted = `running ${await digestOfAll(source)}`;
      await source.close();
      await store.collection(facts).put('copied_from_embedded', { at, value: noted });
      // What expires in between is no change.
      await sleep(Math.max(short.expiresAt - Date.now() + 1, 0));
      assert.deepEqual(await again().then(({ code, stderr }) => [code, stderr]), [0, '']);

      await store.collection(facts).put('copied_from_embedded', { at, value: noted });
      await change((from) => from.ephemeral(oidcSessions).remove('ends'));
      const { code, stderr } = await again();
      assert.equal(code, 1);
      assert.match(stderr, /^The embedded database has changed since this copy was started\. .*dropDatabase/);
      await store.close();
      await startOver(stderr, config);
      assert.deepEqual(await again().then((one) => [one.code, one.stderr]), [0, '']);
    };
    await Promise.all([ranOn(), ranOn(redis.url)]);
  });

  test('Ctrl-C while MongoDB does not answer: it ends at once, and tells no password', async () => {
    const env = { DATA_DIR: world.dataDir, MONGODB_URI: AWAY, SECRET_KEY: world.key };
    const program = runInTerminal([process.execPath, 'scripts/copy-store.ts'], env);
    await program.waitFor(/Connecting to the databases … \d+ s so far/);
    const typedAt = performance.now();
    program.type('\x03');
    assert.equal(await program.exited, 130, program.shown());
    assert.ok(isWithin(performance.now() - typedAt, 3_000), 'without waiting for it');
    const shown = plain(program.shown());
    assert.match(shown, /Stopped before anything was copied\. Leave the server stopped and run the same/);
    assert.doesNotMatch(shown, /hunter2|\n\s+at /);
  });

  test('a MongoDB that goes away half-way: what is whole, and the same command continues', async () => {
    const uri = new URL(mongo.freshUri());
    let passed = 0;
    let wire: Wire | undefined;
    const up = () =>
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          passed += chunk.length;
          // Accounts are in it, and the next documents are on their way.
          if (passed > MANY * 500 && chunk.includes('insert')) void wire?.cut('hard');
          else done(null, chunk);
        },
      });
    wire = await layWire(Number(uri.port), () => ({ up: up(), down: new PassThrough() }));
    try {
      const through = new URL(uri);
      through.port = String(wire.port);
      const broken = await copy(through.href);
      assert.equal(broken.code, 1);
      assert.match(
        broken.stderr,
        /^MongoDB: .*\. At least \d+ of \d+ documents are in the copy\. Leave the server stopped and run the same/,
      );
      assert.doesNotMatch(broken.stderr, /At least 0|\n\s+at /);
      const again = await copy(uri.href);
      assert.deepEqual([again.code, again.stderr], [0, '']);
      assert.match(again.stdout, /accounts: 1207 verified/);
    } finally {
      await wire.cut('hard');
    }
  });

  test('a file that is no database ends it at once, leaving nothing open', async () => {
    const dataDir = join(folder, 'no-database');
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'latchkey.db'), 'no database '.repeat(1_000));
    const { code, stderr } = await copy(mongo.freshUri(), { DATA_DIR: dataDir });
    assert.equal(code, 1);
    assert.match(stderr, /cannot be opened: file is not a database/);
  });

  test('without the sealing key nothing is copied; no message contains a password', async () => {
    const uri = mongo.freshUri();
    const wrong = await copy(uri, { SECRET_KEY: 'another-secret-key-0123456789-0123456789' });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /SECRET_KEY does not contain the key in .*secret\.key/);
    assert.match(wrong.stderr, /Set SECRET_KEY to it, or to a list with a newer key in front of it/);
    const listed = await copy(uri, { SECRET_KEY: `another-secret-key-0123456789-0123456789,${world.key}` });
    assert.deepEqual([listed.code, listed.stderr], [0, '']);
    const nowhere = await copy(uri, { DATA_DIR: join(folder, 'nowhere') });
    assert.match(nowhere.stderr, /There is no database at .*nowhere/);
    const { code, stdout, stderr } = await away;
    assert.equal(code, 1);
    assert.match(stderr, /^MongoDB cannot be reached: .* Is it running, and is MONGODB_URI right\?\n$/);
    assert.doesNotMatch(stdout + stderr, /hunter2/);
  });

  if (isLong) {
    test(`${VERY_MANY} users: copied, verified, and each credential signs in`, async (t) => {
      const file = join(world.dataDir, 'latchkey.db');
      const source = createSqliteStore({ file, clock: Date.now });
      const [some] = await source.collection(accounts).findBy('username', 'ada');
      await source.close();
      assert.ok(some?.value.passwordHash);
      const { passwordHash } = some.value;
      await fill(file, accounts, people(VERY_MANY, { now: Date.now(), passwordHash }));
      // While it writes it answers no one, not even whether it is alive.
      const uri = `${mongo.freshUri()}&socketTimeoutMS=0&connectTimeoutMS=${HOUR_MS}`;
      const startedAt = performance.now();
      const { code, stdout, stderr } = await copy(uri);
      assert.deepEqual([code, stderr], [0, '']);
      const verified = /accounts: (\d+) verified, sha256 [0-9a-f]{16}\n/.exec(stdout);
      assert.equal(Number(verified?.[1]), VERY_MANY + MANY + 7);
      t.diagnostic(`copied and verified in ${Math.round((performance.now() - startedAt) / 1000)} s`);
      t.diagnostic(stdout.trim().split('\n').slice(-12).join('\n'));
      await assertWorks(await openMongo(uri), (what) => t.diagnostic(what));
    });
  }
});
