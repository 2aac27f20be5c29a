// Parses REDIS_URL: one server, a cluster (several hosts), or a master found through its sentinels.
import { StoreUnavailable } from '../../src/store/port.ts';

export interface RedisAddress {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly isTls: boolean;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** 0 unless the address names another; a cluster has only 0. */
  readonly db: number;
  /** The master's name; `hosts` are then its sentinels. */
  readonly sentinelName?: string | undefined;
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** By `?cluster` or several hosts; a single host is asked. */
  readonly isCluster: boolean;
}

const SHAPE =
  /^redis(?<tls>s)?(?<sentinel>-sentinel)?:\/\/(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const HOST = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^:[\]\s]+))(?::(?<port>\d{1,5}))?$/;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** The address may contain a password, so no message repeats it. */
const HELP =
  'REDIS_URL must be like redis://user:password@host:6379/0, rediss://… (TLS), redis://host:6379,host:6379 (cluster) ' +
  'or redis-sentinel://host:26379,host:26379/master-name, special characters of user and password %-encoded.';

const refuse = (): never => {
  throw new StoreUnavailable(HELP);
};

function decode(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse();
  }
}

function toHost(text: string, defaultPort: number): { host: string; port: number } {
  const { v6, name, port } = HOST.exec(text)?.groups ?? {};
  const number = port === undefined ? defaultPort : Number(port);
  const host = v6 ?? name;
  return host === undefined || number < 1 || number > 65_535 ? refuse() : { host, port: number };
}

function toDb(text: string): number {
  return /^\d{0,5}$/.test(text) ? Number(text) : refuse();
}

/** @throws StoreUnavailable that describes the valid forms */
export function parseRedisUrl(url: string): RedisAddress {
  const parts = SHAPE.exec(url)?.groups ?? refuse();
  const isSentinel = parts.sentinel !== undefined;
  const hosts = (parts.hosts ?? '')
    .split(',')
    .map((text) => toHost(text, isSentinel ? SENTINEL_PORT : REDIS_PORT));
  const login = parts.login ?? '';
  const colon = login.indexOf(':');
  const [first = '', second = '', ...more] = (parts.path ?? '').split('/');
  const query = new URLSearchParams(parts.query ?? '');
  const isCluster = !isSentinel && (hosts.length > 1 || query.has('cluster'));
  const db = toDb(isSentinel ? second : first);
  const isTooLong = more.length > 0 || (!isSentinel && second !== '');
  if (isTooLong || (isSentinel && first === '') || (isCluster && db !== 0)) refuse();
  return {
    hosts,
    isTls: parts.tls !== undefined,
    username: decode(colon < 0 ? login : login.slice(0, colon)),
    password: decode(colon < 0 ? undefined : login.slice(colon + 1)),
    db,
    sentinelName: isSentinel ? decode(first) : undefined,
    sentinelUsername: query.get('sentinel_username') ?? undefined,
    sentinelPassword: query.get('sentinel_password') ?? undefined,
    isCluster,
  };
}

/** For messages: hosts and ports, without credentials. */
export const describeAddress = ({ hosts, sentinelName }: RedisAddress): string =>
  `${sentinelName === undefined ? '' : `${sentinelName} at `}${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`;
