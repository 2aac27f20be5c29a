// Owns filling a MongoDB database from elsewhere: many documents in one round trip, with the versions they had. For scripts,
// before anybody uses the database; the store itself never writes this way.
import type { Collection } from 'mongodb';
import type { Clock } from '../../src/clock.ts';
import { type CollectionDefinition, type Stored, StoreUnavailable } from '../../src/store/port.ts';
import { toDocument } from '../document.ts';
import { clashingIndex, openConnection, toOutcome } from './connection.ts';
import { expiryOf, fromRow, isLiveAt, type Row, readProjection, toRow } from './document.ts';
import { checkCollections } from './schema.ts';

export interface MongoLoader {
  /**
   * Writes the documents as they are, over what is there under their ids: doing it again changes nothing.
   * @throws StoreUnavailable also when another document holds one of their unique keys
   */
  load<T>(definition: CollectionDefinition<T>, documents: readonly Stored<T>[]): Promise<void>;
  /** Everything that lives, in the order of the ids: one walk along the index, however long it takes. */
  pagesOf<T>(definition: CollectionDefinition<T>): AsyncGenerator<Stored<T>[]>;
  close(): Promise<void>;
}

const PAGE = 1_000;

export async function createMongoLoader(options: {
  readonly uri: string;
  readonly clock: Clock;
  readonly definitions: readonly CollectionDefinition<never>[];
}): Promise<MongoLoader> {
  const { uri, clock, definitions } = options;
  // A batch takes as long as it takes.
  const connection = await openConnection({ uri }, { socketTimeoutMS: 0 });
  try {
    await checkCollections(connection.db, definitions, clock());
  } catch (error) {
    await connection.close();
    throw toOutcome(error);
  }

  /** What is there just as it should be needs no write. */
  async function whatDiffers(collection: Collection<Row>, rows: readonly Row[]) {
    const ids = rows.map(({ _id }) => _id);
    const found = collection.find({ _id: { $in: ids } }, { projection: { ...readProjection, model: 1 } });
    const there = new Map((await found.toArray()).map((row) => [row._id, row]));
    const isSame = (row: Row, old: Row): boolean =>
      old.value === row.value &&
      old.version === row.version &&
      old.model === row.model &&
      expiryOf(old) === expiryOf(row);
    return {
      absent: rows.filter(({ _id }) => !there.has(_id)),
      changed: rows.filter((row) => {
        const old = there.get(row._id);
        return old !== undefined && !isSame(row, old);
      }),
    };
  }

  /** Most of the time nothing of it is there, and inserting is the fastest; otherwise what differs takes its place. */
  async function write(collection: Collection<Row>, rows: readonly Row[]): Promise<void> {
    try {
      await collection.insertMany(rows, { ordered: false });
    } catch (error) {
      if (clashingIndex(error) === undefined) throw error;
      const { absent, changed } = await whatDiffers(collection, rows);
      // First, so that a key which has changed hands is free.
      const replacements = changed.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id }, replacement },
      }));
      if (replacements.length > 0) await collection.bulkWrite(replacements, { ordered: false });
      if (absent.length > 0) await collection.insertMany(absent, { ordered: false });
    }
  }

  return {
    async load(definition, documents) {
      const rows = documents.map(({ id, version, expiresAt, value }) => ({
        ...toRow(definition, id, toDocument(definition, value), expiresAt),
        version,
      }));
      if (rows.length === 0) return;
      try {
        await write(connection.db.collection<Row>(definition.name), rows);
      } catch (error) {
        const index = clashingIndex(error);
        if (index === undefined) throw toOutcome(error);
        throw new StoreUnavailable(
          `${definition.name}: other documents of the database hold keys (${index}) of what is to be copied.`,
          { cause: error },
        );
      }
    },

    async *pagesOf<T>(definition: CollectionDefinition<T>) {
      const rows = connection.db.collection<Row>(definition.name);
      const cursor = rows
        .find(isLiveAt(clock()), { projection: readProjection, batchSize: PAGE })
        .sort({ _id: 1 });
      try {
        for (let page: Stored<T>[] = []; ; page = []) {
          while (page.length < PAGE) {
            const row = await cursor.next();
            if (row === null) break;
            page.push(fromRow<T>(row));
          }
          if (page.length === 0) return;
          yield page;
        }
      } catch (error) {
        throw toOutcome(error);
      } finally {
        await cursor.close();
      }
    },

    close: () => connection.close(),
  };
}
