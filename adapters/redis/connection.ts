// The connection to Redis: one server, sentinels or a cluster. It fails within two seconds when Redis is unavailable and
// reconnects by itself. Nothing is queued meanwhile and nothing is sent again: a command that was reported as failed must
// not run minutes later.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import { StoreUnavailable } from '../../src/store/port.ts';
import { createResponseWatch } from '../response-watch.ts';
import { scripts } from './scripts.ts';
import { isPinned, type RedisLog, reasonOf, reportVerification, type Trust, tlsTransport } from './tls.ts';
import { describeAddress, parseRedisUrl, type RedisAddress } from './url.ts';

export interface RedisConnectionOptions extends Trust {
  readonly url: string;
  readonly log?: RedisLog | undefined;
}

export type Client = Redis | Cluster;

export interface RedisConnection {
  /** Runs one operation. @throws StoreUnavailable within two seconds */
  run<R>(act: (client: Client) => Promise<R>): Promise<R>;
  /** Then a script may touch the keys of one slot only. */
  readonly isCluster: boolean;
  /** The masters; outside a cluster the one server. */
  masters(): Redis[];
  /** Of all servers that were connected to: a cluster and sentinels name more than the address does. */
  ports(): readonly number[];
  /**
   * Calls back for messages on this channel; uses a connection of its own where needed. With pins never in a cluster, so
   * callers must not depend on it alone.
   */
  listen(channel: string, onAnnouncement: () => void): Promise<void>;
  /** Waits for running operations, refuses new ones. */
  close(): Promise<void>;
}

/** How long callers wait for a lost connection; with the response timeout below two seconds in all. */
const RECONNECT_MS = 700;
const RESPONSE_MS = 1_200;
const START_MS = 5_000;

const common = {
  // The same reply format for every server version.
  protocol: 2,
  disableClientInfo: true,
  connectTimeout: 1_000,
  // A server that accepts connections but never responds counts as unavailable.
  socketTimeout: 2_000,
  keepAlive: 10_000,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  scripts,
  // After a failover this master may be a replica: reconnect and look up the new master.
  reconnectOnError: (error: Error) => /\bREADONLY\b/.test(error.message),
} satisfies CommonRedisOptions;

const retryDelay = (attempt: number): number => Math.min(50 * attempt, 500);

function createClient(address: RedisAddress, trust: Trust): Client {
  const { hosts, username, password, db, sentinelName } = address;
  const [first = { host: 'localhost', port: 6379 }] = hosts;
  const redisOptions = {
    ...common,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...tlsTransport(address, trust),
  };
  if (address.isCluster) {
    return new Cluster([...hosts], {
      redisOptions,
      scripts,
      lazyConnect: true,
      enableOfflineQueue: false,
      // Not retried: the command may have run.
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
  });
}

/** Replies of a server that cannot answer now, or not us; any other error reply is a bug of ours. */
const UNAVAILABLE =
  /\b(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|OOM|MISCONF|NOREPLICAS|BUSY|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE)\b/;

/** An error reply of the server, as opposed to an error of the driver. */
const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** Refused by the driver before sending, so the command cannot have run. */
const isUnsent = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("Stream isn't writeable");

/** The driver's errors contain the command with all arguments (personal data), so only the message is kept. */
function toOutcome(error: unknown): Error {
  if (error instanceof StoreUnavailable || error instanceof TypeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return isReply(error) && !UNAVAILABLE.test(message)
    ? new Error(`Redis refused a command: ${message}`)
    : new StoreUnavailable(`Redis is unavailable: ${message}`);
}

/** Connects to the address; a single host that reports cluster mode is connected to as a cluster. */
async function connect(address: RedisAddress, trust: Trust): Promise<Client> {
  const client = createClient(address, trust);
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
        return await connect({ ...address, isCluster }, trust);
      }
    }
    return client;
  } catch (error) {
    client.disconnect();
    const reason = reasonOf(problem ?? error, address, trust);
    throw new StoreUnavailable(`Redis (${describeAddress(address)}) cannot be reached: ${reason}`);
  }
}

/** @throws StoreUnavailable when Redis cannot be reached; the message says where and why */
export async function openRedisConnection(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { log } = options;
  const address = parseRedisUrl(options.url);
  reportVerification(address, options, log);
  const client = await connect(address, options);
  const pending = new Set<Promise<unknown>>();
  let subscriber: Redis | undefined;
  let isClosed = false;
  let isDisconnected = false;
  const watch = createResponseWatch();
  const ports = new Set<number>();
  const notePorts = (): void => {
    const now =
      client instanceof Cluster
        ? client.nodes('all').map(({ options }) => options.port)
        : [client.stream?.remotePort];
    for (const port of now) if (port !== undefined) ports.add(port);
  };
  const isReady = (): boolean => client.status === 'ready';
  /** Settles when the connection is back, or after RECONNECT_MS. */
  let reconnection: Promise<unknown> = Promise.resolve();

  client.on('close', () => {
    if (isDisconnected || isClosed) return;
    isDisconnected = true;
    const reconnected = new Promise((resolve) => client.once('ready', resolve));
    // An unresponsive server has used up its waiting time.
    reconnection = watch.isUnresponsive()
      ? Promise.resolve()
      : Promise.race([reconnected, sleep(RECONNECT_MS)]);
    log?.warn({ redis: describeAddress(address) }, 'connection to Redis lost');
  });
  client.on('ready', () => {
    if (isDisconnected) log?.info({ redis: describeAddress(address) }, 'connection to Redis restored');
    isDisconnected = false;
    watch.reconnected();
    notePorts();
  });

  /** @returns the operation's result, or StoreUnavailable if the timeout comes first */
  function withTimeout<R>(act: (client: Client) => Promise<R>): Promise<R> {
    const work = act(client);
    work.then(watch.responded, (error: unknown) => {
      if (isReply(error)) watch.responded();
    });
    return watch.within(work, watch.timeoutFor(RESPONSE_MS), 'Redis did not respond in time');
  }

  async function attempt<R>(act: (client: Client) => Promise<R>): Promise<R> {
    if (isReady()) {
      try {
        return await withTimeout(act);
      } catch (error) {
        if (!isUnsent(error)) throw error;
        // The connection has just ended; wait for the driver's `close` event, which starts the reconnection.
        await sleep(5);
      }
    }
    await reconnection;
    if (!isReady()) throw new StoreUnavailable('Redis cannot be reached');
    return withTimeout(act);
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

    ports() {
      notePorts();
      return [...ports];
    },

    isCluster: client instanceof Cluster,

    masters: () => (client instanceof Cluster ? client.nodes('master') : [client]),

    async listen(channel, onAnnouncement) {
      const onMessage = (from: string): void => {
        if (from === channel) onAnnouncement();
      };
      try {
        if (client instanceof Cluster) {
          // The cluster client's subscription has no pins, so it is refused; callers read a counter as well.
          if (isPinned(options)) return;
          // The cluster client has its own subscription connection, and the servers forward messages to each other.
          client.on('message', onMessage);
          await client.subscribe(channel);
          return;
        }
        // The driver's automatic resubscription throws outside any promise when Redis disconnects meanwhile.
        subscriber = client.duplicate({ autoResubscribe: false });
        const listener = subscriber;
        listener.on('error', () => {
          // The main connection logs it.
        });
        listener.on('message', onMessage);
        await listener.connect();
        await listener.subscribe(channel);
        listener.on('ready', () => {
          void listener.subscribe(channel).catch(() => {
            // Disconnected again: another `ready` will follow.
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
