// Rotation of signing keys: what is published when, which key signs, and that any number of processes take each step once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createKeyring } from '../../src/keys/keyring.ts';
import { generateRsaKey } from '../../src/keys/rsa-key.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import {
  createSigningKeys,
  type KeySet,
  PUBLISH_AHEAD_MS,
  type SigningKeys,
} from '../../src/keys/signing-keys.ts';
import { signingKeys } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';

const DAY = 86_400;
const secretKey = 'a-secret-key-of-the-tests-000000000000000000';
// Generating is not the point here, and takes its time.
const pool = await Promise.all(Array.from({ length: 6 }, generateRsaKey));

function world() {
  const time = { now: 1_800_000_000_000 };
  const activated: string[] = [];
  let generated = 0;
  const collection = createMemoryStore({ clock: () => time.now }).collection(signingKeys);
  const create = (through = collection): SigningKeys =>
    createSigningKeys({
      collection: through,
      sealer: createSealer([secretKey]),
      clock: () => time.now,
      generate: async () => {
        generated += 1;
        return pool[(generated - 1) % pool.length] ?? {};
      },
      onActivated: (kid) => activated.push(kid),
    });
  return { time, collection, create, activated };
}

const ofAlg = ({ all }: KeySet, alg: string): string[] =>
  all.filter((jwk) => jwk.alg === alg).map(({ kid }) => kid);
const kids = (set: KeySet): string[] => ofAlg(set, 'RS256');
const companions = (set: KeySet): string[] => ofAlg(set, 'ES256');
const states = async (keys: SigningKeys, alg = 'RS256'): Promise<string[]> =>
  (await keys.list()).filter((key) => key.alg === alg).map(({ state }) => state);

test('gradual rotation: published first, signs after 15 minutes, old key kept for its tokens', async () => {
  const { create, time, activated } = world();
  const keys = create();
  const first = await keys.load();
  await keys.rotate('gradual');
  assert.deepEqual(await states(keys), ['next', 'current']);
  const shown = await keys.load();
  assert.equal(shown.current.kid, first.current.kid);
  assert.equal(kids(shown).length, 2);
  assert.equal(shown.changesAt, time.now + PUBLISH_AHEAD_MS);

  time.now += PUBLISH_AHEAD_MS - 1;
  assert.equal((await keys.load()).current.kid, first.current.kid);
  time.now += 1;
  const second = await keys.load();
  assert.equal(second.current.kid, kids(shown)[1]);
  assert.deepEqual(kids(second), [second.current.kid, first.current.kid]);
  assert.deepEqual(await states(keys), ['current', 'retired']);
  assert.deepEqual(activated, [second.current.kid]);

  // No token may be valid for longer than a day.
  time.now += DAY * 1000;
  assert.ok(kids(await keys.load()).includes(first.current.kid));
  time.now += 61_000;
  assert.deepEqual(kids(await keys.load()), [second.current.kid]);
  assert.deepEqual(await states(keys), ['current']);
});

test('ES256: its key is shown, signs, retires and goes with the RS256 key beside it', async () => {
  const { create, time } = world();
  const keys = create();
  const first = await keys.load();
  assert.deepEqual(companions(first), [first.currentEs256.kid]);
  await keys.rotate('gradual');
  const shown = await keys.load();
  assert.equal(shown.currentEs256.kid, first.currentEs256.kid);
  assert.equal(companions(shown).length, 2);
  assert.deepEqual(
    shown.all.map(({ kty }) => kty),
    ['RSA', 'RSA', 'EC', 'EC'],
  );
  time.now += PUBLISH_AHEAD_MS;
  const second = await keys.load();
  assert.equal(second.currentEs256.kid, companions(shown)[1]);
  assert.deepEqual(companions(second), [second.currentEs256.kid, first.currentEs256.kid]);
  assert.deepEqual(await states(keys, 'ES256'), ['current', 'retired']);
  await keys.rotate('compromised');
  const third = await keys.load();
  assert.deepEqual(companions(third), [third.currentEs256.kid, first.currentEs256.kid]);
  time.now += (DAY + 61) * 1000;
  assert.deepEqual(companions(await keys.load()), [third.currentEs256.kid]);
});

