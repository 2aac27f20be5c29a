// Connections to Redis whose certificate is compared with pins (REDIS_TLS_VERIFY) in place of its name and chain. The driver
// is given a connection only after the comparison, so no byte, AUTH included, reaches a server with another certificate.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import { type ConnectionOptions, type TLSSocket, connect as tlsConnect } from 'node:tls';
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from './url.ts';

type Host = RedisAddress['hosts'][number];
type Connector = NonNullable<RedisOptions['Connector']>;

const HANDSHAKE_MS = 1_000;
const DISCONNECT_MS = 2_000;

/**
 * TLS options for the driver's own connections. It opens some without our connector (the cluster's subscriber, the sentinels),
 * and none of them may succeed.
 */
const refuseAll: ConnectionOptions = {
  rejectUnauthorized: true,
  ca: [],
  checkServerIdentity: () => new Error('a connection without a pinned certificate is refused'),
};

/** @returns undefined if the certificate is pinned */
function problemOf(socket: TLSSocket, pins: readonly string[]): Error | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return new Error('the server presented no certificate');
  const pin = createHash('sha256').update(certificate.raw).digest('hex');
  return pins.includes(pin)
    ? undefined
    : new Error(`the certificate presented, sha256:${pin}, is not one that REDIS_TLS_VERIFY lists`);
}

/** @returns why the connection was destroyed; undefined when it is open, to a server with a pinned certificate */
async function connectPinned(
  { host, port }: Host,
  pins: readonly string[],
  onSocket: (socket: TLSSocket) => void,
): Promise<Error | undefined> {
  const socket = tlsConnect({
    host,
    port,
    // The pin takes the place of name and chain: the comparison below refuses every other certificate.
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  onSocket(socket);
  let problem: Error | undefined;
  socket.on('error', (error) => {
    problem ??= error;
  });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(HANDSHAKE_MS) });
    problem = problemOf(socket, pins);
  } catch (error) {
    problem ??= error instanceof Error ? error : new Error(String(error));
  }
  if (problem !== undefined) socket.destroy();
  return problem;
}

/** The driver reconnects after a connection that is already destroyed, and not after a rejection. */
function destroyedSocket(): Socket {
  const socket = new Socket();
  socket.destroy();
  return socket;
}

const isHost = (options: unknown): options is Host =>
  typeof options === 'object' &&
  options !== null &&
  'host' in options &&
  typeof options.host === 'string' &&
  'port' in options &&
  typeof options.port === 'number';

abstract class PinnedConnector extends AbstractConnector {
  protected readonly pins: readonly string[];
  constructor(pins: readonly string[]) {
    super(DISCONNECT_MS);
    this.pins = pins;
  }

  /** @returns where to connect to now, or why that is unknown */
  protected abstract locate(): Promise<Host | Error>;

  async connect(): Promise<Socket> {
    this.connecting = true;
    const host = await this.locate();
    let socket = destroyedSocket();
    let problem: Error | undefined;
    if (host instanceof Error) problem = host;
    else if (this.connecting) {
      problem = await connectPinned(host, this.pins, (opened) => {
        socket = opened;
        this.stream = opened;
      });
    }
    if (!this.connecting) {
      socket.destroy();
      throw new Error('Connection is closed.');
    }
    if (problem !== undefined) this.firstError = problem;
    return socket;
  }
}

/** For one server, or for each server of a cluster: the driver says which. */
const directConnector = (pins: readonly string[]): Connector =>
  class extends PinnedConnector {
    private readonly target: Host | Error;
    constructor(options: unknown) {
      super(pins);
      this.target = isHost(options) ? options : new Error('no host and port');
    }
    protected override async locate(): Promise<Host | Error> {
      return this.target;
    }
  };

export interface Sentinels {
  readonly hosts: readonly Host[];
  readonly name: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

async function askSentinel(
  host: Host,
  pins: readonly string[],
  { name, username, password }: Sentinels,
): Promise<Host | Error> {
  const sentinel = new Redis({
    ...host,
    ...pinnedOptions(pins),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    protocol: 2,
    disableClientInfo: true,
    lazyConnect: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: HANDSHAKE_MS,
    retryStrategy: () => null,
  });
  let problem: Error | undefined;
  sentinel.on('error', (error) => {
    problem ??= error;
  });
  try {
    await sentinel.connect();
    const found = await sentinel.call('SENTINEL', 'get-master-addr-by-name', name);
    if (!Array.isArray(found)) return new Error(`the sentinel knows no master ${name}`);
    return { host: String(found[0]), port: Number(found[1]) };
  } catch (error) {
    return problem ?? (error instanceof Error ? error : new Error(String(error)));
  } finally {
    sentinel.disconnect();
  }
}

/** For a master that is found through its sentinels, which are asked in turn. */
const sentinelConnector = (pins: readonly string[], sentinels: Sentinels): Connector =>
  class extends PinnedConnector {
    constructor() {
      super(pins);
    }
    /** After a failover a sentinel may still name the old master, which is a replica by now. */
    override check(info: { role?: string }): boolean {
      return info.role === undefined || info.role === 'master';
    }
    protected override async locate(): Promise<Host | Error> {
      let problem = new Error('no sentinel');
      for (const host of sentinels.hosts) {
        const found = await askSentinel(host, pins, sentinels);
        if (!(found instanceof Error)) return found;
        problem = found;
      }
      return problem;
    }
  };

/** @returns options of the driver with which every connection is compared with the pins or fails */
export function pinnedOptions(
  pins: readonly string[],
  sentinels?: Sentinels,
): Required<Pick<RedisOptions, 'Connector' | 'tls'>> {
  const Connector = sentinels === undefined ? directConnector(pins) : sentinelConnector(pins, sentinels);
  return { Connector, tls: refuseAll };
}
