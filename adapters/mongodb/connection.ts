// One client of the MongoDB driver: how the address is read, the guarantees that no address can weaken, timeouts, and the
// mapping of the driver's errors to the contract's.
import {
  type Db,
  type DbOptions,
  MongoClient,
  type MongoClientOptions,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  ReadConcern,
} from 'mongodb';
import { StoreUnavailable } from '../../src/store/port.ts';
import { createResponseWatch } from '../response-watch.ts';

export interface ConnectionOptions {
  /** `mongodb://` or `mongodb+srv://`. Its pool and timeout options are used; its durability options are overridden. */
  readonly uri: string;
  /** How long a caller waits for a response. */
  readonly timeoutMs?: number | undefined;
  /** How long a start waits for an unreachable server. */
  readonly startTimeoutMs?: number | undefined;
}

export interface Connection {
  readonly db: Db;
  /**
   * Runs operations of the driver. @throws StoreUnavailable after a timeout or without a connection; a write may have
   * happened then
   */
  run<R>(act: () => Promise<R>, timeoutMs?: number): Promise<R>;
  /**
   * The same for writes. Writes of one document run in the order of the calls, also after a timeout: a late response must
   * not let a later write overtake an earlier one.
   */
  write<R>(document: string, act: () => Promise<R>): Promise<R>;
  /** Of all servers that the driver has found, by the address, its SRV records and the replica set. */
  ports(): readonly number[];
  /** Refuses new operations; resolves when all earlier ones are settled. */
  close(): Promise<void>;
}

const DEFAULT_DATABASE = 'latchkey';
/** Requests must get their 503 within 2 s (docs/operations.md), on a busy process a little later. */
const TIMEOUT_MS = 1_500;
const START_TIMEOUT_MS = 10_000;
const DUPLICATE_KEY = 11000;
/** The wire version of MongoDB 6.0; older servers are not tested. */
const MIN_WIRE_VERSION = 17;
/** AuthenticationFailed, and what Atlas says instead. */
const AUTHENTICATION_FAILED: readonly unknown[] = [18, 8000];
const MAX_TIME_EXPIRED = 50;

/** A write that met an election is retried by the driver, and applied once. */
const retries: MongoClientOptions = { retryReads: true, retryWrites: true };

/** @param timeoutMs of callers; the pool's timeout is a little shorter, so that its error says why */
const defaultsFor = (timeoutMs: number): MongoClientOptions => ({
  appName: 'latchkey',
  maxPoolSize: 50,
  serverSelectionTimeoutMS: timeoutMs - 200,
  waitQueueTimeoutMS: timeoutMs - 200,
  connectTimeoutMS: 1_500,
  // The driver's monitor detects a hanging server within a few seconds; this covers what it cannot see.
  socketTimeoutMS: 15_000,
  heartbeatFrequencyMS: 2_000,
});

/**
 * What the storage contract depends on (C5, C14, C15). Also given to the database, since the driver merges single options
 * of the address into those of the client.
 */
const guarantees: DbOptions = {
  readPreference: 'primary',
  readConcern: new ReadConcern('majority'),
  writeConcern: { w: 'majority', journal: true },
};

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @returns the index whose unique key is taken; undefined for any other error */
export function clashingIndex(error: unknown): string | undefined {
  if (!(error instanceof MongoError) || error.code !== DUPLICATE_KEY) return undefined;
  // `… index: u_username dup key: { … }`: only what follows is chosen by callers.
  return /index: (\S+) dup key/.exec(error.message)?.[1] ?? '';
}

/** An error of the driver, or of a socket (`EPIPE`, `ECONNRESET`), which the driver sometimes passes through. */
const isDriverError = (error: unknown): error is Error => {
  if (error instanceof MongoError) return !(error instanceof MongoInvalidArgumentError);
  const isSystem = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isSystem && !(error instanceof TypeError || error instanceof RangeError);
};

/** The server is reachable and stopped a slow operation. */
const isOperationTimeout = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  error.code === MAX_TIME_EXPIRED &&
  !(error instanceof MongoWriteConcernError);

/** @returns StoreUnavailable for an error of the driver; any other error unchanged */
export const toOutcome = (error: unknown): unknown =>
  isDriverError(error) ? new StoreUnavailable(`MongoDB: ${error.message}`, { cause: error }) : error;

/** @returns the option names of an address, in lower case */
const optionsOf = (uri: string): ReadonlySet<string> => {
  const names = new URLSearchParams(uri.split('?').slice(1).join('?')).keys();
  return new Set([...names].map((name) => name.toLowerCase()));
};

/** @returns the database name of an address: `mongodb://host/NAME?…` */
const databaseNameOf = (uri: string): string => {
  const path = /^[^/]*\/\/[^/?]*\/([^?]*)/.exec(uri)?.[1] ?? '';
  return path === '' ? DEFAULT_DATABASE : decodeURIComponent(path);
};

