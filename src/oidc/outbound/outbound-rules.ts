// Which addresses may be called for an application (decision 0021): https to public addresses, and what
// OUTBOUND_ALLOW covers where an administrator entered or approved that exact address. Some are never called.
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { OutboundEntry } from '../../config/outbound-allow.ts';
import { isLoopbackHost } from '../../model/uris.ts';
import { isPublicAddress } from './public-address.ts';

/**
 * `keys`: what signs a client's assertions. `notice`: a message to an application, such as a logout token. `request`: a signed
 * request object of the legacy profile.
 */
export type OutboundUse = 'keys' | 'notice' | 'request';

export interface OutboundRequest {
  readonly use: OutboundUse;
  /** Whether an administrator entered or approved this exact address. */
  readonly isApproved: boolean;
}

export interface OutboundRules {
  /** @returns why the URL may not be called, wherever its host is; undefined: its addresses decide */
  problemOf(url: URL, request: OutboundRequest): string | undefined;
  /** @returns why this address of the URL's host may not be called */
  problemAt(url: URL, address: string, request: OutboundRequest): string | undefined;
}

interface Deps {
  readonly allow: readonly OutboundEntry[];
  /** Whether the URL is a page or endpoint of this server (src/clients/own-addresses.ts). */
  readonly isOwnAddress: (uri: string) => boolean;
  readonly listenerPort: number;
  /** The ports of our databases, as far as they are known when it is asked. */
  readonly storePorts: { has(port: number): boolean };
}

const listOf = (ipv4: readonly [string, number][], ipv6: readonly [string, number][]): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of ipv4) list.addSubnet(network, prefix, 'ipv4');
  for (const [network, prefix] of ipv6) list.addSubnet(network, prefix, 'ipv6');
  return list;
};

/** Link-local addresses, where clouds have their metadata service (169.254.169.254), unspecified, multicast and reserved ones. */
const never = listOf(
  [
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    ['224.0.0.0', 3],
    // Metadata services outside of link-local space: Alibaba, Azure, Oracle.
    ['100.100.100.200', 32],
    ['168.63.129.16', 32],
    ['192.0.0.192', 32],
  ],
  [
    ['::', 128],
    ['fe80::', 10],
    ['ff00::', 8],
    // Metadata services: Amazon (with its credentials for pods), Google, Oracle, Scaleway.
    ['fd00:ec2::', 32],
    ['fd20:ce::', 32],
    ['fd00:c1::', 32],
    ['fd00:42::', 32],
    // IPv4 addresses in disguise: translated (RFC 2765, RFC 6052), 6to4, Teredo.
    ['::ffff:0:0:0', 96],
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['2001::', 32],
    ['2002::', 16],
  ],
);
/** IPv4-compatible addresses (RFC 4291 §2.5.5.1), in which an IPv4 address hides as well; ::1 is none. */
const compatible = listOf([], [['::', 96]]);
const loopback = listOf([['127.0.0.0', 8]], [['::1', 128]]);

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
const isIn = (list: BlockList, address: string): boolean => list.check(address, familyOf(address));

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');
const portOf = (url: URL): number => Number(url.port) || (url.protocol === 'https:' ? 443 : 80);

/** IPv4-mapped addresses as IPv4, and without a zone. */
function normalized(address: string): string {
  const [plain = ''] = address.toLowerCase().split('%', 1);
  const host = isIP(plain) === 6 ? hostOf(new URL(`http://[${plain}]`)) : plain;
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return host;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

const isOfThisMachine = (address: string): boolean =>
  isIn(loopback, address) ||
  Object.values(networkInterfaces()).some((addresses = []) =>
    addresses.some((one) => normalized(one.address) === address),
  );

export function createOutboundRules({ allow, isOwnAddress, listenerPort, storePorts }: Deps): OutboundRules {
  const entries = allow.map((entry) => ({
    ...entry,
    covers:
      entry.kind === 'network'
        ? listOf(
            entry.family === 'ipv4' ? [[entry.address, entry.prefix]] : [],
            entry.family === 'ipv6' ? [[entry.address, entry.prefix]] : [],
          )
        : undefined,
  }));

  /** Whether an entry covers this address of the URL's host. */
  function isCovered(url: URL, address: string): boolean {
    const [host, port] = [hostOf(url), portOf(url)];
    return entries.some(
      (entry) =>
        entry.port === port &&
        (entry.kind === 'host'
          ? entry.host === host
          : entry.covers !== undefined && isIn(entry.covers, address)),
    );
  }

  function neverProblem(url: URL, address: string): string | undefined {
    const isCompatible = address !== '::1' && isIn(compatible, address);
    if (isIn(never, address) || isCompatible)
      return 'its address is link-local, of a metadata service or reserved';
    if (portOf(url) === listenerPort && isOfThisMachine(address)) return 'it is this server itself';
    return undefined;
  }

  return {
    problemOf(url, { use, isApproved }) {
      const port = portOf(url);
      if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'it is neither https nor http';
      if (url.username !== '' || url.password !== '') return 'it has a user name or password';
      if (isOwnAddress(url.href)) return 'it is this server itself';
      if (storePorts.has(port)) return 'its port is one of a database of this server';
      if (url.protocol === 'https:') return undefined;
      if (use === 'request') return 'request objects are fetched by https only';
      if (use === 'keys' && !isLoopbackHost(url.hostname))
        return 'keys are fetched by https only, except from localhost';
      if (!isApproved) return 'it is plain http, which needs an administrator and OUTBOUND_ALLOW';
      const mayBeCovered = entries.some((entry) => entry.port === port);
      return mayBeCovered ? undefined : `it is plain http, and OUTBOUND_ALLOW has no entry with port ${port}`;
    },

    problemAt(url, at, { use, isApproved }) {
      const address = normalized(at);
      if (isIP(address) === 0) return 'it has no address';
      const problem = neverProblem(url, address);
      if (problem !== undefined) return problem;
      const isPlain = url.protocol !== 'https:';
      if (isPlain && use === 'keys' && !isIn(loopback, address)) return 'localhost is not this machine';
      if (isApproved && isCovered(url, address)) return undefined;
      if (isPlain) return 'it is plain http, and OUTBOUND_ALLOW does not cover it';
      if (isPublicAddress(address)) return undefined;
      return isApproved
        ? 'it is not a public address, and OUTBOUND_ALLOW does not cover it'
        : 'it is not a public address, and no administrator approved it';
    },
  };
}
