// Owns the connection to Redis, one server, sentinels or a cluster: failing within two seconds when Redis is away,
// coming back by itself, and what its errors mean to the contract. Nothing is queued while it is away and nothing is
// sent again: an act that was told "unavailable" must not happen minutes later.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import { StoreUnavailable } from '../../src/store/port.ts';
import { createAnswerWatch } from '../answer-watch.ts';
import { scripts } from './scripts.ts';
import { describeAddress, parseRedisUrl, type RedisAddress } from './url.ts';

/** Where to say that Redis went away and came back. */
export interface RedisLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

export interface RedisConnectionOptions {
  readonly url: string;
  /** Certificate authority (PEM) for rediss://, where the system's own do not do. */
  readonly ca?: string | undefined;
  readonly log?: RedisLog | undefined;
}

export type Client = Redis | Cluster;

export interface RedisConnection {
  /** Runs one act. @throws StoreUnavailable within two seconds */
  run<R>(act: (client: Client) => Promise<R>): Promise<R>;
  /** The masters, one server outside of a cluster. */
  masters(): Redis[];
  /** Calls back with every message of this channel, over a connection of its own where needed. */
  listen(channel: string, heard: () => void): Promise<void>;
  /** Finishes what runs, refuses what comes after. */
  close(): Promise<void>;
}

/** So long a lost connection is waited for before callers are told; together with the answer under two seconds. */
const PATIENCE_MS = 700;
const ANSWER_MS = 1_200;
const START_MS = 5_000;

const common = {
  // Replies in one shape, whatever the server's version.
  protocol: 2,
  disableClientInfo: true,
  connectTimeout: 1_000,
  // A server that accepts and then says nothing is a server that is away.
  socketTimeout: 2_000,
  keepAlive: 10_000,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  scripts,
  // A master that a failover made a replica: leave it, and ask again who is master.
  reconnectOnError: (error: Error) => /\bREADONLY\b/.test(error.message),
} satisfies CommonRedisOptions;

const retryDelay = (attempt: number): number => Math.min(50 * attempt, 500);

function createClient(address: RedisAddress, ca: string | undefined): Client {
  const { hosts, username, password, db, sentinelName } = address;
  const [first = { host: 'localhost', port: 6379 }] = hosts;
  const tls = address.isTls ? { tls: ca === undefined ? {} : { ca } } : {};
  const redisOptions = {
    ...common,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...tls,
  };
  if (address.isCluster) {
    return new Cluster([...hosts], {
      redisOptions,
      scripts,
      lazyConnect: true,
      enableOfflineQueue: false,
      // Not sent again: it may have been done.
      retryDelayOnFailover: 0,
      maxRedirections: 5,
      slotsRefreshTimeout: 1_000,
      slotsRefreshInterval: 5_000,
      clusterRetryStrategy: retryDelay,
    });
  }
  const single = {
    ...redisOptions,
    db,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retryDelay,
  };
  if (sentinelName === undefined) return new Redis({ ...single, ...first });
  const { sentinelUsername, sentinelPassword } = address;
  return new Redis({
    ...single,
    sentinels: [...hosts],
    name: sentinelName,
    sentinelRetryStrategy: retryDelay,
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(address.isTls ? { enableTLSForSentinelMode: true, sentinelTLS: tls.tls ?? {} } : {}),
  });
}