test('ES256: a key of an earlier version gets one key beside it, whichever process is first', async () => {
  const { create, collection, time } = world();
  const first = await create().load();
  await create().rotate('gradual');
  for (const { id, version, value } of (await collection.query({ sort: 'id', order: 'asc', limit: 10 }))
    .items) {
    const { es256: _, ...before } = value;
    await collection.replace(id, version, before);
  }
  const sets = await Promise.all(Array.from({ length: 10 }, () => create().load()));
  assert.equal(new Set(sets.map(({ all }) => JSON.stringify(all))).size, 1);
  const [now] = sets;
  assert.ok(now);
  assert.equal(now.current.kid, first.current.kid);
  assert.equal(companions(now).length, 2);
  assert.notEqual(now.currentEs256.kid, first.currentEs256.kid);
  time.now += PUBLISH_AHEAD_MS;
  assert.equal((await create().load()).currentEs256.kid, companions(now)[1]);
});

test('rotation: a second request during one creates no second new key', async () => {
  const { create, time } = world();
  const keys = create();
  await keys.load();
  await keys.rotate('gradual');
  const [next] = await keys.list();
  time.now += 60_000;
  await keys.rotate('gradual');
  assert.deepEqual((await keys.list())[0], next);
  await keys.rotate('immediate');
  assert.deepEqual(await states(keys), ['current', 'retired']);
});

test('immediate rotation: signs within seconds, never before every process knows the key', async () => {
  const { create, time } = world();
  const keys = create();
  const first = await keys.load();
  await keys.rotate('immediate');
  assert.equal((await keys.load()).current.kid, first.current.kid);
  time.now += 1500;
  assert.equal((await keys.load()).current.kid, first.current.kid);
  time.now += 1500;
  assert.notEqual((await keys.load()).current.kid, first.current.kid);
});

test('compromised key: removed at once, also with a next key waiting', async () => {
  for (const isWaiting of [false, true]) {
    const { create } = world();
    const keys = create();
    const first = await keys.load();
    if (isWaiting) await keys.rotate('gradual');
    await keys.rotate('compromised');
    const after = await keys.load();
    assert.notEqual(after.current.kid, first.current.kid);
    assert.deepEqual(kids(after), [after.current.kid]);
  }
});

test('compromised key: with the next one due just then, only the previous signer ends', async () => {
  const { create, time } = world();
  const keys = create();
  const first = await keys.load();
  await keys.rotate('gradual');
  const [next] = await keys.list();
  time.now += 20 * 60_000;
  await keys.rotate('compromised');
  const after = await keys.load();
  assert.deepEqual([after.current.kid, kids(after)], [next?.kid, [next?.kid]]);
  assert.ok(!kids(after).includes(first.current.kid));
});

test('compromised key: a retry after a failed write at any point ends the same key', async () => {
  for (const hasHappened of [false, true]) {
    for (let fatal = 1; fatal <= 5; fatal += 1) {
      const { create, collection } = world();
      const first = await create().load();
      let writes = 0;
      /** The store goes away at one of the writes: before it was done, or before that was said. */
      const orGone = async <R>(write: () => Promise<R>): Promise<R> => {
        writes += 1;
        if (writes !== fatal) return write();
        if (hasHappened) await write();
        throw new StoreUnavailable('away');
      };
      const keys = create({
        ...collection,
        insert: (...args) => orGone(() => collection.insert(...args)),
        replace: (...args) => orGone(() => collection.replace(...args)),
      });
      await keys.rotate('compromised').catch((error) => assert.ok(error instanceof StoreUnavailable));
      if (writes >= fatal) await keys.rotate('compromised');
      const shown = kids(await keys.load());
      assert.ok(!shown.includes(first.current.kid), `write ${fatal}, ${hasHappened ? 'done' : 'not done'}`);
    }
  }
});

test('scheduled rotation: published ahead, activated on time, repeated; 0 disables it', async () => {
  const { create, time } = world();
  const keys = create();
  const first = await keys.load();
  assert.deepEqual(await keys.advance(0), { published: 0, activated: 0 });
  time.now += 90 * DAY * 1000 - PUBLISH_AHEAD_MS - 1;
  assert.deepEqual(await keys.advance(0), { published: 0, activated: 0 });
  assert.deepEqual(await keys.advance(90 * DAY), { published: 0, activated: 0 });
  time.now += 1;
  assert.deepEqual(await keys.advance(90 * DAY), { published: 1, activated: 0 });
  assert.deepEqual(await keys.advance(90 * DAY), { published: 0, activated: 0 });
  time.now += PUBLISH_AHEAD_MS;
  assert.deepEqual(await keys.advance(90 * DAY), { published: 0, activated: 1 });
  assert.notEqual((await keys.load()).current.kid, first.current.kid);
  time.now += 365 * DAY * 1000;
  // Long overdue, as after a long rest: still shown before it signs.
  assert.deepEqual(await keys.advance(90 * DAY), { published: 1, activated: 0 });
  assert.deepEqual(await states(keys), ['next', 'current']);
});

