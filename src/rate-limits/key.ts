// Keys of rate limits: a network address as far as its owner cannot change it at will, or the digest of a name. Keys are
// short, so that no caller can fill the store with them (checklist R115, R116, R138).
import { isIP, SocketAddress } from 'node:net';
import { secretDigest } from '../ids.ts';

const IPV4_MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;
const GROUPS = 8;
/** Callers without a known address share one limit. */
const UNKNOWN = 'unknown';

/** The first four of eight groups of an IPv6 address in Node's spelling (lower case, longest run of zeros as `::`). */
function prefixOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0');
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, GROUPS / 2).join(':');
}

/**
 * @param address in any spelling
 * @returns an IPv4 address unchanged; for IPv6 the /64, since every host can use all 2^64 addresses of its /64
 */
export function networkOf(address: string): string {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return UNKNOWN;
  if (version === 4) return address;
  const spelt = new SocketAddress({ address, family: 'ipv6' }).address;
  return IPV4_MAPPED.exec(spelt)?.[1] ?? `${prefixOf(spelt)}::/64`;
}

/** Names may be long, and are personal data that a counter does not need. */
export const digestOf = (...parts: readonly string[]): string => secretDigest(parts.join('\n'));
