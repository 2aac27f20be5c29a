// The Redis store keeps the storage contract on a cluster of three masters, and its own rules there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRedisStore } from '../../adapters/redis/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import type { CollectionDefinition } from '../../src/store/port.ts';
import { isWithin } from '../support/patience.ts';
import { startRedisCluster, until } from '../support/redis-server.ts';
import { storeContract } from './contract.ts';
import { createRedisBackend, unavailableIn } from './redis-support.ts';

let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
before(async () => {
  cluster = await startRedisCluster();
});
after(() => cluster.stop());

storeContract(
  'redis cluster',
  async () => ({ ...(await createRedisBackend(cluster.url)), isInSteps: true }),
  { hasQuery: false },
);

const family = (name: string): CollectionDefinition<{ owner: string }> => ({
  name,
  durability: 'ephemeral',
  indexes: { owner: { key: ({ owner }) => owner } },
  fields: {},
});

test('Redis cluster: key families are spread over all masters', async (t) => {
  const names = allCollections.filter(({ durability }) => durability === 'ephemeral').map(({ name }) => name);
  const store = await createRedisStore({ url: cluster.url, clock: Date.now, prefix: 'spread' });
  t.after(() => store.close());
  for (const name of names) await store.ephemeral(family(name)).insert('a', { owner: 'ada' });
  const counts = await Promise.all(
    cluster.servers.map(
      async (server) => (await server.cli('keys', 'spread:*:d:*')).split('\n').filter(Boolean).length,
    ),
  );
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    names.length,
  );
  assert.ok(
    counts.every((count) => count > 0),
    String(counts),
  );
});

test('Redis cluster: one address of a member is enough', async (t) => {
  const [first] = cluster.servers;
  assert.ok(first);
  const store = await createRedisStore({ url: first.url, clock: Date.now, prefix: 'one-host' });
  t.after(() => store.close());
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await store.ephemeral(family(name)).insert('x', { owner: 'ada' });
    assert.equal((await store.ephemeral(family(name)).findBy('owner', 'ada')).length, 1);
  }
  // Whom else it names is known, too: none of their ports is ever called for an application.
  const ports = new Set(store.ports?.());
  for (const { port } of cluster.servers) assert.ok(ports.has(port), `${port} of ${[...ports]}`);
});

test('Redis cluster: a killed master’s families fail within two seconds and return with it', async (t) => {
  const [lost] = cluster.servers;
  assert.ok(lost);
  const store = await createRedisStore({ url: cluster.url, clock: Date.now, prefix: 'killed' });
  t.after(() => store.close());
  const all = Array.from({ length: 12 }, (_, n) => store.ephemeral(family(`family_${n}`)));
  for (const entries of all) await entries.insert('a', { owner: 'ada' });
  await lost.kill();
  const outcomes = await Promise.all(all.map((entries) => unavailableIn(() => entries.find('a'))));
  assert.ok(
    outcomes.some((ms) => ms !== undefined),
    'some family was there',
  );
  for (const ms of outcomes) assert.ok(ms === undefined || isWithin(ms, 2000), `${ms} ms`);
  await assert.rejects(store.ping());
  const returned = performance.now();
  await lost.start();
  await until(async () =>
    (await Promise.allSettled(all.map((entries) => entries.find('a')))).every(
      (outcome) => outcome.status === 'fulfilled' && outcome.value?.value.owner === 'ada',
    ),
  );
  t.diagnostic(
    `all families back ${Math.round(performance.now() - returned)} ms after the start of the master`,
  );
  await store.ping();
});