/** What a server says when it cannot answer now, or not us; everything else that it says is our mistake. */
const AWAY =
  /\b(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|OOM|MISCONF|NOREPLICAS|BUSY|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b/;

/** What the server itself has said, as against what the driver says of it. */
const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** Refused by the driver before anything was sent, so it cannot have happened. */
const isUnsent = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("Stream isn't writeable");

/** The driver's errors carry the command with all its arguments, which are people's data: only the message goes on. */
function toOutcome(error: unknown): Error {
  if (error instanceof StoreUnavailable || error instanceof TypeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return isReply(error) && !AWAY.test(message)
    ? new Error(`Redis refused a command: ${message}`)
    : new StoreUnavailable(`Redis cannot answer: ${message}`);
}

/** What a server does that was talked to without TLS, or from elsewhere than it allows; the driver says no more of it. */
const HANGS_UP = /^(?:read ECONNRESET|Connection is closed\.)$/;

/** Connects to what the address means; a single host that turns out to be part of a cluster is taken for one. */
async function connect(address: RedisAddress, ca: string | undefined): Promise<Client> {
  const client = createClient(address, ca);
  let problem: unknown;
  const note = (error: unknown): void => {
    problem = error;
  };
  client.on('error', note);
  const isInTime = sleep(START_MS, false, { ref: false });
  try {
    if (!(await Promise.race([client.connect().then(() => true), isInTime]))) throw problem;
    if (client instanceof Redis && !address.isCluster && address.sentinelName === undefined) {
      const isCluster = /^cluster_enabled:1/m.test(await client.info('cluster'));
      if (isCluster) {
        client.disconnect();
        return await connect({ ...address, isCluster }, ca);
      }
    }
    return client;
  } catch (error) {
    client.disconnect();
    const cause = problem ?? error;
    const said = cause instanceof Error ? cause.message : 'no answer';
    const reason = HANGS_UP.test(said)
      ? 'it hangs up. Does it want TLS (rediss://), or is it in protected mode?'
      : said;
    throw new StoreUnavailable(`Redis (${describeAddress(address)}) cannot be reached: ${reason}`);
  }
}

/** @throws StoreUnavailable when there is no Redis there, saying where and why */
export async function openRedisConnection({
  url,
  ca,
  log,
}: RedisConnectionOptions): Promise<RedisConnection> {
  const address = parseRedisUrl(url);
  const client = await connect(address, ca);
  const pending = new Set<Promise<unknown>>();
  let subscriber: Redis | undefined;
  let isClosed = false;
  let isAway = false;
  const watch = createAnswerWatch();
  const isReady = (): boolean => client.status === 'ready';
  /** Settles when the connection is back, or when nobody should wait any longer. */
  let patience: Promise<unknown> = Promise.resolve();

  client.on('close', () => {
    if (isAway || isClosed) return;
    isAway = true;
    const isBack = new Promise((resolve) => client.once('ready', resolve));
    // A server that hung before was waited for already.
    patience = watch.isSilent() ? Promise.resolve() : Promise.race([isBack, sleep(PATIENCE_MS)]);
    log?.warn({ redis: describeAddress(address) }, 'connection to Redis lost');
  });
  client.on('ready', () => {
    if (isAway) log?.info({ redis: describeAddress(address) }, 'connection to Redis is back');
    isAway = false;
    watch.reconnected();
  });

  /** @returns what the act came to, or StoreUnavailable: whichever is first */
  function inTime<R>(act: (client: Client) => Promise<R>): Promise<R> {
    const work = act(client);
    work.then(watch.answered, (error: unknown) => {
      if (isReply(error)) watch.answered();
    });
    return watch.within(work, watch.patienceFor(ANSWER_MS), 'Redis did not answer in time');
  }

  async function attempt<R>(act: (client: Client) => Promise<R>): Promise<R> {
    if (isReady()) {
      try {
        return await inTime(act);
      } catch (error) {
        if (!isUnsent(error)) throw error;
        // The connection has just ended: the driver says so in a moment, and then we know whether it comes back.
        await sleep(5);
      }
    }
    await patience;
    if (!isReady()) throw new StoreUnavailable('Redis cannot be reached');
    return inTime(act);
  }

  return {
    async run(act) {
      if (isClosed) throw new StoreUnavailable('the store is closed');
      const running = attempt(act);
      pending.add(running);
      try {
        return await running;
      } catch (error) {
        throw toOutcome(error);
      } finally {
        pending.delete(running);
      }
    },

    masters: () => (client instanceof Cluster ? client.nodes('master') : [client]),

    async listen(channel, heard) {
      const hear = (from: string): void => {
        if (from === channel) heard();
      };
      try {
        if (client instanceof Cluster) {
          // It keeps a connection for subscriptions by itself, and its servers pass messages on to each other.
          client.on('message', hear);
          await client.subscribe(channel);
          return;
        }
        // The driver's own subscribing again throws where nobody can catch it when Redis goes away in the middle.
        subscriber = client.duplicate({ autoResubscribe: false });
        const listener = subscriber;
        listener.on('error', () => {
          // Said by the other connection.
        });
        listener.on('message', hear);
        await listener.connect();
        await listener.subscribe(channel);
        listener.on('ready', () => {
          void listener.subscribe(channel).catch(() => {
            // Gone again already: there will be another `ready`.
          });
        });
      } catch (error) {
        throw toOutcome(error);
      }
    },

    async close() {
      isClosed = true;
      await Promise.allSettled(pending);
      subscriber?.disconnect();
      client.disconnect();
    },
  };
}
