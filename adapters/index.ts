// Opens the backend that the configuration selects. A driver is loaded only when it is selected.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../src/clock.ts';
import type { Config } from '../src/config/types.ts';
import { allCollections } from '../src/store/all-collections.ts';
import { settings, signingKeys } from '../src/store/collections.ts';
import { type Store, StoreUnavailable } from '../src/store/port.ts';
import type { UpgradeLine } from './sqlite/upgrade.ts';

export interface StoreLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface OpenStoreOptions {
  readonly config: Pick<Config, 'dataDir'> &
    Partial<Pick<Config, 'mongodbUri' | 'redisUrl' | 'redisTlsVerify'>>;
  readonly clock: Clock;
  /** For messages to the operator that belong to no request. */
  readonly log?: StoreLog | undefined;
  /** A line that keeps itself up to date, where there is a terminal: told while a large embedded database is made ready. */
  readonly line?: UpgradeLine | undefined;
}

const OWNER_ONLY = 0o700;

/** Collections that every process caches; a change must reach all processes within a second. */
const announced = [settings.name, signingKeys.name];

const isOf =
  (durability: 'durable' | 'ephemeral') =>
  (definition: (typeof allCollections)[number]): boolean =>
    definition.durability === durability;

/** @throws StoreUnavailable that names the directory when it cannot be created */
async function openEmbedded(
  dataDir: string,
  { clock, log, line }: Pick<OpenStoreOptions, 'clock' | 'log' | 'line'>,
  definitions: typeof allCollections = allCollections,
): Promise<Store> {
  try {
    await mkdir(dataDir, { recursive: true, mode: OWNER_ONLY });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(`The data directory ${dataDir} cannot be created: ${reason}`, {
      cause: error,
    });
  }
  const { createSqliteStore } = await import('./sqlite/store.ts');
  const file = join(dataDir, 'latchkey.db');
  return createSqliteStore({ file, clock, definitions, log, line });
}

async function openMongo(
  uri: string,
  clock: Clock,
  definitions: typeof allCollections = allCollections,
): Promise<Store> {
  const { createMongoStore } = await import('./mongodb/store.ts');
  return createMongoStore({ uri, clock, definitions });
}

async function openSplit(
  { uri, url }: { uri: string; url: string },
  { config, clock, log }: OpenStoreOptions,
): Promise<Store> {
  const [{ createRedisStore }, { createSplitStore }] = await Promise.all([
    import('./redis/store.ts'),
    import('./split.ts'),
  ]);
  const durable = await openMongo(uri, clock, allCollections.filter(isOf('durable')));
  try {
    const definitions = allCollections.filter(isOf('ephemeral'));
    const verify = config.redisTlsVerify;
    const ephemeral = await createRedisStore({ url, verify, clock, definitions, ...(log && { log }) });
    return createSplitStore({
      durable: { name: 'mongodb', store: durable },
      ephemeral: { name: 'redis', store: ephemeral },
      clock,
      changes: ephemeral.changes,
      announced,
    });
  } catch (error) {
    await durable.close();
    throw error;
  }
}

/** @throws StoreUnavailable when a backend cannot be opened; the message says which and why, and contains no password */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { config, clock } = options;
  const { dataDir, mongodbUri: uri, redisUrl: url } = config;
  if (uri === undefined) return openEmbedded(dataDir, options);
  return url === undefined ? openMongo(uri, clock) : openSplit({ uri, url }, options);
}

/** Whether another process of this machine has the embedded database open. */
export async function isStoreInUse({ dataDir, mongodbUri }: OpenStoreOptions['config']): Promise<boolean> {
  if (mongodbUri !== undefined) return false;
  const { isInUse } = await import('./sqlite/in-use.ts');
  return isInUse(join(dataDir, 'latchkey.db'));
}

/** The durable collections, of which none is made ready before it is used: for what is asked before and after the release step. */
export const openDurable = ({ config, ...options }: OpenStoreOptions): Promise<Store> =>
  config.mongodbUri === undefined
    ? openEmbedded(config.dataDir, options, [])
    : openMongo(config.mongodbUri, options.clock, []);

/**
 * The release step: checks every store that this version will run on, then creates the indexes that it needs. The embedded
 * database creates its own at every start.
 * @throws StoreUnavailable also when documents share a key that must be unique
 */
export async function prepareStore({ config, clock, log, line }: OpenStoreOptions): Promise<void> {
  const { mongodbUri: uri, redisUrl: url, redisTlsVerify: verify } = config;
  if (uri === undefined) {
    const store = await openEmbedded(config.dataDir, { clock, log, line });
    return store.close();
  }
  if (url !== undefined) {
    const { checkRedis } = await import('./redis/store.ts');
    await checkRedis({ url, verify, ...(log && { log }) });
  }
  const { prepareMongo } = await import('./mongodb/store.ts');
  const definitions = url === undefined ? allCollections : allCollections.filter(isOf('durable'));
  await prepareMongo({ uri, clock, definitions });
}