function createClient(uri: string, timeoutMs: number, extra: MongoClientOptions): MongoClient {
  const specified = optionsOf(uri);
  const missing = Object.entries(defaultsFor(timeoutMs)).filter(
    ([name]) => !specified.has(name.toLowerCase()),
  );
  try {
    return new MongoClient(uri, { ...Object.fromEntries(missing), ...extra, ...guarantees, ...retries });
  } catch (error) {
    // The driver's error quotes an invalid address with its password: pass on neither message nor cause.
    const isSafeToShow = /^options? [\w, ]+ (?:is|are) not supported$/.test(message(error));
    throw new StoreUnavailable(
      `The MongoDB address cannot be used${isSafeToShow ? `: ${message(error)}` : ''}. Check MONGODB_URI.`,
    );
  }
}

/** @returns why no server was reached, and the remedy where the driver only reports a timeout */
function unreachableReason(error: unknown): string {
  const { setName, servers } = (error instanceof MongoServerSelectionError && error.reason) || {};
  if (!setName || servers?.size !== 0) return message(error);
  return `no server at this address belongs to the replica set ${setName}. Correct replicaSet=NAME in the address, or remove it.`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Waits for a primary; refused credentials fail at once. A client that failed to connect stays closed, so each attempt
 * creates a new one.
 */
async function connectWithRetry(create: () => MongoClient, timeoutMs: number): Promise<MongoClient> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const client = create();
    try {
      const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
      if (Number(hello.maxWireVersion) < MIN_WIRE_VERSION)
        throw new StoreUnavailable('MongoDB 6.0 or newer is needed.');
      return client;
    } catch (error) {
      await client.close();
      if (error instanceof StoreUnavailable) throw error;
      const isRefused = error instanceof MongoError && AUTHENTICATION_FAILED.includes(error.code);
      if (isRefused || performance.now() >= deadline) {
        throw new StoreUnavailable(`MongoDB cannot be reached: ${unreachableReason(error)}`, {
          cause: error,
        });
      }
      await pause(250);
    }
  }
}

/**
 * @param extra overrides the options of the address
 * @throws StoreUnavailable when no primary responds in time
 */
export async function openConnection(
  options: ConnectionOptions,
  extra: MongoClientOptions = {},
): Promise<Connection> {
  const { uri, timeoutMs = TIMEOUT_MS, startTimeoutMs = START_TIMEOUT_MS } = options;
  const ports = new Set<number>();
  const create = () =>
    createClient(uri, timeoutMs, extra).on('topologyDescriptionChanged', ({ newDescription }) => {
      for (const { port } of newDescription.servers.values()) ports.add(port);
    });
  const client = await connectWithRetry(create, startTimeoutMs);
  return createConnection({ client, db: client.db(databaseNameOf(uri), guarantees), timeoutMs, ports });
}

function createConnection(deps: {
  client: MongoClient;
  db: Db;
  timeoutMs: number;
  ports: ReadonlySet<number>;
}): Connection {
  const { client, db, timeoutMs, ports } = deps;
  const pending = new Set<Promise<unknown>>();
  /** The last pending write of each document; never rejects. */
  const pendingWrites = new Map<string, Promise<void>>();
  let closing: Promise<void> | undefined;
  const watch = createResponseWatch();

  /** Rejects after the timeout; the work itself continues. */
  async function withTimeout<R>(work: Promise<R>, ms: number): Promise<R> {
    const startedAt = performance.now();
    try {
      return await watch.within(work, ms, `MongoDB did not respond within ${ms} ms`);
    } catch (error) {
      const outcome = toOutcome(error);
      if (outcome instanceof StoreUnavailable) watch.timedOut(startedAt);
      throw outcome;
    }
  }

  function run<R>(act: () => Promise<R>, ms = timeoutMs): Promise<R> {
    if (closing) return Promise.reject(new StoreUnavailable('the store is closed'));
    const work = act();
    work.then(watch.responded, (error: unknown) => {
      if (isOperationTimeout(error)) watch.responded();
    });
    // Separate from the caller's promise: after the caller's timeout no one else handles a late rejection.
    const settled = work.then(
      () => {},
      () => {},
    );
    pending.add(settled);
    void settled.then(() => pending.delete(settled));
    return withTimeout(work, watch.timeoutFor(ms));
  }

  function write<R>(document: string, act: () => Promise<R>): Promise<R> {
    const writeTimeoutMs = watch.timeoutFor(timeoutMs);
    const deadline = performance.now() + writeTimeoutMs;
    const before = pendingWrites.get(document);
    return run(() => {
      const work = (async () => {
        if (before) await before;
        // The caller was told that the write failed, so it must not run any more.
        if (performance.now() >= deadline)
          throw new StoreUnavailable('MongoDB: earlier writes took too long');
        return act();
      })();
      const pendingWrite: Promise<void> = work
        .then(
          () => {},
          () => {},
        )
        .then(() => {
          if (pendingWrites.get(document) === pendingWrite) pendingWrites.delete(document);
        });
      pendingWrites.set(document, pendingWrite);
      return work;
    }, writeTimeoutMs);
  }

  return {
    db,
    run,
    write,
    ports: () => [...ports],
    close() {
      closing ??= Promise.all(pending).then(() => client.close());
      return closing;
    },
  };
}
