// Keys of rate limits: the networks of an address, as far as its owner cannot change them at will, or the digest of a name.
// Keys are short, so that no caller can fill the store with them (checklist R115, R116, R138).
import { isIP, SocketAddress } from 'node:net';
import { secretDigest } from '../ids.ts';

/**
 * What pages of one origin send from an address, apart from what everybody else there does (decision 0022): a page could use up the
 * limits of its reader's network.
 * @returns to be counted in place of the address
 */
export const ofOrigin = (address: string, origin: string): string => `${address} ${secretDigest(origin)}`;

/** How much more than one address a wider network may: settings. */
export type NetworkFactor =
  | 'network_factor_56'
  | 'network_factor_48'
  | 'network_factor_24'
  | 'network_factor_16';

export interface Network {
  readonly name: string;
  /** Of a wider one. */
  readonly factor?: NetworkFactor;
  /** Of all origins together. */
  readonly times?: number;
}

/** Programs send any Origin, so another one may not be another budget each time (ofOrigin). */
const ALL_ORIGINS = { suffix: ' *', times: 16 } as const;

const IPV4_MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;
const GROUPS = 8;
/** Callers without a known address share one limit. */
const UNKNOWN = 'unknown';

/** The first four of eight groups of an IPv6 address in Node's spelling (lower case, longest run of zeros as `::`). */
function prefixOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0');
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, GROUPS / 2);
}

/** @returns an IPv4 address, the first four groups of an IPv6 address, or undefined */
function parsed(address: string): string | string[] | undefined {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return undefined;
  if (version === 4) return address;
  const spelt = new SocketAddress({ address, family: 'ipv6' }).address;
  return IPV4_MAPPED.exec(spelt)?.[1] ?? prefixOf(spelt);
}

const nameOf = (found: string | string[] | undefined): string =>
  typeof found === 'object' ? `${found.join(':')}::/64` : (found ?? UNKNOWN);

/** The address of `ofOrigin`, and what its counters are called beside it. */
function split(counted: string): { readonly address: string; readonly suffix: string } {
  const at = counted.indexOf(' ');
  return at < 0
    ? { address: counted, suffix: '' }
    : { address: counted.slice(0, at), suffix: counted.slice(at) };
}

/**
 * @param address in any spelling
 * @returns an IPv4 address unchanged; for IPv6 the /64, since every host can use all 2^64 addresses of its /64
 */
export function networkOf(counted: string): string {
  const { address, suffix } = split(counted);
  return `${nameOf(parsed(address))}${suffix}`;
}

/**
 * One person gets a /56 or a /48 from a provider for the asking, so these are counted as well, and of IPv4 the /24 and the
 * /16 that a provider or a renter of machines has.
 * @returns networkOf first, then the wider networks it is in
 */
export function networksOf(counted: string): readonly Network[] {
  const { address, suffix } = split(counted);
  const around = networksAround(address);
  if (suffix === '') return around;
  const apart = around.map((network) => ({ ...network, name: `${network.name}${suffix}` }));
  return [...apart, { name: `${nameOf(parsed(address))}${ALL_ORIGINS.suffix}`, times: ALL_ORIGINS.times }];
}

/**
 * Whose turn it is in a queue: networks take turns among each other whatever origins they name, and origins within their address.
 * @returns from the widest to the narrowest
 */
export function turnOf(counted: string): readonly string[] {
  const { address, suffix } = split(counted);
  const around = networksAround(address).map(({ name }) => name);
  return [...around.toReversed(), suffix];
}

function networksAround(address: string): readonly Network[] {
  const found = parsed(address);
  const own = { name: nameOf(found) };
  if (found === undefined) return [own];
  if (typeof found === 'string') {
    const [a, b, c] = found.split('.');
    return [
      own,
      { name: `${a}.${b}.${c}.0/24`, factor: 'network_factor_24' },
      { name: `${a}.${b}.0.0/16`, factor: 'network_factor_16' },
    ];
  }
  const [a = '0', b = '0', c = '0', d = '0'] = found;
  const high = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [
    own,
    { name: `${a}:${b}:${c}:${high}::/56`, factor: 'network_factor_56' },
    { name: `${a}:${b}:${c}::/48`, factor: 'network_factor_48' },
  ];
}

/** Names may be long, and are personal data that a counter does not need. */
export const digestOf = (...parts: readonly string[]): string => secretDigest(parts.join('\n'));
