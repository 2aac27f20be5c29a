// The indexes that a definition needs: created by the release step, verified at every start. Without its unique indexes the
// store could not keep its contract, so it does not start then.
import { type Db, type Collection as DriverCollection, type IndexDescription, MongoError } from 'mongodb';
import type { CollectionDefinition } from '../../src/store/port.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { checkNames, derive, orderedFields } from '../document.ts';
import { clashingIndex, toOutcome } from './connection.ts';
import { derivedParts, isExpiredAt, modelOf, type Row } from './document.ts';

type Definition = CollectionDefinition<never>;

// The sweeper removes expired documents by our clocks. MongoDB's TTL index only cleans up when no sweeper runs, and later by
// more than clocks may differ, so that it never removes a live document.
const TTL_SECONDS = 3_600;
const BACK_FILL_ROWS = 500;
const NAMESPACE_NOT_FOUND = 26;
const INDEX_NOT_FOUND = 27;

const UNIQUE = 'u_';
const COMMON = 'k_';

/** @returns the index of the definition that this unique index of MongoDB enforces */
export const uniqueIndexOf = (name: string): string | undefined =>
  name.startsWith(UNIQUE) ? name.slice(UNIQUE.length) : undefined;

/** Partial: a document without the key takes no space and never clashes (C8). */
function keyIndex(index: string, isUnique: boolean): IndexDescription {
  const path = `k.${index}`;
  return {
    name: `${isUnique ? UNIQUE : COMMON}${index}`,
    key: isUnique ? { [path]: 1 } : { [path]: 1, _id: 1 },
    ...(isUnique && { unique: true }),
    partialFilterExpression: { [path]: { $exists: true } },
  };
}

function indexesOf({ indexes, fields }: Definition): IndexDescription[] {
  return [
    {
      name: 'until',
      key: { until: 1 },
      expireAfterSeconds: TTL_SECONDS,
      partialFilterExpression: { until: { $exists: true } },
    },
    ...Object.entries(indexes).map(([index, { unique = false }]) => keyIndex(index, unique)),
    // Includes `until`, so that counting skips expired documents without fetching them.
    ...orderedFields(fields).map((field) => ({
      name: `f_${field}`,
      key: { [`f.${field}`]: 1, _id: 1, until: 1 } as const,
    })),
  ];
}

/** Indexes that an earlier definition may have created and that are wrong now. */
const obsoleteIndexesOf = ({ indexes }: Definition): string[] =>
  Object.entries(indexes).map(([index, { unique = false }]) => `${unique ? COMMON : UNIQUE}${index}`);

async function existingIndexes(rows: DriverCollection<Row>): Promise<Set<string>> {
  try {
    const found = await rows.listIndexes().toArray();
    return new Set(found.map(({ name }: { name?: unknown }) => String(name)));
  } catch (error) {
    if (error instanceof MongoError && error.code === NAMESPACE_NOT_FOUND) return new Set();
    throw error;
  }
}

function derivedFrom<T>(definition: CollectionDefinition<T>, text: string) {
  const value: T = JSON.parse(text);
  return derivedParts(definition, derive(definition, value));
}

function withoutFurther<T>(definition: CollectionDefinition<T>, text: string) {
  const value: T = JSON.parse(text);
  return derivedParts(definition, { ...derive(definition, value), furtherKeys: new Map() });
}

/** @returns whether there was one; the documents of another definition are derived again by their ids, since nothing else says which */
async function walkOnce(
  rows: DriverCollection<Row>,
  definition: Definition,
  model: string,
): Promise<boolean> {
  for (let after: string | undefined; ; ) {
    const old = await rows
      .find(
        { ...(after !== undefined && { _id: { $gt: after } }), model: { $ne: model } },
        { projection: { version: 1, value: 1 } },
      )
      .sort({ _id: 1 })
      .limit(BACK_FILL_ROWS)
      .toArray();
    const last = old.at(-1);
    if (last === undefined) return after !== undefined;
    after = last._id;
    const writesOf = (derive: typeof derivedFrom) =>
      old.map(({ _id, version, value }) => ({
        updateOne: {
          filter: { _id: { $eq: _id }, version: { $eq: version }, model: { $ne: model } },
          update: { $set: derive(definition, value) },
        },
      }));
    try {
      await rows.bulkWrite(writesOf(derivedFrom), { ordered: false });
    } catch (error) {
      if (clashingIndex(error) === undefined) throw error;
      // An older process gave another document a further key of one of these, which gives it up when it is written next
      // (src/store/yielded-keys.ts).
      await rows.bulkWrite(writesOf(withoutFurther), { ordered: false });
    }
  }
}

