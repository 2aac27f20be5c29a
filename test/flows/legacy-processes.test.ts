// The provider follows the setting `legacy_profiles` in every process, each with its next requests, and a rotation of keys in
// between loses neither.
import { equal } from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import type { Store } from '../../src/store/port.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { call, change } from './support.ts';

let folder: string;
let apps: TestApp[] = [];
let stores: Store[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-legacy-'));
  const open = (): Store =>
    createSqliteStore({ file: join(folder, 'latchkey.db'), clock: Date.now, definitions: allCollections });
  stores = [open(), open()];
  const [first, second] = stores;
  const one = await startApp({ ...(first && { shared: first }) });
  apps = [one, await startApp({ ...(second && { shared: second }), env: { BASE_URL: one.url } })];
});
after(async () => {
  for (const app of apps) await app.stop();
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true });
});

/** How many response types a process announces, after a request that lets it look. */
async function typesAt(app: Pick<TestApp, 'url'>): Promise<number> {
  await call(app, 'GET', '/oauth2/login');
  const { response_types_supported: types } = (await call(app, 'GET', '/.well-known/openid-configuration'))
    .body;
  return Array.isArray(types) ? types.length : 0;
}

test('setting: on, off, and on again with other keys, in both processes', async () => {
  const [one, other] = apps;
  if (one === undefined || other === undefined) throw new Error('two processes are needed');
  // BASE_URL is the first one's; the second is reached at its own port.
  for (const [isOn, count] of [
    [true, 6],
    [false, 1],
    [true, 6],
  ] as const) {
    await change(one, { legacy_profiles: isOn });
    equal(await typesAt(one), count);
    let seen = await typesAt(other);
    for (let tries = 0; seen !== count && tries < 100; tries += 1) {
      await wait(100);
      seen = await typesAt(other);
    }
    equal(seen, count);
    equal((await one.admin('POST', '/keys/rotate')).status < 300, true);
    equal(await typesAt(one), count);
  }
});
