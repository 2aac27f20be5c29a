// The store of a test's application. TEST_STORE, set by test/flows-on/, puts a whole run of test files on another backend than the
// one they ask for; its servers are named by MONGODB_TEST_URI and REDIS_TEST_URL.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSplitStore } from '../../adapters/split.ts';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { settings, signingKeys } from '../../src/store/collections.ts';
import type { Store } from '../../src/store/port.ts';

const kinds = ['memory', 'sqlite', 'mongodb', 'split'] as const;

export type StoreKind = (typeof kinds)[number];

// What is tested on them is what they do, not how fast a busy machine does it.
const PATIENCE_MS = 30_000;

function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must name the server to test with; run this through test/flows-on/`);
  return value;
}

function kindOfRun(): StoreKind | undefined {
  const wanted = process.env.TEST_STORE;
  const kind = kinds.find((one) => one === wanted);
  if (wanted && kind === undefined)
    throw new Error(`TEST_STORE is ${wanted}, not one of ${kinds.join(', ')}`);
  return kind;
}

/** Where the data of a store lies that no file holds: for who reads it without our code (test/attacks/store-dump.ts). */
export interface StorePlaces {
  readonly mongodb: string;
  readonly redis?: { readonly url: string; readonly prefix: string };
}

const places = new WeakMap<Store, StorePlaces>();
export const placesOf = (store: Store): StorePlaces | undefined => places.get(store);

// The drivers are loaded where a test needs them: it costs every other test process a tenth of a second.
async function mongoStore(uri: string, clock: () => number): Promise<Store> {
  const { createMongoStore } = await import('../../adapters/mongodb/store.ts');
  return createMongoStore({ uri, clock, definitions: allCollections, timeoutMs: PATIENCE_MS });
}

async function newDatabase(): Promise<string> {
  const { freshDatabase } = await import('./mongodb-server.ts');
  return freshDatabase(given('MONGODB_TEST_URI'));
}

async function openMongo(clock: () => number): Promise<Store> {
  const mongodb = await newDatabase();
  const store = await mongoStore(mongodb, clock);
  places.set(store, { mongodb });
  return store;
}

async function openSplit(clock: () => number): Promise<Store> {
  const mongodb = await newDatabase();
  const place = { url: given('REDIS_TEST_URL'), prefix: `test-${randomBytes(8).toString('hex')}` };
  const { createRedisStore } = await import('../../adapters/redis/store.ts');
  const redis = await createRedisStore({
    ...place,
    clock,
    definitions: allCollections.filter(({ durability }) => durability === 'ephemeral'),
  });
  const store = createSplitStore({
    durable: { name: 'mongodb', store: await mongoStore(mongodb, clock) },
    ephemeral: { name: 'redis', store: redis },
    clock,
    changes: redis.changes,
    announced: [settings.name, signingKeys.name],
  });
  places.set(store, { mongodb, redis: place });
  return store;
}

/** @param options.asked what the test wants where the run does not say otherwise */
export async function openTestStore(options: {
  readonly asked: StoreKind | undefined;
  readonly clock: () => number;
  /** For a file, where it is one. */
  readonly folder: string;
}): Promise<Store> {
  const { asked = 'memory', clock, folder } = options;
  switch (kindOfRun() ?? asked) {
    case 'memory':
      return createMemoryStore({ clock });
    case 'sqlite':
      return createSqliteStore({ file: join(folder, 'latchkey.db'), clock, definitions: allCollections });
    case 'mongodb':
      return openMongo(clock);
    case 'split':
      return openSplit(clock);
  }
}