/** Older processes may write behind a walk, and go on after the last one: as long as they do there would be something to find. */
const MAX_WALKS = 3;

/** A document that changes meanwhile has been derived by its writer. */
async function backFill(rows: DriverCollection<Row>, definition: Definition): Promise<void> {
  const model = modelOf(definition);
  for (let walk = 0; walk < MAX_WALKS; walk += 1) if (!(await walkOnce(rows, definition, model))) return;
}

async function createIndexes(db: Db, rows: DriverCollection<Row>, definition: Definition): Promise<void> {
  // By default all voting members are waited for, also one that is down. A server without a replica set refuses to be told.
  const { setName } = await db.command({ hello: 1 });
  try {
    await rows.createIndexes(indexesOf(definition), setName ? { commitQuorum: 'majority' } : {});
  } catch (error) {
    const clash = clashingIndex(error);
    if (clash === undefined) throw error;
    throw new StoreUnavailable(
      `${definition.name}: ${clash} cannot be unique, documents share a key. Nothing was changed; fix those documents first.`,
      { cause: error },
    );
  }
}

async function dropIndex(rows: DriverCollection<Row>, name: string): Promise<void> {
  try {
    await rows.dropIndex(name);
  } catch (error) {
    // Another release step was first.
    if (!(error instanceof MongoError && error.code === INDEX_NOT_FOUND)) throw error;
  }
}

async function complete(db: Db, definition: Definition, now: number): Promise<void> {
  const rows = db.collection<Row>(definition.name);
  const existing = await existingIndexes(rows);
  // Expired documents own no unique key (C7), so they must not prevent a new unique index.
  await rows.deleteMany(isExpiredAt(now));
  await backFill(rows, definition);
  // Before the old ones go: a process that runs meanwhile needs one of them.
  await createIndexes(db, rows, definition);
  for (const name of obsoleteIndexesOf(definition).filter((index) => existing.has(index)))
    await dropIndex(rows, name);
}

/** @returns what is missing, one line per collection */
async function missingFrom(rows: DriverCollection<Row>, definition: Definition): Promise<string[]> {
  const existing = await existingIndexes(rows);
  const missing = indexesOf(definition)
    .map(({ name = '' }) => name)
    .filter((name) => !existing.has(name));
  return missing.length === 0 ? [] : [`${definition.name}: ${missing.join(', ')}`];
}

/**
 * The release step: creates indexes and derives again what a changed definition needs. Safe to run while processes are
 * running, in several places at once, and again after an interruption. It may take long on large collections.
 * @throws StoreUnavailable also when documents share a key that must be unique
 */
export async function prepareCollections(
  db: Db,
  definitions: readonly Definition[],
  now: number,
): Promise<void> {
  for (const definition of definitions) {
    checkNames(definition);
    try {
      await complete(db, definition, now);
    } catch (error) {
      throw toOutcome(error);
    }
  }
}

/** Checking all at once would wait for connections, on a busy machine longer than the timeout. */
const CHECKED_AT_ONCE = 4;

/**
 * Runs at every start. Creates the indexes of empty collections, which takes no time, so that a new database needs no
 * release step; refuses to start where a collection with documents lacks an index.
 * @throws StoreUnavailable naming what is missing and what to do
 */
export async function checkCollections(
  db: Db,
  definitions: readonly Definition[],
  now: number,
): Promise<void> {
  for (const definition of definitions) checkNames(definition);
  const check = async (definition: Definition): Promise<string[]> => {
    const rows = db.collection<Row>(definition.name);
    const missing = await missingFrom(rows, definition);
    if (missing.length === 0) return [];
    const isEmpty = (await rows.findOne({}, { projection: { _id: 1 } })) === null;
    // Another process may have created the indexes and written documents meanwhile.
    if (!isEmpty) return missingFrom(rows, definition);
    await complete(db, definition, now);
    return [];
  };
  const found = new Map<Definition, string[]>();
  const rest = definitions.values();
  const checkRest = async (): Promise<void> => {
    for (const definition of rest) found.set(definition, await check(definition));
  };
  await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, checkRest));
  const missing = definitions.flatMap((definition) => found.get(definition) ?? []);
  if (missing.length === 0) return;
  throw new StoreUnavailable(
    `MongoDB lacks indexes that this version needs (${missing.join('; ')}). Run the release step: npm run release`,
  );
}
