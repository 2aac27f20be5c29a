// Limits are shared by all processes, become stricter when the store cannot count, and need little space.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { AppError } from '../../src/errors.ts';
import { createLogger } from '../../src/log.ts';
import { limitSettings } from '../../src/model/settings/limits.ts';
import { createLocalCounter, createStoredCounter } from '../../src/rate-limits/counter.ts';
import { networkOf } from '../../src/rate-limits/key.ts';
import { createPointLeases } from '../../src/rate-limits/lease.ts';
import { createRateLimits, keyFor, type RateSettings } from '../../src/rate-limits/limits.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { rates } from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { breakable } from '../support/broken-store.ts';

const folder = await mkdtemp(join(tmpdir(), 'latchkey-rates-'));
after(() => rm(folder, { recursive: true, force: true }));

let files = 0;
/** Two connections to one file, as two processes have them. */
function twoStores(clock: () => number): [Store, Store] {
  files += 1;
  const file = join(folder, `${files}.db`);
  const open = (): Store => createSqliteStore({ file, clock, definitions: allCollections });
  return [open(), open()];
}

const defaults = Object.fromEntries(
  Object.entries(limitSettings).map(([name, { absent }]) => [name, absent]),
) as RateSettings; // the same names, and numbers all of them

const guess = (app: TestApp): Promise<Response> =>
  fetch(`${app.url}/admin/api/users`, { headers: { authorization: 'Bearer wrong' } });

test('limits: two processes on one store allow as much as one', async () => {
  const [one, other] = twoStores(Date.now);
  const first = await startApp({ shared: one, limits: 'shipped' });
  const second = await startApp({ shared: other, limits: 'shipped' });
  try {
    await first.admin('PATCH', '/settings', { limit_admin_failures_ip: 6 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => guess(index % 2 === 0 ? first : second)),
    );
    assert.equal(answers.filter(({ status }) => status === 401).length, 6);
    assert.equal(answers.filter(({ status }) => status === 429).length, 14);
  } finally {
    await first.stop();
    await second.stop();
    await Promise.all([one.close(), other.close()]);
  }
});

test('limits: survive a restart', async () => {
  const [one, other] = twoStores(Date.now);
  const first = await startApp({ shared: one, limits: 'shipped' });
  await first.admin('PATCH', '/settings', { limit_admin_failures_ip: 2 });
  assert.deepEqual([(await guess(first)).status, (await guess(first)).status], [401, 401]);
  await first.stop();
  const second = await startApp({ shared: other, limits: 'shipped' });
  try {
    assert.equal((await guess(second)).status, 429);
  } finally {
    await second.stop();
    await Promise.all([one.close(), other.close()]);
  }
});

test('attack: with the limit store down a fifth of the limit remains', async () => {
  const inner = createMemoryStore({ clock: Date.now });
  const { store, broken } = breakable(inner);
  const app = await startApp({ shared: store, limits: 'shipped' });
  try {
    await app.admin('PATCH', '/settings', { limit_admin_failures_ip: 20 });
    broken.add('rates');
    const all: number[] = [];
    for (let index = 0; index < 12; index += 1) all.push((await guess(app)).status);
    assert.deepEqual(all.filter((status) => status === 401).length, 4, `in all ${all.join(' ')}`);
    assert.ok(all.slice(4).every((status) => status === 429));
    const lines = app.logged.filter((line) => line.includes('cannot be counted in the store'));
    assert.equal(lines.length, 1, 'said once, not with every request');
    broken.clear();
    // No one stays locked out by what this process counted alone.
    app.advance(1500);
    assert.equal((await guess(app)).status, 401);
  } finally {
    await app.stop();
    await inner.close();
  }
});

test('limits: parallel counting over two connections spends no point twice', async () => {
  const stores = twoStores(Date.now);
  const counters = stores.map((store) =>
    createStoredCounter({ collection: store.ephemeral(rates), clock: Date.now }),
  );
  const counted = await Promise.all(
    Array.from({ length: 120 }, async (_, index) => counters[index % 2]?.add('k:1', 1, 40, 60_000)),
  );
  assert.equal(counted.filter((one) => (one?.points ?? 41) <= 40).length, 40);
  assert.equal((await stores[0].ephemeral(rates).find('k:1'))?.value.points, 40);
  await Promise.all(stores.map((store) => store.close()));
});

function createWorld(settings: Partial<RateSettings> = {}) {
  const world = { now: 1_000_000 };
  const clock = (): number => world.now;
  const store = createMemoryStore({ clock });
  const calls: string[] = [];
  const collection = store.ephemeral(rates);
  const observed = new Proxy(collection, {
    get(target, method, receiver) {
      const member: unknown = Reflect.get(target, method, receiver);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) => {
        calls.push(String(method));
        return Reflect.apply(member, target, parameters);
      };
    },
  });
  const limits = createRateLimits({
    collection: observed,
    clock,
    settings: () => ({ ...defaults, ...settings }),
    log: createLogger({ level: 'silent' }),
  });
  return { world, store, collection, limits, calls };
}

test('limits: ordinary traffic takes points in portions, without a store call each', async () => {
  const { limits, calls } = createWorld();
  for (let index = 0; index < 1000; index += 1) {
    (await limits.consume('token_ip', '192.0.2.1')).giveBack();
  }
  assert.deepEqual(calls, ['insert']);
});

