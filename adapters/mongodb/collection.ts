// Reads and writes one collection's documents. Every write is one operation on one document whose filter contains what must
// hold (version, expiry), so no transaction is needed.
import type { Collection as DriverCollection, Filter } from 'mongodb';
import type { Clock } from '../../src/clock.ts';
import {
  AlreadyExists,
  type Collection,
  type CollectionDefinition,
  StoreUnavailable,
  VersionConflict,
} from '../../src/store/port.ts';
import {
  checkExpiry,
  checkIndex,
  checkQuery,
  type Document,
  isLive,
  keysIn,
  toDocument,
} from '../document.ts';
import { type Connection, clashingIndex } from './connection.ts';
import {
  byId,
  expiryOf,
  fromRow,
  hasKey,
  isExpiredAt,
  isLiveAt,
  type Row,
  readProjection,
  toRow,
  toStored,
  toUpdate,
} from './document.ts';
import { runQuery } from './query.ts';
import { uniqueIndexOf } from './schema.ts';

export interface CollectionDeps<T> {
  readonly connection: Connection;
  readonly rows: DriverCollection<Row>;
  readonly clock: Clock;
  readonly definition: CollectionDefinition<T>;
  /** Resolves when the collection's indexes exist. */
  readonly ready: () => Promise<void>;
  /** See runQuery. */
  readonly countUpTo: number;
}

// The server stops an operation whose caller has timed out.
const options = { maxTimeMS: 1_200 } as const;
// Each round means that another writer was faster, so the loop ends; the bound turns a bug into an error.
const MAX_ROUNDS = 1_000;
// MongoDB's name of the index over ids.
const ID = '_id_';

export function createMongoCollection<T>(deps: CollectionDeps<T>): Collection<T> {
  const { connection, rows, clock, definition, ready, countUpTo } = deps;
  const { name } = definition;

  /** Reads wait for the indexes but need no order among themselves. */
  const read = <R>(act: () => Promise<R>): Promise<R> =>
    connection.run(async () => {
      await ready();
      return act();
    });

  const write = <R>(id: string, act: () => Promise<R>): Promise<R> =>
    connection.write(`${name}/${id}`, async () => {
      await ready();
      return act();
    });

  /** @returns whether `row` is live now */
  const isLiveRow = (row: Pick<Row, 'until' | 'expiresAt'>): boolean => isLive(expiryOf(row), clock());

  async function removeExpired(filter: Filter<Row>): Promise<void> {
    await rows.deleteOne({ ...filter, ...isExpiredAt(clock()) }, options);
  }

  /**
   * Removes the holder of a needed key if it has expired; the removal's filter contains the expiry, so a document that was
   * renewed meanwhile stays.
   * @throws AlreadyExists when the holder is live
   */
  async function removeIfExpired(holder: Filter<Row>, index: string): Promise<void> {
    const row = await rows.findOne(holder, { ...options, projection: { until: 1, expiresAt: 1 } });
    if (row === null) return;
    if (isLiveRow(row)) throw new AlreadyExists(name, index);
    await removeExpired({ ...holder, _id: { $eq: row._id } });
  }

  /** Handles a key clash before the next attempt (C6, and C7 for expired owners). */
  async function freeKey(clash: string, id: string, document: Document<T>): Promise<void> {
    const index = uniqueIndexOf(clash);
    const keys = index === undefined ? [] : keysIn(document, index);
    // Another version of the program, running beside this one, may have created another unique index.
    if (index === undefined || keys.length === 0)
      throw new AlreadyExists(name, 'an index of another version');
    // A document does not clash with itself: if it was written just now, the next attempt finds it.
    for (const key of keys) await removeIfExpired({ ...hasKey(index, key), $nor: [byId(id)] }, index);
  }

  /** @param resolve throws when the clash is final; otherwise `attempt` runs again */
  async function persist<R>(
    attempt: () => Promise<R>,
    resolve: (clash: string) => Promise<void>,
  ): Promise<R> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      try {
        return await attempt();
      } catch (error) {
        const clash = clashingIndex(error);
        if (clash === undefined) throw error;
        await resolve(clash);
      }
    }
    throw new StoreUnavailable(`${name}: no progress after ${MAX_ROUNDS} rounds`);
  }

  return {
    async find(id) {
      const filter = byId(id);
      return read(async () => {
        const row = await rows.findOne(filter, { ...options, projection: readProjection });
        return row && isLiveRow(row) ? fromRow<T>(row) : undefined;
      });
    },

    async findBy(index, key) {
      checkIndex(definition, index);
      const filter = hasKey(index, key);
      return read(async () => {
        const found = rows.find(
          { ...filter, ...isLiveAt(clock()) },
          { ...options, projection: readProjection },
        );
        return (await found.sort({ _id: 1 }).toArray()).map(fromRow<T>);
      });
    },

    async insert(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const row = toRow(definition, id, document, expiresAt);
      return write(id, async () => {
        await persist(
          () => rows.insertOne(row, options),
          (clash) => (clash === ID ? removeIfExpired(byId(id), 'id') : freeKey(clash, id, document)),
        );
        return toStored(id, row.version, expiresAt, document.copy);
      });
    },

    async put(id, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const change = toUpdate(definition, document, expiresAt ?? null);
      // One operation, whether a live document exists or not; an upsert next to an expired one clashes with its id.
      const attempt = () =>
        rows.findOneAndUpdate({ ...byId(id), ...isLiveAt(clock()) }, change, {
          ...options,
          upsert: true,
          returnDocument: 'after',
          projection: { version: 1 },
        });
      return write(id, async () => {
        const row = await persist(attempt, (clash) =>
          clash === ID ? removeExpired(byId(id)) : freeKey(clash, id, document),
        );
        if (row === null) throw new StoreUnavailable(`${name}: MongoDB did not return the written document`);
        return toStored(id, row.version, expiresAt, document.copy);
      });
    },

    async replace(id, version, value, { expiresAt } = {}) {
      checkExpiry(expiresAt);
      const document = toDocument(definition, value);
      const change = toUpdate(definition, document, expiresAt);
      const attempt = () =>
        rows.findOneAndUpdate({ ...byId(id), version: { $eq: version }, ...isLiveAt(clock()) }, change, {
          ...options,
          returnDocument: 'after',
          projection: { version: 1, until: 1, expiresAt: 1 },
        });
      return write(id, async () => {
        const row = await persist(attempt, (clash) => freeKey(clash, id, document));
        if (row === null) throw new VersionConflict(name, id, version);
        return toStored(id, row.version, expiryOf(row), document.copy);
      });
    },

    async remove(id) {
      const filter = byId(id);
      return write(id, async () => {
        // An expired one is left for the sweeper.
        const { deletedCount } = await rows.deleteOne({ ...filter, ...isLiveAt(clock()) }, options);
        return deletedCount === 1;
      });
    },

    async removeBy(index, key) {
      checkIndex(definition, index);
      const filter = hasKey(index, key);
      return read(
        async () => (await rows.deleteMany({ ...filter, ...isLiveAt(clock()) }, options)).deletedCount,
      );
    },

    async query(query) {
      checkQuery(definition, query);
      return runQuery<T>({ connection, rows, ready, query, now: clock(), countUpTo });
    },
  };
}
