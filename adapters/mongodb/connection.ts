// Owns one client of the MongoDB driver: how the address is read, the guarantees that no address can weaken, the time
// that an answer may take, and what the driver's errors mean to the contract.
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
import { createAnswerWatch } from '../answer-watch.ts';

export interface ConnectionOptions {
  /** `mongodb://` or `mongodb+srv://`. What it says about pool and timeouts holds; about durability it cannot. */
  readonly uri: string;
  /** How long a caller waits for an answer, whatever happens below. */
  readonly timeoutMs?: number | undefined;
  /** How long a start waits for a server that is not there yet. */
  readonly startTimeoutMs?: number | undefined;
}

export interface Connection {
  readonly db: Db;
  /**
   * Runs acts of the driver for a caller. @throws StoreUnavailable when there is no answer in time, or none at all;
   * a write may have happened then
   */
  run<R>(act: () => Promise<R>, timeoutMs?: number): Promise<R>;
  /**
   * The same for writes: those of one document happen in the order they were asked for, also when a caller was told
   * that its time is up: an answer that comes too late must not let a later write overtake.
   */
  write<R>(document: string, act: () => Promise<R>): Promise<R>;
  /** Refuses what comes after, resolves when all before is settled. */
  close(): Promise<void>;
}

const DEFAULT_DATABASE = 'latchkey';
/** Requests get their 503 within 2 s (docs/operations.md); a process that is busy gets to it a little later. */
const TIMEOUT_MS = 1_500;
const START_TIMEOUT_MS = 10_000;
const DUPLICATE_KEY = 11000;
/** The wire version of MongoDB 6.0: what was proved about its guarantees was proved about newer servers. */
const OLDEST = 17;
const AUTHENTICATION_FAILED = 18;
const MAX_TIME_EXPIRED = 50;

/** A write that met an election is sent again, and counts once. */
const retries: MongoClientOptions = { retryReads: true, retryWrites: true };

/** @param timeoutMs how long callers wait: the pool gives up a little earlier, and then says why */
const defaultsFor = (timeoutMs: number): MongoClientOptions => ({
  appName: 'latchkey',
  maxPoolSize: 50,
  serverSelectionTimeoutMS: timeoutMs - 200,
  waitQueueTimeoutMS: timeoutMs - 200,
  connectTimeoutMS: 1_500,
  // A server that hangs is found out by the monitor within a few seconds; this is for what the monitor cannot see.
  socketTimeoutMS: 15_000,
  heartbeatFrequencyMS: 2_000,
});

/**
 * What the storage contract rests on (C5, C14, C15). Given to the database, too: into a client's the driver mixes single
 * words of the address.
 */
const guarantees: DbOptions = {
  readPreference: 'primary',
  readConcern: new ReadConcern('majority'),
  writeConcern: { w: 'majority', journal: true },
};

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @returns the index of which a unique key is taken, undefined for any other error */
export function clashingIndex(error: unknown): string | undefined {
  if (!(error instanceof MongoError) || error.code !== DUPLICATE_KEY) return undefined;
  // `… index: u_username dup key: { … }`: what callers chose comes behind it.
  return /index: (\S+) dup key/.exec(error.message)?.[1] ?? '';
}

/** An error of the driver or, as the driver lets them through at times, of a socket (`EPIPE`, `ECONNRESET`). */
const isFailure = (error: unknown): error is Error => {
  if (error instanceof MongoError) return !(error instanceof MongoInvalidArgumentError);
  const isSystem = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return isSystem && !(error instanceof TypeError || error instanceof RangeError);
};

/** The server is there, and has stopped what took too long. */
const isTooLong = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  error.code === MAX_TIME_EXPIRED &&
  !(error instanceof MongoWriteConcernError);

/** @returns what callers get instead of the driver's own error; anything else as it is */
export const toOutcome = (error: unknown): unknown =>
  isFailure(error) ? new StoreUnavailable(`MongoDB: ${error.message}`, { cause: error }) : error;

/** @returns the settings of an address, lower case */
const settingsIn = (uri: string): ReadonlySet<string> => {
  const names = new URLSearchParams(uri.split('?').slice(1).join('?')).keys();
  return new Set([...names].map((name) => name.toLowerCase()));
};

/** @returns the database that an address names: `mongodb://host/NAME?…` */
const databaseIn = (uri: string): string => {
  const path = /^[^/]*\/\/[^/?]*\/([^?]*)/.exec(uri)?.[1] ?? '';
  return path === '' ? DEFAULT_DATABASE : decodeURIComponent(path);
};

