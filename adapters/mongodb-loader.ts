// Owns filling a MongoDB database from elsewhere: many documents in one round trip, with the versions they had. For scripts,
// before anybody uses the database; the store itself never writes this way.
import type { Collection } from 'mongodb';
import type { Clock } from '../src/clock.ts';
import { type CollectionDefinition, type Stored, StoreUnavailable } from '../src/store/port.ts';
import { toDocument } from './memory-document.ts';
import { clashingIndex, openConnection, toOutcome } from './mongodb-connection.ts';
import { type Row, toRow } from './mongodb-document.ts';
import { checkCollections } from './mongodb-schema.ts';

export interface MongoLoader {
  /**
   * Writes the documents as they are, over what is there under their ids: doing it again changes nothing.
   * @throws StoreUnavailable also when another document holds one of their unique keys
   */
  load<T>(definition: CollectionDefinition<T>, documents: readonly Stored<T>[]): Promise<void>;
  close(): Promise<void>;
}

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

  /** Most of the time nothing of it is there, and inserting is the fastest; otherwise each takes its place. */
  async function write(collection: Collection<Row>, rows: readonly Row[]): Promise<void> {
    try {
      await collection.insertMany(rows, { ordered: false });
    } catch (error) {
      if (clashingIndex(error) === undefined) throw error;
      const replacements = rows.map(({ _id, ...replacement }) => ({
        replaceOne: { filter: { _id }, replacement, upsert: true },
      }));
      await collection.bulkWrite(replacements, { ordered: false });
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
    close: () => connection.close(),
  };
}