test('rotation: ten processes at the same step take it once', async () => {
  const { create, time, activated, collection } = world();
  const many = Array.from({ length: 10 }, () => create());
  await Promise.all(many.map((keys) => keys.load()));
  await Promise.all(many.map((keys) => keys.rotate('gradual')));
  assert.deepEqual(await states(create()), ['next', 'current']);
  time.now += PUBLISH_AHEAD_MS;
  const sets = await Promise.all(many.map((keys) => keys.load()));
  assert.equal(new Set(sets.map(({ current }) => current.kid)).size, 1);
  assert.equal(activated.length, 1);
  assert.equal((await collection.query({ sort: 'id', order: 'asc', limit: 10 })).total, 2);
});

test('rotation: completed after a crash between retiring the old key and activating the new', async () => {
  const { create, collection, time } = world();
  const keys = create();
  const first = await keys.load();
  await keys.rotate('gradual');
  const stored = await collection.find(first.current.kid);
  assert.ok(stored);
  await collection.replace(stored.id, stored.version, {
    ...stored.value,
    state: 'retired',
    retiredAt: time.now,
  });
  const sets = await Promise.all([create().load(), create().load()]);
  assert.notEqual(sets[0]?.current.kid, first.current.kid);
  assert.equal(sets[0]?.current.kid, sets[1]?.current.kid);
});

test('keyring: at most two reads a second, takes due steps, keeps keys during a store outage', async () => {
  const { create, time } = world();
  const keys = create();
  let reads = 0;
  let isAway = false;
  let stamp: number | undefined;
  const used: string[] = [];
  const problems: unknown[] = [];
  const ring = createKeyring({
    keys: {
      load: async () => {
        reads += 1;
        if (isAway) throw new StoreUnavailable('away');
        return keys.load();
      },
    },
    first: await keys.load(),
    use: async ({ current }) => void used.push(current.kid),
    stamp: () => stamp,
    clock: () => time.now,
    onProblem: (error) => problems.push(error),
  });
  for (let n = 0; n < 100; n += 1) {
    await ring.ready();
    time.now += 10;
  }
  assert.ok(reads <= 2, `${reads} reads in a second`);
  await keys.rotate('gradual');
  time.now += 500;
  await ring.ready();
  assert.equal(used.length, 1);

  // With a stamp that says "nothing new" there is nothing to read but what was announced before.
  stamp = 1;
  time.now += 500;
  await ring.ready();
  reads = 0;
  time.now += 60_000;
  await ring.ready();
  assert.equal(reads, 0);
  time.now += PUBLISH_AHEAD_MS;
  await ring.ready();
  assert.deepEqual([used.length, used[1]], [2, (await keys.load()).current.kid]);

  stamp = undefined;
  isAway = true;
  time.now += 500;
  await ring.ready();
  assert.ok(problems[0] instanceof StoreUnavailable);
  time.now += 500;
  assert.equal(ring.ready(), undefined, 'nobody waits for a store that is away');
  await assert.rejects(ring.reload(), StoreUnavailable);
  isAway = false;
  await ring.reload();
  assert.equal(used.length, 2);
});

test('keyring: a notified change that could not be read is read again as soon as allowed', async () => {
  const { create, time } = world();
  const keys = create();
  let isAway = true;
  let stamp = 1;
  const used: string[] = [];
  const ring = createKeyring({
    keys: { load: async () => (isAway ? Promise.reject(new StoreUnavailable('away')) : keys.load()) },
    first: await keys.load(),
    use: async ({ current }) => void used.push(current.kid),
    stamp: () => stamp,
    clock: () => time.now,
    onProblem: () => undefined,
  });
  await keys.rotate('compromised');
  stamp = 2;
  time.now += 500;
  await ring.ready();
  isAway = false;
  time.now += 500;
  // No one waits for it after a look in vain; opening the key takes a moment.
  ring.ready();
  for (let waited = 0; used.length === 0 && waited < 30_000; waited += 5) await sleep(5);
  assert.deepEqual(used, [(await keys.load()).current.kid]);
});
