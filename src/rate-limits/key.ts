// Owns what a rate limit counts by: a network address as far as its owner can't change it at will, or the digest of a
// name. Keys are short whatever is asked for, so that nobody fills the store with them (checklist R115, R116, R138).
import { isIP, SocketAddress } from 'node:net';
import { secretDigest } from '../ids.ts';

const IPV4_MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;
const GROUPS = 8;
/** Everybody whose address cannot be told shares one limit: not knowing never means not counting. */
const UNKNOWN = 'unknown';

/** The first four of eight groups of an address as Node spells it (lower case, the longest run of zeros as `::`). */
function prefixOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0');
  return [...before, ...(tail === undefined ? [] : zeros), ...after].slice(0, GROUPS / 2).join(':');
}

/**
 * @param address as clientAddress gives it, or any other spelling
 * @returns IPv4 as it is; of IPv6 the /64, since every host owns one of these and can use 2^64 addresses of it
 */
export function networkOf(address: string): string {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0) return UNKNOWN;
  if (version === 4) return address;
  const spelt = new SocketAddress({ address, family: 'ipv6' }).address;
  return IPV4_MAPPED.exec(spelt)?.[1] ?? `${prefixOf(spelt)}::/64`;
}

/** Names may be long, and are nobody's business in a table of counters. */
export const digestOf = (...parts: readonly string[]): string => secretDigest(parts.join('\n'));