function createClient(uri: string, timeoutMs: number, extra: MongoClientOptions): MongoClient {
  const given = settingsIn(uri);
  const missing = Object.entries(defaultsFor(timeoutMs)).filter(([name]) => !given.has(name.toLowerCase()));
  try {
    return new MongoClient(uri, { ...Object.fromEntries(missing), ...extra, ...guarantees, ...retries });
  } catch (error) {
    // The driver quotes an address that it cannot read, with the password in it: neither message nor cause go on.
    const isHarmless = /^options? [\w, ]+ (?:is|are) not supported$/.test(message(error));
    throw new StoreUnavailable(
      `The MongoDB address cannot be used${isHarmless ? `: ${message(error)}` : ''}. Check MONGODB_URI.`,
    );
  }
}

/** @returns why nobody could be reached, with the cure where the driver only says that time was up */
function whyUnreachable(error: unknown): string {
  const { setName, servers } = (error instanceof MongoServerSelectionError && error.reason) || {};
  if (!setName || servers?.size !== 0) return message(error);
  return `no server there belongs to the replica set ${setName}. Put its name into the address (replicaSet=NAME), or leave it out.`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Waits for a primary, and for credentials to be refused no longer than for one answer. A client that could not connect
 * stays closed for good, so each attempt has one of its own.
 */
async function reach(create: () => MongoClient, timeoutMs: number): Promise<MongoClient> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const client = create();
    try {
      const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
      if (Number(hello.maxWireVersion) < OLDEST)
        throw new StoreUnavailable('MongoDB 6.0 or newer is needed.');
      return client;
    } catch (error) {
      await client.close();
      if (error instanceof StoreUnavailable) throw error;
      const isRefused = error instanceof MongoError && error.code === AUTHENTICATION_FAILED;
      if (isRefused || performance.now() >= deadline) {
        throw new StoreUnavailable(`MongoDB cannot be reached: ${whyUnreachable(error)}`, { cause: error });
      }
      await pause(250);
    }
  }
}

/**
 * @param extra stands above what the address says
 * @throws StoreUnavailable when no primary answers in time
 */
export async function openConnection(
  options: ConnectionOptions,
  extra: MongoClientOptions = {},
): Promise<Connection> {
  const { uri, timeoutMs = TIMEOUT_MS, startTimeoutMs = START_TIMEOUT_MS } = options;
  const client = await reach(() => createClient(uri, timeoutMs, extra), startTimeoutMs);
  return createConnection({ client, db: client.db(databaseIn(uri), guarantees), timeoutMs });
}

function createConnection(deps: { client: MongoClient; db: Db; timeoutMs: number }): Connection {
  const { client, db, timeoutMs } = deps;
  const pending = new Set<Promise<unknown>>();
  /** The last write of each document that has writes under way; never rejects. */
  const lanes = new Map<string, Promise<void>>();
  let closing: Promise<void> | undefined;
  const watch = createAnswerWatch();

  /** Answers for `work` when its time is up; the work goes on. */
  async function inTime<R>(work: Promise<R>, ms: number): Promise<R> {
    const startedAt = performance.now();
    try {
      return await watch.within(work, ms, `MongoDB did not answer within ${ms} ms`);
    } catch (error) {
      const outcome = toOutcome(error);
      if (outcome instanceof StoreUnavailable) watch.unanswered(startedAt);
      throw outcome;
    }
  }

  function run<R>(act: () => Promise<R>, ms = timeoutMs): Promise<R> {
    if (closing) return Promise.reject(new StoreUnavailable('the store is closed'));
    const work = act();
    work.then(watch.answered, (error: unknown) => {
      if (isTooLong(error)) watch.answered();
    });
    // A `catch` of its own: when the caller was answered, a late failure has nobody who takes it.
    const settled = work.then(
      () => {},
      () => {},
    );
    pending.add(settled);
    void settled.then(() => pending.delete(settled));
    return inTime(work, watch.patienceFor(ms));
  }

  function write<R>(document: string, act: () => Promise<R>): Promise<R> {
    const patienceMs = watch.patienceFor(timeoutMs);
    const deadline = performance.now() + patienceMs;
    const before = lanes.get(document);
    return run(() => {
      const work = (async () => {
        if (before) await before;
        // The caller has been told by now: what it takes for "not done" must not be done.
        if (performance.now() >= deadline)
          throw new StoreUnavailable('MongoDB: earlier writes took too long');
        return act();
      })();
      const lane: Promise<void> = work
        .then(
          () => {},
          () => {},
        )
        .then(() => {
          if (lanes.get(document) === lane) lanes.delete(document);
        });
      lanes.set(document, lane);
      return work;
    }, patienceMs);
  }

  return {
    db,
    run,
    write,
    close() {
      closing ??= Promise.all(pending).then(() => client.close());
      return closing;
    },
  };
}
