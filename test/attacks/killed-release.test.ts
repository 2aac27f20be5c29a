// The release step is killed at any moment and run again: no half-built index, no lost document, nothing
// that a second run fails on.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { accounts, audit } from '../../src/store/collections.ts';
import { run } from '../scripts/run.ts';
import { type MongoServer, startMongoServer } from '../support/mongodb-server.ts';
import { sized } from './sizes.ts';

const SECRET_KEY = 'test-secret-key-0123456789-0123456789';
const KILLS = sized(3, 40);
const EVENTS = 40;
let server: MongoServer;
before(async () => {
  server = await startMongoServer();
});
after(() => server.stop());

const release = (uri: string) => run('scripts/release.ts', [], { env: { MONGODB_URI: uri, SECRET_KEY } });

/** As a version left it whose audit log could not be asked for anything. */
async function leaveOldStore(uri: string): Promise<void> {
  const old = await createMongoStore({ uri, clock: Date.now });
  const before = old.collection({ ...audit, fields: {} });
  for (let at = 0; at < EVENTS; at += 1)
    await before.insert(`e${at}`, { at, event: 'x', outcome: 'success', actorKind: 'system' });
  await old.close();
}

/** @returns whether it was still running */
async function killedAfter(uri: string, ms: number): Promise<boolean> {
  const child = spawn(process.execPath, ['scripts/release.ts'], {
    env: { PATH: process.env.PATH ?? '', MONGODB_URI: uri, SECRET_KEY },
    stdio: 'ignore',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const [, signal] = await once(child, 'exit');
  clearTimeout(timer);
  return signal === 'SIGKILL';
}

test(`killed release: ${KILLS} kills on one store, then one completes with all documents`, async (t) => {
  const measured = server.freshUri();
  await leaveOldStore(measured);
  const started = performance.now();
  equal((await release(measured)).code, 0);
  const whole = performance.now() - started;

  const uri = server.freshUri();
  await leaveOldStore(uri);
  let killed = 0;
  // Loading the program is about half of it; the second half is where statements run.
  for (let round = 0; round < KILLS; round += 1) {
    const share = 0.5 + (0.5 * round) / KILLS;
    if (await killedAfter(uri, whole * share)) killed += 1;
  }
  t.diagnostic(`${killed} of ${KILLS} were killed in a run of ${Math.round(whole)} ms`);
  for (let round = 0; round < 2; round += 1) {
    const last = await release(uri);
    deepEqual([last.code, last.stderr], [0, '']);
  }
  const store = await createMongoStore({ uri, clock: Date.now, definitions: allCollections });
  const filters = [{ field: 'at', op: 'gte', value: 0 }] as const;
  const page = await store.collection(audit).query({ filters, sort: 'at', order: 'asc', limit: 1000 });
  equal(page.total, EVENTS);
  deepEqual(await store.collection(accounts).findBy('username', 'nobody'), []);
  ok(killed <= KILLS);
  await store.close();
});
