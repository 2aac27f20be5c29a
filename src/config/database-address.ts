// Validates database addresses. They contain passwords, so no message repeats any part of them.
import { isIP } from 'node:net';
import { Invalid, type Parser } from './parsers.ts';

interface Shape {
  readonly example: string;
  /** Scheme -> whether it names one host without a port that is looked up (RFC 2782 SRV records). */
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
        `${why} An address looks like ${example}; special characters of a password are %-encoded.`,
      );
    };
    const text = value.trim();
    // Characters that the drivers' parsers drop, or read differently, are refused.
    if (text.length > MAX_LENGTH || /[^!-~]/.test(text))
      refuse('contains characters that an address cannot contain.');
    const { scheme = '', login = '', hosts = '', path = '', query = '' } = shape.exec(text)?.groups ?? {};
    const kind = Object.hasOwn(schemes, scheme.toLowerCase()) ? schemes[scheme.toLowerCase()] : undefined;
    if (hosts === '' || kind === undefined) return refuse('is not a valid address.');
    if (![login, path, query].every(isEncoded)) refuse('contains a % that is not part of a %-encoding.');
    const all = hosts.split(',');
    const areHosts = all.every((host) => (mayBeSocket && socketFile.test(host)) || isHost(host, kind));
    if (!areHosts || (kind.isLookup && all.length > 1)) refuse('has an invalid host or port.');
    if (!isPath(path)) refuse('has an invalid path.');
    return text;
  };

/** https://www.mongodb.com/docs/manual/reference/connection-string/ */
export const mongodbAddress = address({
  example:
    'mongodb://user:password@host:27017/latchkey?replicaSet=rs0 or mongodb+srv://user:password@host/latchkey',
  schemes: { mongodb: { isLookup: false }, 'mongodb+srv': { isLookup: true } },
  mayBeSocket: true,
  // Database names that every driver and tool reads alike.
  isPath: (path) => /^[\w-]{0,63}$/.test(path),
});

const redis = { isLookup: false };

/** One server, several of a cluster, or sentinels followed by `/master-name`. */
export const redisAddress = address({
  example:
    'redis://user:password@host:6379/0, rediss://host:6379 or redis-sentinel://host:26379,host:26379/name',
  schemes: { redis, rediss: redis, 'redis-sentinel': redis, 'rediss-sentinel': redis },
  mayBeSocket: false,
  isPath: (path) => /^(?:[\w.%-]+(?:\/\d{1,5})?)?$/.test(path),
});

const DEFAULT_PORTS: Readonly<Record<string, readonly number[]>> = {
  mongodb: [27_017],
  'mongodb+srv': [27_017],
  redis: [6379],
  rediss: [6379],
  // The sentinels name the servers, which are on Redis's own port unless they say otherwise.
  'redis-sentinel': [26_379, 6379],
  'rediss-sentinel': [26_379, 6379],
};

/** @returns the ports on which a database listens, as far as its address says */
export function portsOf(databaseAddress: string): number[] {
  const { scheme = '', hosts = '' } = shape.exec(databaseAddress)?.groups ?? {};
  const named = hosts.split(',').map((host) => Number(/:(\d{1,5})$/.exec(host)?.[1] ?? 0));
  return [...(DEFAULT_PORTS[scheme.toLowerCase()] ?? []), ...named.filter((port) => port > 0)];
}