test('limits: lowering one does not lock out because of portions taken earlier', async () => {
  const settings = { limit_admin_failures_ip: 1_000_000 };
  const { limits } = createWorld(settings);
  (await limits.consume('admin_failures_ip', '192.0.2.1')).giveBack();
  settings.limit_admin_failures_ip = 1;
  assert.equal(await limits.isWithin('admin_failures_ip', '192.0.2.1'), true);
  assert.equal(await limits.isWithin('admin_failures_ip', '192.0.2.1'), false);
});

test('limits: portions never exceed the limit', async () => {
  const { limits, world } = createWorld({ limit_token_ip: 500 });
  const takeAll = async (): Promise<number> => {
    let granted = 0;
    while (await limits.isWithin('token_ip', '192.0.2.1')) granted += 1;
    return granted;
  };
  assert.equal(await takeAll(), 500);
  world.now += 599_999;
  assert.equal(await takeAll(), 0);
  world.now += 1;
  assert.equal(await takeAll(), 500);
});

test('limits: returned twice counts once, returned after the window not at all', async () => {
  const { limits, world } = createWorld({ limit_mfa_ip: 2 });
  const charge = await limits.consume('mfa_ip', '192.0.2.1');
  charge.giveBack();
  charge.giveBack();
  assert.equal(await limits.isWithin('mfa_ip', '192.0.2.1'), true);
  const late = await limits.consume('mfa_ip', '192.0.2.1');
  assert.equal(await limits.isWithin('mfa_ip', '192.0.2.1'), false);
  world.now += 600_000;
  assert.equal(await limits.isWithin('mfa_ip', '192.0.2.1'), true);
  late.giveBack();
  assert.equal(await limits.isWithin('mfa_ip', '192.0.2.1'), true);
  assert.equal(await limits.isWithin('mfa_ip', '192.0.2.1'), false);
});

test('mail limit: five of a kind to one address in an hour, per address (R095)', async () => {
  const { limits } = createWorld();
  const sent = async (to: string): Promise<boolean> => limits.isWithin('mail_address', to);
  for (let time = 0; time < 5; time += 1) assert.equal(await sent('a@x.example'), true);
  assert.equal(await sent('a@x.example'), false);
  assert.equal(await sent('b@x.example'), true);
});

test('limits: a refusal says when to retry', async () => {
  const { limits, world } = createWorld({ limit_register_ip: 1 });
  await limits.consume('register_ip', '192.0.2.1');
  world.now += 1_000_500;
  await assert.rejects(limits.consume('register_ip', '192.0.2.1'), (error: unknown) => {
    assert.ok(error instanceof AppError);
    assert.deepEqual(
      [error.code, error.status, error.retryAfterSeconds],
      ['request.rate_limited', 429, 2600],
    );
    return true;
  });
});

test('attack: long and many names; records stay short and expire', async () => {
  const { limits, world, store, collection } = createWorld();
  const longName = 'x'.repeat(100_000);
  await limits.consume('login_account_ip', keyFor(longName, '192.0.2.1'));
  await limits.consume('mail_address', longName);
  const ids: string[] = [];
  const stored = createMemoryStore({ clock: () => world.now }).ephemeral(rates);
  const spied = new Proxy(stored, {
    get(target, method, receiver) {
      const member: unknown = Reflect.get(target, method, receiver);
      if (typeof member !== 'function') return member;
      return (id: string, ...rest: unknown[]) => {
        ids.push(id);
        return Reflect.apply(member, target, [id, ...rest]);
      };
    },
  });
  const other = createRateLimits({
    collection: spied,
    clock: () => world.now,
    settings: () => defaults,
    log: createLogger({ level: 'silent' }),
  });
  await other.consume('mail_address', longName);
  await other.consume('login_ip', '2001:db8::1');
  assert.deepEqual(ids.length, 2);
  for (const id of ids) assert.ok(id.length <= 64, id);
  for (let index = 0; index < 300; index += 1)
    await limits.consume('login_ip', `192.0.${index % 256}.${index >> 8}`);
  world.now += 3_600_000;
  assert.ok((await store.sweep(10_000)) >= 302);
  assert.equal(await collection.find(`login_ip:${defaults.limit_login_ip}:192.0.1.0`), undefined);
});

test('attack: more networks than the process remembers; it forgets, and limits stay', async () => {
  const clock = (): number => 0;
  const local = createLocalCounter({ clock, maxKeys: 100 });
  const granted = async (key: string): Promise<boolean> => (await local.add(key, 1, 5, 1000)).points <= 5;
  for (let index = 0; index < 100; index += 1) assert.equal(await granted(`k:${index}`), true);
  const crowd: boolean[] = [];
  for (let index = 100; index < 120; index += 1) crowd.push(await granted(`k:${index}`));
  assert.equal(crowd.filter(Boolean).length, 5, 'the crowd shares one limit');
  assert.equal(await granted('k:1'), true, 'who was there before keeps their own');

  const leases = createPointLeases({ clock, maxPools: 10 });
  let taken = 0;
  const take = async (points: number) => {
    taken += points;
    return { isGranted: true, isInsured: false, until: 1000 };
  };
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 20; index += 1) await leases.takeOne(`k:${index}`, 10, take);
  }
  assert.equal(taken, 60, 'what was forgotten is taken from the shared limit again');
});

test('network: an IPv4 address or an IPv6 /64 in any spelling', () => {
  const cases: Readonly<Record<string, string>> = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:c000:201': '192.0.2.1',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:DB8:0:0:ffff::': '2001:db8:0:0::/64',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8:0:1::': '2001:db8:0:1::/64',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    'fe80::1%eth0': 'unknown',
    '': 'unknown',
    a: 'unknown',
    '1.2.3': 'unknown',
  };
  for (const [address, network] of Object.entries(cases)) assert.equal(networkOf(address), network, address);
});
