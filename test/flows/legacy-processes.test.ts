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
import { call, change, tokensOf, userinfo } from './support.ts';

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
    for (let tries = 0; seen !== count && tries < 600; tries += 1) {
      await wait(100);
      seen = await typesAt(other);
    }
    equal(seen, count);
    equal((await one.admin('POST', '/keys/rotate')).status < 300, true);
    equal(await typesAt(one), count);
  }
});

test('setting: switched under load, every sign-in of an application with the profile goes on', async () => {
  const [one] = apps;
  if (one === undefined) throw new Error('a process is needed');
  await change(one, { legacy_profiles: true });
  const alice = await one.createUser('alice');
  const clients = await Promise.all(
    Array.from({ length: 4 }, () =>
      one.register({ profile: 'legacy', response_types: ['code', 'id_token token'] }),
    ),
  );
  let isSwitching = true;
  const signIns = clients.map(async (client) => {
    let count = 0;
    while (isSwitching) {
      const tokens = await tokensOf(one, client, alice);
      equal((await userinfo(one, tokens.access_token)).status, 200);
      // A changed record is read anew, whichever provider is in use.
      equal(
        (await one.admin('PATCH', `/clients/${client.id}`, { client_name: `Name ${count}` })).status,
        200,
      );
      count += 1;
    }
    return count;
  });
  for (let at = 0; at < 10; at += 1) {
    await change(one, { legacy_profiles: at % 2 === 0 });
    await wait(100);
  }
  isSwitching = false;
  for (const count of await Promise.all(signIns)) equal(count > 0, true);
});
