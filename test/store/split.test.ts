// A store over two backends puts each collection in its place and acts for both. Here both halves are reference stores;
// test/flows-on/split.test.ts runs the product on the real ones.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSplitStore } from '../../adapters/split.ts';
import * as model from '../../src/store/collections.ts';
import { type Store, StoreUnavailable, VersionConflict } from '../../src/store/port.ts';
import * as protocol from '../../src/store/protocol-collections.ts';
import { storeContract } from './contract.ts';

storeContract('split', async () => {
  let now = 1_800_000_000_000;
  const clock = (): number => now;
  const store = createSplitStore({
    durable: { name: 'mongodb', store: createMemoryStore({ clock }) },
    ephemeral: { name: 'redis', store: createMemoryStore({ clock }) },
    clock,
  });
  return {
    store,
    now: clock,
    advance(ms) {
      now += ms;
    },
    isInSteps: true,
    close: () => store.close(),
  };
});

const fact = { at: 1, value: 'yes' };
const payload = { accountId: 'a', jti: 'x' };

describe('split store', () => {
  let durable: Store;
  let ephemeral: Store;
  let store: Store;
  let announcements: number;
  let heard: number | undefined;
  let now: number;
  beforeEach(() => {
    now = 1_000_000;
    announcements = 0;
    heard = 0;
    durable = createMemoryStore({ clock: () => now });
    ephemeral = createMemoryStore({ clock: () => now });
    store = createSplitStore({
      durable: { name: 'mongodb', store: durable },
      ephemeral: { name: 'redis', store: ephemeral },
      clock: () => now,
      changes: {
        announce: () => {
          announcements += 1;
        },
        stamp: () => heard,
      },
      announced: [model.settings.name],
    });
  });

  test('a collection is stored where its definition says, however accessed', async () => {
    await store.collection(model.facts).insert('installed', fact);
    await store.ephemeral(protocol.grants).insert('grant', payload);
    await store.ephemeral(protocol.accessTokens).insert('token', payload, { expiresAt: now + 10 });
    assert.deepEqual((await durable.collection(model.facts).find('installed'))?.value, fact);
    assert.deepEqual((await durable.collection(protocol.grants).find('grant'))?.value, payload);
    assert.deepEqual((await ephemeral.ephemeral(protocol.accessTokens).find('token'))?.value, payload);
    assert.equal(await ephemeral.ephemeral(protocol.grants).find('grant'), undefined);
    assert.equal(await durable.collection(protocol.accessTokens).find('token'), undefined);
    assert.throws(() => store.collection(protocol.accessTokens), TypeError);
  });

  test('sweep covers both halves, up to the given number', async () => {
    for (let n = 0; n < 3; n += 1) {
      await store.collection(model.links).insert(`${n}`, linkRecord, { expiresAt: now + 1 });
      await store.ephemeral(model.rates).insert(`${n}`, { points: 1 }, { expiresAt: now + 1 });
    }
    now += 1;
    assert.deepEqual([await store.sweep(2), await store.sweep(2), await store.sweep(2)], [2, 2, 2]);
    assert.equal(await store.sweep(2), 0);
  });

  test('ping names every half that does not respond', async () => {
    await store.ping();
    await ephemeral.close();
    const isDown = (names: readonly string[]) => (error: unknown) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.deepEqual(error.down, names);
      return true;
    };
    await assert.rejects(store.ping(), isDown(['redis']));
    await durable.close();
    await assert.rejects(store.ping(), isDown(['mongodb', 'redis']));
  });

  test('close closes both halves, even if one fails', async () => {
    const stuck = { ...ephemeral, close: () => Promise.reject(new Error('stuck')) };
    const half = createSplitStore({
      durable: { name: 'mongodb', store: durable },
      ephemeral: { name: 'redis', store: stuck },
      clock: () => now,
    });
    await assert.rejects(half.close(), /stuck/);
    await assert.rejects(durable.ping(), StoreUnavailable);
  });

  test('writes to data cached by processes are announced, others are not', async () => {
    const settings = store.collection(model.settings);
    const record = { values: {}, updatedAt: 1, updatedBy: 'test' };
    await settings.put('current', record);
    await settings.replace('current', 1, record);
    assert.equal(announcements, 2);
    // It may have been written before it failed: others look once too often rather than once too little.
    await assert.rejects(settings.replace('current', 1, record), VersionConflict);
    assert.equal(announcements, 3);
    await settings.remove('current');
    await settings.find('current');
    await store.collection(model.facts).insert('installed', fact);
    assert.equal(announcements, 4);
  });

  test('writes together in both halves: the first half decides, and its failure leaves nothing', async () => {
    const tokens = store.ephemeral(protocol.refreshTokens);
    await tokens.insert('old', payload);
    const rotate = (of: Store, version: number): Promise<void> =>
      of.writeTogether((writes) => {
        writes.to(protocol.refreshTokens).replace('old', version, { ...payload, consumed: 1 });
        writes.to(protocol.accessTokens).insert(`of ${version}`, payload, { expiresAt: now + 10 });
      });
    await assert.rejects(rotate(store, 2), VersionConflict);
    assert.equal(await store.ephemeral(protocol.accessTokens).find('of 2'), undefined);
    // Forbidden first: a half that fails then leaves the token used, and nothing that could be used.
    const failing = createSplitStore({
      durable: { name: 'mongodb', store: durable },
      ephemeral: {
        name: 'redis',
        store: { ...ephemeral, writeTogether: () => Promise.reject(new StoreUnavailable('down')) },
      },
      clock: () => now,
    });
    await assert.rejects(rotate(failing, 1), StoreUnavailable);
    assert.equal((await tokens.find('old'))?.value.consumed, 1);
  });

  test('writes together to data cached by processes are announced', async () => {
    const record = { values: {}, updatedAt: 1, updatedBy: 'test' };
    await store.writeTogether((writes) => writes.to(model.settings).insert('current', record));
    assert.equal(announcements, 1);
  });

  test('stamp changes with every announcement, and every few seconds without one', () => {
    const first = store.stamp();
    assert.equal(store.stamp(), first);
    heard = 1;
    assert.notEqual(store.stamp(), first);
    heard = 0;
    now += 5_000;
    assert.notEqual(store.stamp(), first);
    heard = undefined;
    assert.equal(store.stamp(), undefined);
  });
});

const linkRecord = {
  accountId: 'a',
  purpose: 'magic_link',
  email: 'a@example.com',
  createdAt: 1,
  securityState: 'x',
} as const;
