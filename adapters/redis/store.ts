// The Redis store: ephemeral collections only. Durable collections with queries are stored elsewhere (split.ts).
import type { Clock } from '../../src/clock.ts';
import type { CollectionDefinition, Store } from '../../src/store/port.ts';
import { gather, writeEach } from '../together.ts';
import { type Changes, createChanges } from './changes.ts';
import {
  createRedisCollection,
  type Family,
  familyOf,
  type PreparedWrite,
  preparationsOf,
  sweepFamily,
  writeAtOnce,
} from './collection.ts';
import { openRedisConnection, type RedisConnection, type RedisConnectionOptions } from './connection.ts';
import { refuseEviction, warnAboutDataLoss } from './settings.ts';

export interface RedisStoreOptions extends RedisConnectionOptions {
  readonly clock: Clock;
  /** Collections that `sweep` covers from the start; others are added when first used. */
  readonly definitions?: readonly CollectionDefinition<never>[] | undefined;
  /** Of all keys, so that several deployments can share one Redis. */
  readonly prefix?: string | undefined;
}

export interface RedisStore extends Store {
  /** Notifies other processes of changed settings or keys, wherever those are stored. */
  readonly changes: Changes;
}

/**
 * The release step: whether processes of this version could use it. Writes nothing.
 * @throws StoreUnavailable when Redis cannot be reached, does not match the address, or may evict keys
 */
export async function checkRedis(options: RedisConnectionOptions): Promise<void> {
  const connection = await openRedisConnection(options);
  try {
    await refuseEviction(connection);
    if (options.log) await warnAboutDataLoss(connection, options.log);
  } finally {
    await connection.close();
  }
}

/** @throws StoreUnavailable when Redis cannot be reached, does not match the address, or may evict keys */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const { clock, definitions = [], prefix = 'latchkey' } = options;
  const connection = await openRedisConnection(options);
  try {
    await refuseEviction(connection);
    if (options.log) await warnAboutDataLoss(connection, options.log);
    const changes = await createChanges(connection, prefix);
    return createStoreOn({ connection, clock, definitions, prefix, changes });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function createStoreOn(parts: {
  connection: RedisConnection;
  clock: Clock;
  definitions: readonly CollectionDefinition<never>[];
  prefix: string;
  changes: Awaited<ReturnType<typeof createChanges>>;
}): RedisStore {
  const { connection, clock, prefix, changes } = parts;
  const families = new Map<string, Family>();

  function register(name: string): Family {
    const family = families.get(name) ?? familyOf(prefix, name);
    families.set(name, family);
    return family;
  }
  for (const { name } of parts.definitions) register(name);

  const ephemeral: Store['ephemeral'] = (definition) =>
    createRedisCollection({ connection, clock, definition, family: register(definition.name) });

  return {
    changes,

    collection({ name }) {
      throw new TypeError(`${name}: Redis has no queries, so a collection cannot be in it`);
    },

    ephemeral,

    async writeTogether(fill) {
      // Each collection has its own slot.
      if (connection.isCluster) return writeEach(fill, ephemeral);
      const writes = gather<PreparedWrite>(fill, (definition) =>
        preparationsOf(definition, register(definition.name)),
      );
      await writeAtOnce({ connection, clock }, writes);
    },

    async sweep(limit) {
      let removed = 0;
      for (const family of families.values()) {
        removed += await sweepFamily(connection, family, clock(), limit - removed);
      }
      return removed;
    },

    // What is stored here is read anew each time; for cached data there is `changes`.
    stamp: () => undefined,

    ports: () => connection.ports(),

    async ping() {
      const masters = connection.masters();
      if (masters.length === 1) {
        await connection.run((client) => client.ping());
        return;
      }
      // In a cluster: whether the slot of every collection is served.
      await Promise.all(
        [...families.values()].map(({ expiries }) => connection.run((client) => client.exists(expiries))),
      );
    },

    async close() {
      await changes.stop();
      await connection.close();
    },
  };
}
