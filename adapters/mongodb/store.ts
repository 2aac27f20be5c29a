// The MongoDB store: one client in each process, any number of processes. It works with single nodes, replica sets and
// `mongodb+srv`, since it needs neither transactions nor change streams.
import type { Collection as DriverCollection } from 'mongodb';
import type { Clock } from '../../src/clock.ts';
import type { Collection, CollectionDefinition, Store } from '../../src/store/port.ts';
import { checkNames } from '../document.ts';
import { writeEach } from '../together.ts';
import { createMongoCollection } from './collection.ts';
import { type ConnectionOptions, openConnection, toOutcome } from './connection.ts';
import { isExpiredAt, type Row } from './document.ts';
import { checkCollections, prepareCollections } from './schema.ts';

export interface MongoStoreOptions extends ConnectionOptions {
  readonly clock: Clock;
  /** Collections whose indexes are checked now; others are checked when first used. */
  readonly definitions?: readonly CollectionDefinition<never>[] | undefined;
  /** Up to this size a query without filters counts exactly; above, it uses MongoDB's estimate. */
  readonly countUpTo?: number | undefined;
}

const COUNT_UP_TO = 100_000;

const SWEEP_TIMEOUT_MS = 10_000;

/**
 * The release step: creates what this version needs, however long it takes.
 * @throws StoreUnavailable when the server cannot be reached, or documents share a key that must be unique
 */
export async function prepareMongo(
  options: Omit<MongoStoreOptions, 'timeoutMs' | 'countUpTo'>,
): Promise<void> {
  const { clock, definitions = [], ...where } = options;
  // No socket timeout: building an index may take long.
  const connection = await openConnection(where, { socketTimeoutMS: 0 });
  try {
    await prepareCollections(connection.db, definitions, clock());
  } finally {
    await connection.close();
  }
}

/** @throws StoreUnavailable when no primary responds in time, or a collection with documents lacks indexes */
export async function createMongoStore(options: MongoStoreOptions): Promise<Store> {
  const { clock, definitions = [], countUpTo = COUNT_UP_TO, ...where } = options;
  const connection = await openConnection(where);
  const { db } = connection;
  /** The index check of each collection, done once. */
  const checks = new Map<string, Promise<void>>();
  /** Collections that the sweeper visits: all that were declared or used. */
  const swept = new Map<string, DriverCollection<Row>>();

  function check(definition: CollectionDefinition<never>): Promise<void> {
    const known = checks.get(definition.name);
    if (known) return known;
    const checking = checkCollections(db, [definition], clock());
    checks.set(definition.name, checking);
    // Retry after a failure: the server may be back.
    checking.catch(() => checks.delete(definition.name));
    return checking;
  }

  function collection<T>(definition: CollectionDefinition<T>): Collection<T> {
    checkNames(definition);
    const rows = db.collection<Row>(definition.name);
    swept.set(definition.name, rows);
    const ready = (): Promise<void> => check(definition);
    return createMongoCollection({ connection, rows, clock, definition, ready, countUpTo });
  }

  async function sweepCollection(rows: DriverCollection<Row>, limit: number): Promise<number> {
    const expired = isExpiredAt(clock());
    const found = await rows
      .find(expired, { projection: { _id: 1 } })
      .limit(limit)
      .toArray();
    if (found.length === 0) return 0;
    const ids = found.map(({ _id }) => _id);
    const { deletedCount } = await rows.deleteMany({ _id: { $in: ids }, ...expired });
    return deletedCount;
  }

  try {
    await checkCollections(db, definitions, clock());
  } catch (error) {
    await connection.close();
    throw toOutcome(error);
  }
  for (const definition of definitions) {
    checks.set(definition.name, Promise.resolve());
    swept.set(definition.name, db.collection<Row>(definition.name));
  }

  return {
    collection,
    ephemeral: collection,

    writeTogether: async (fill) => writeEach(fill, collection),

    sweep(limit) {
      return connection.run(async () => {
        let removed = 0;
        for (const rows of swept.values()) {
          if (removed < limit) removed += await sweepCollection(rows, limit - removed);
        }
        return removed;
      }, SWEEP_TIMEOUT_MS);
    },

    // Unknown without a round trip.
    stamp: () => undefined,

    ports: () => connection.ports(),

    async ping() {
      await connection.run(() => db.command({ ping: 1 }));
    },

    close: () => connection.close(),
  };
}
