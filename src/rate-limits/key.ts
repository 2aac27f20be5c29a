// Keys of rate limits: the networks of an address, as far as its owner cannot change them at will, or the digest of a name.
// Keys are short, so that no caller can fill the store with them.
import { secretDigest } from '../ids.ts';
import { ipBytes } from '../ip-bytes.ts';

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

/** Callers without a known address share one limit. */
const UNKNOWN = 'unknown';

/** The first four groups of an IPv6 address. */
const groupsOf = (bytes: readonly number[]): string[] =>
  [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));

const nameOf = (bytes: readonly number[] | undefined): string => {
  if (bytes === undefined) return UNKNOWN;
  return bytes.length === 4 ? bytes.join('.') : `${groupsOf(bytes).join(':')}::/64`;
};

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
  return `${nameOf(ipBytes(address))}${suffix}`;
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
  return [...apart, { name: `${nameOf(ipBytes(address))}${ALL_ORIGINS.suffix}`, times: ALL_ORIGINS.times }];
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
  const bytes = ipBytes(address);
  const own = { name: nameOf(bytes) };
  if (bytes === undefined) return [own];
  if (bytes.length === 4) {
    const [a, b, c] = bytes;
    return [
      own,
      { name: `${a}.${b}.${c}.0/24`, factor: 'network_factor_24' },
      { name: `${a}.${b}.0.0/16`, factor: 'network_factor_16' },
    ];
  }
  const [a, b, c, d] = groupsOf([...bytes.slice(0, 7), 0]);
  return [
    own,
    { name: `${a}:${b}:${c}:${d}::/56`, factor: 'network_factor_56' },
    { name: `${a}:${b}:${c}::/48`, factor: 'network_factor_48' },
  ];
}

/** Names may be long, and are personal data that a counter does not need. */
export const digestOf = (...parts: readonly string[]): string => secretDigest(parts.join('\n'));
