// The product as separate processes on one MongoDB: changes are visible at once, an outage is reported as one, and the address
// is never printed.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MongoServer, startOwnMongoServer } from '../support/mongodb-server.ts';
import { isWithin } from '../support/patience.ts';
import { type ServerProcess, startServer } from './server-process.ts';

describe('two web processes on one MongoDB', () => {
  let mongo: MongoServer;
  let folder: string;
  let uri: string;
  let servers: ServerProcess[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-mongodb-'));
    mongo = await startOwnMongoServer();
    uri = mongo.freshUri();
    const env = { MONGODB_URI: uri, SECRET_KEY: 'test-secret-key-0123456789-0123456789' };
    const dataDir = join(folder, 'data');
    // Together, on an empty database: they agree on indexes and on one signing key.
    servers = await Promise.all([startServer({ dataDir, env }), startServer({ dataDir, env })]);
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await mongo.stop();
    await rm(folder, { recursive: true });
  });

  test('they publish one key, and no data folder is created', async () => {
    const keys = await Promise.all(
      servers.map(async ({ url }) => (await fetch(`${url}/oauth2/.well-known/jwks.json`)).text()),
    );
    assert.match(keys[0] ?? '', /"kid"/);
    assert.equal(keys[0], keys[1]);
    assert.equal(existsSync(join(folder, 'data')), false);
  });

  test('writes at one are visible at the other at once, settings within a second', async () => {
    const [one, two] = servers;
    assert.ok(one && two);
    const user = await one.createUser('ada');
    assert.equal((await two.admin('GET', `/users/${user.id}`)).body.data.username, 'ada');
    await two.admin('GET', '/settings');
    await one.admin('PATCH', '/settings', { product_name: 'Elsewhere' });
    await sleep(1_000);
    assert.match(await (await fetch(`${two.url}/onboard`)).text(), /Elsewhere/);
  });

  test('hanging database: readiness turns, requests get 503 with Retry-After', async () => {
    await mongo.freeze();
    try {
      for (const { url } of servers) {
        const started = performance.now();
        const [ready, live, page] = await Promise.all([
          fetch(`${url}/readyz`),
          fetch(`${url}/healthz`),
          fetch(`${url}/admin/api/users`, { headers: { authorization: 'Bearer nobody' } }),
        ]);
        // That it is 2 s is held where nothing else runs beside: test/store/mongodb-outage.test.ts.
        assert.ok(isWithin(performance.now() - started, 6_000));
        assert.deepEqual([ready.status, live.status, page.status], [503, 200, 503]);
        assert.ok(page.headers.has('retry-after'));
      }
    } finally {
      mongo.thaw();
    }
    for (const { url } of servers) {
      let status = 0;
      for (let tries = 0; status !== 200 && tries < 600; tries += 1) {
        ({ status } = await fetch(`${url}/readyz`));
        if (status !== 200) await sleep(50);
      }
      assert.equal(status, 200);
    }
  });

  test('attack: reading the database address from the log', () => {
    for (const server of servers) assert.equal(server.output().includes(uri), false);
  });
});
