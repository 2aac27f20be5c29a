// Owns filling a MongoDB database from elsewhere: many documents in one round trip, with the versions they had. For scripts,
// before anybody uses the database; the store itself never writes this way.
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
  return {
    async load(definition, documents) {
      const replacements = documents.map(({ id, version, expiresAt, value }) => {
        const { _id, ...rest } = toRow(definition, id, toDocument(definition, value), expiresAt);
        return { replaceOne: { filter: { _id }, replacement: { ...rest, version }, upsert: true } };
      });
      if (replacements.length === 0) return;
      try {
        await connection.db.collection<Row>(definition.name).bulkWrite(replacements, { ordered: false });
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
