// Fills a MongoDB database from another store: many documents per round trip, with their versions. For scripts, before the
// database is in use; the store itself never writes this way.
import type { Collection } from 'mongodb';
import type { Clock } from '../../src/clock.ts';
import { type CollectionDefinition, type Stored, StoreUnavailable } from '../../src/store/port.ts';
import { toDocument } from '../document.ts';
import { clashingIndex, openConnection, toOutcome } from './connection.ts';
import { expiryOf, fromRow, isLiveAt, type Row, readProjection, toRow } from './document.ts';
import { checkCollections } from './schema.ts';

export interface MongoLoader {
  /**
   * Writes the documents over existing ones with their ids; repeating it changes nothing.
   * @throws StoreUnavailable also when another document holds one of their unique keys
   */
  load<T>(definition: CollectionDefinition<T>, documents: readonly Stored<T>[]): Promise<void>;
  /** All live documents in the order of their ids. */
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
  // No socket timeout: a batch may take long.
  const connection = await openConnection({ uri }, { socketTimeoutMS: 0 });
  try {
    await checkCollections(connection.db, definitions, clock());
  } catch (error) {
    await connection.close();
    throw toOutcome(error);
  }

  /** Documents that are already identical need no write. */
  async function findDifferences(collection: Collection<Row>, rows: readonly Row[]) {
    const ids = rows.map(({ _id }) => _id);
    const found = collection.find({ _id: { $in: ids } }, { projection: { ...readProjection, model: 1 } });
    const existing = new Map((await found.toArray()).map((row) => [row._id, row]));
    const isSame = (row: Row, old: Row): boolean =>
      old.value === row.value &&
      old.version === row.version &&
      old.model === row.model &&
      expiryOf(old) === expiryOf(row);
    return {
      absent: rows.filter(({ _id }) => !existing.has(_id)),
      changed: rows.filter((row) => {
        const old = existing.get(row._id);
        return old !== undefined && !isSame(row, old);
      }),
    };
  }

  /** Inserts first, since usually nothing exists yet; on a clash, writes only the differences. */
  async function write(collection: Collection<Row>, rows: readonly Row[]): Promise<void> {
    try {
      await collection.insertMany(rows, { ordered: false });
    } catch (error) {
      if (clashingIndex(error) === undefined) throw error;
      const { absent, changed } = await findDifferences(collection, rows);
      // Replace first, so that a key which moved to another document is free.
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
          `${definition.name}: documents in the database already have keys (${index}) of the documents to copy.`,
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
