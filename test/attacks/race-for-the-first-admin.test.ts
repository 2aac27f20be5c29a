// Attack: becoming the first administrator by a race, or once there is one.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { systemClock } from '../../src/clock.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import type { Store } from '../../src/store/port.ts';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { atOnce, sized } from './sizes.ts';

const PARALLEL = 50;
const ROUNDS = sized(1, 50);

async function readyToOnboard(app: TestApp): Promise<(username: string, email?: string) => Promise<Page>> {
  const browser = new Agent(app);
  const page = await browser.get('/onboard');
  assert.equal(page.status, 200);
  return (username, email = '') =>
    browser.post('/oauth2/onboard', {
      ...hiddenFields(page.body),
      username,
      email,
      password: PASSWORD,
      confirm_password: PASSWORD,
    });
}

async function admins(app: TestApp): Promise<unknown[]> {
  const { body } = await app.admin('GET', '/users?limit=1000');
  assert.equal(body.data.total, body.data.items?.length);
  return (body.data.items ?? []).map(({ username }) => username);
}

async function assertClosed(app: TestApp): Promise<void> {
  for (const path of ['/', '/onboard', '/oauth2/onboard']) {
    // The bare address leads on (decision 0001).
    assert.equal((await new Agent(app).get(path)).status, path === '/' ? 303 : 404, path);
    const fields = { username: 'mallory', password: PASSWORD, confirm_password: PASSWORD, csrf: 'x' };
    assert.equal((await new Agent(app).post(path, fields)).status, 404, path);
  }
}

async function raceOn(store: Store, nameOf: (index: number) => string): Promise<void> {
  const [first, second] = [await startApp({ shared: store }), await startApp({ shared: store })];
  try {
    // Two processes' worth of it: each has its own memory of what it knows.
    const ready = await atOnce(PARALLEL, (index) => readyToOnboard(index % 2 === 0 ? first : second));
    const pages = await atOnce(PARALLEL, (index) => ready[index]?.(nameOf(index)) ?? Promise.reject());
    const winners = pages.filter(({ location }) => location?.endsWith('/admin'));
    assert.equal(winners.length, 1, `${winners.length} administrators`);
    for (const { status, location } of pages) if (location === undefined) assert.equal(status, 404);
    assert.equal((await admins(first)).length, 1);
    await assertClosed(first);
    await assertClosed(second);
  } finally {
    await first.stop();
    await second.stop();
  }

  const restarted = await startApp({ shared: store });
  try {
    await assertClosed(restarted);
    assert.equal((await admins(restarted)).length, 1);
  } finally {
    await restarted.stop();
  }
}

test(`race: ${PARALLEL} first administrators, ${ROUNDS} rounds: one, also after a restart`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = createMemoryStore({ clock: systemClock });
    await raceOn(store, (index) => `admin-${index}`);
    await store.close();
  }
});

test('race: first administrators of one name', async () => {
  const store = createMemoryStore({ clock: systemClock });
  await raceOn(store, () => 'admin');
  await store.close();
});

test('race: first administrators on a file that another process opens afterwards', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-race-'));
  t.after(() => rm(folder, { recursive: true }));
  const open = () =>
    createSqliteStore({
      file: join(folder, 'latchkey.db'),
      clock: systemClock,
      definitions: allCollections,
    });
  const store = open();
  await raceOn(store, (index) => `admin-${index}`);
  await store.close();

  const reopened = open();
  const app = await startApp({ shared: reopened });
  await assertClosed(app);
  await app.stop();
  await reopened.close();
});

test('onboarding: a page open before the first administrator existed is void afterwards', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const [early, late] = [await readyToOnboard(app), await readyToOnboard(app)];
  assert.equal((await early('alice')).status, 303);
  assert.equal((await late('mallory')).status, 404);
  assert.deepEqual(await admins(app), ['alice']);
});

test('onboarding: refused attempts leave no account behind', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const attempt = await readyToOnboard(app);
  assert.equal((await attempt('a')).status, 400);
  assert.equal((await attempt('alice', 'not-an-address')).status, 400);
  assert.deepEqual(await admins(app), []);
  assert.equal((await attempt('alice', 'alice@example.com')).status, 303);
});
