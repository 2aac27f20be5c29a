// Owns how the addresses of databases are written down. They carry passwords: no message repeats any part of them.
import { isIP } from 'node:net';
import { Invalid, type Parser } from './parsers.ts';

interface Shape {
  readonly example: string;
  /** Scheme by scheme: whether it names one host that is looked up, without a port (RFC 2782 SRV records). */
  readonly schemes: Readonly<Record<string, { readonly isLookup: boolean }>>;
  /** Whether a host may be a socket file, %-encoded. */
  readonly mayBeSocket: boolean;
  readonly isPath: (path: string) => boolean;
}

const MAX_LENGTH = 4096;
const shape =
  /^(?<scheme>[a-z+-]+):\/\/(?:(?<login>[^@/?#[\]]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/i;
const hostName = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?$/i;
const socketFile = /^%2f[\w.%-]+\.sock$/i;

const isPort = (text: string): boolean =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

function isHost(text: string, { isLookup }: { isLookup: boolean }): boolean {
  const { v6, name, port } =
    /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:]*))(?::(?<port>.*))?$/s.exec(text)?.groups ?? {};
  if (port !== undefined && (isLookup || !isPort(port))) return false;
  if (v6 !== undefined) return !isLookup && isIP(v6) === 6;
  return name !== undefined && name.length <= 253 && hostName.test(name);
}

const isEncoded = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

const address =
  ({ example, schemes, mayBeSocket, isPath }: Shape): Parser<string> =>
  (value) => {
    const refuse = (why: string): never => {
      throw new Invalid(
        `${why} An address looks like ${example}; what is special in a password is %-encoded.`,
      );
    };
    const text = value.trim();
    // What the drivers' own parsers would drop or read in different ways must not be there at all.
    if (text.length > MAX_LENGTH || /[^!-~]/.test(text)) refuse('holds characters that no address has.');
    const { scheme = '', login = '', hosts = '', path = '', query = '' } = shape.exec(text)?.groups ?? {};
    const kind = Object.hasOwn(schemes, scheme.toLowerCase()) ? schemes[scheme.toLowerCase()] : undefined;
    if (hosts === '' || kind === undefined) return refuse('is not such an address.');
    if (![login, path, query].every(isEncoded)) refuse('has a % that encodes nothing.');
    const all = hosts.split(',');
    const areHosts = all.every((host) => (mayBeSocket && socketFile.test(host)) || isHost(host, kind));
    if (!areHosts || (kind.isLookup && all.length > 1)) refuse('has a host or port that cannot be.');
    if (!isPath(path)) refuse('has a path that cannot be.');
    return text;
  };

/** https://www.mongodb.com/docs/manual/reference/connection-string/ */
export const mongodbAddress = address({
  example:
    'mongodb://user:password@host:27017/latchkey?replicaSet=rs0 or mongodb+srv://user:password@host/latchkey',
  schemes: { mongodb: { isLookup: false }, 'mongodb+srv': { isLookup: true } },
  mayBeSocket: true,
  // What a database may be called, so that it is the same one for every driver and tool.
  isPath: (path) => /^[\w-]{0,63}$/.test(path),
});

const redis = { isLookup: false };

/** One server, several of a cluster, or the sentinels that know the master: `/master-name` behind them. */
export const redisAddress = address({
  example:
    'redis://user:password@host:6379/0, rediss://host:6379 or redis-sentinel://host:26379,host:26379/name',
  schemes: { redis, rediss: redis, 'redis-sentinel': redis, 'rediss-sentinel': redis },
  mayBeSocket: false,
  isPath: (path) => /^(?:[\w.%-]+(?:\/\d{1,5})?)?$/.test(path),
});
