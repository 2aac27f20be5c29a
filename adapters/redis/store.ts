// Owns the Redis store: the ephemeral half of the storage port. Durable collections with queries live elsewhere.
import type { Clock } from '../../src/clock.ts';
import type { CollectionDefinition, Store } from '../../src/store/port.ts';
import { type Changes, createChanges } from './changes.ts';
import { createRedisCollection, type Family, familyOf, sweepFamily } from './collection.ts';
import { openRedisConnection, type RedisConnection, type RedisConnectionOptions } from './connection.ts';
import { refuseEviction, warnOfForgetting } from './settings.ts';

export interface RedisStoreOptions extends RedisConnectionOptions {
  readonly clock: Clock;
  /** What `sweep` cares for from the start; others join when they are asked for. */
  readonly definitions?: readonly CollectionDefinition<never>[] | undefined;
  /** Before all keys, so that several deployments may share one Redis. */
  readonly prefix?: string | undefined;
}

export interface RedisStore extends Store {
  /** How processes tell each other that settings or keys, wherever they are stored, have changed. */
  readonly changes: Changes;
}

/** @throws StoreUnavailable when Redis is not there, is not like the address says, or may evict keys */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const { clock, definitions = [], prefix = 'latchkey' } = options;
  const connection = await openRedisConnection(options);
  try {
    await refuseEviction(connection);
    if (options.log) await warnOfForgetting(connection, options.log);
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

  return {
    changes,

    collection({ name }) {
      throw new TypeError(`${name}: Redis has no queries, so a collection cannot be in it`);
    },

    ephemeral: (definition) =>
      createRedisCollection({ connection, clock, definition, family: register(definition.name) }),

    async sweep(limit) {
      let removed = 0;
      for (const family of families.values()) {
        removed += await sweepFamily(connection, family, clock(), limit - removed);
      }
      return removed;
    },

    // Whatever is stored here is read anew each time; what processes keep in memory has `changes`.
    stamp: () => undefined,

    async ping() {
      const masters = connection.masters();
      if (masters.length === 1) {
        await connection.run((client) => client.ping());
        return;
      }
      // In a cluster: whether the slot of each family is served.
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
