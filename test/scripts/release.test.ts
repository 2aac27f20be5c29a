// Holds the release step: it makes what this version needs, may be run again, and says in one line what is wrong.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { accounts, audit } from '../../src/store/collections.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { run } from './run.ts';

const SECRET_KEY = 'test-secret-key-0123456789-0123456789';

describe('scripts/release.ts', () => {
  let server: MongoServer;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-release-'));
    server = await startMongoServer();
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });
  const release = (env: Record<string, string>) => run('scripts/release.ts', [], { env });

  test('MongoDB: creates every index, repeats without change, creates no folder', async () => {
    const uri = server.freshUri();
    const DATA_DIR = join(folder, 'never-made');
    for (let round = 0; round < 2; round += 1) {
      const { code, stdout, stderr } = await release({ MONGODB_URI: uri, SECRET_KEY, DATA_DIR });
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /^The store is ready for this version/);
    }
    assert.equal(existsSync(DATA_DIR), false);
    const store = await createMongoStore({ uri, clock: Date.now, definitions: allCollections });
    assert.deepEqual(await store.collection(accounts).findBy('username', 'nobody'), []);
    await store.close();
  });

  test('MongoDB: a missing index is created, after which a start works', async () => {
    const uri = server.freshUri();
    const old = await createMongoStore({ uri, clock: Date.now });
    const before = { ...audit, fields: {} };
    await old.collection(before).insert('e', { at: 7, event: 'x', outcome: 'success', actorKind: 'system' });
    await old.close();
    const open = () => createMongoStore({ uri, clock: Date.now, definitions: allCollections });
    await assert.rejects(open(), /audit: f_at, .* npm run release/);
    assert.equal((await release({ MONGODB_URI: uri, SECRET_KEY })).code, 0);
    const store = await open();
    const filters = [{ field: 'at', op: 'eq', value: 7 }] as const;
    assert.equal(
      (await store.collection(audit).query({ filters, sort: 'at', order: 'asc', limit: 1 })).total,
      1,
    );
    await store.close();
  });

  test('the embedded database is created; beside a server that runs it says so first', async () => {
    const DATA_DIR = join(folder, 'embedded');
    assert.equal((await release({ DATA_DIR })).code, 0);
    const file = join(DATA_DIR, 'latchkey.db');
    assert.equal(existsSync(file), true);
    const alone = await release({ DATA_DIR });
    assert.equal(alone.stderr, '');
    const server = createSqliteStore({ file, clock: Date.now });
    const beside = await release({ DATA_DIR });
    await server.close();
    assert.equal(beside.code, 0);
    assert.match(beside.stderr, /^A server has this database open\..* stop it first\.\n$/);
  });

  test('attack: reading the password from errors about an absent server or wrong address', async () => {
    const away = await release({ MONGODB_URI: 'mongodb://app:hunter2@127.0.0.1:1/x', SECRET_KEY });
    assert.equal(away.code, 1);
    assert.match(
      away.stderr,
      /^MongoDB cannot be reached: .*127\.0\.0\.1:1\. Is it running, and is MONGODB_URI right\?\n$/,
    );
    const wrong = await release({ MONGODB_URI: 'mongodb://app:hunter2@@127.0.0.1:1/x', SECRET_KEY });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /MONGODB_URI: /);
    const option = await release({
      MONGODB_URI: 'mongodb://app:hunter2@127.0.0.1:1/x?nonsense=1',
      SECRET_KEY,
    });
    assert.match(option.stderr, /option nonsense is not supported\. Check MONGODB_URI/);
    for (const { stdout, stderr } of [away, wrong, option]) {
      assert.doesNotMatch(stdout + stderr, /hunter2|at .*\.ts:\d+/);
    }
  });
});
