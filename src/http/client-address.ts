// Determines the client's address of a request: the socket's, or the entry that our outermost trusted proxy appended.
// Not Koa's, which takes the left-most entry, and a client can choose that one.
import type { IncomingMessage } from 'node:http';
import { isIP, SocketAddress } from 'node:net';

const IPV4_MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;

/**
 * One spelling per address, so that another spelling cannot evade limits and logs.
 * @returns undefined when it is not an IP address; zone ids (`fe80::1%eth0`) mean nothing outside of their machine
 */
function canonical(address: string): string | undefined {
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 4) return address;
  if (version !== 6) return undefined;
  // What a dual-stack socket gives for every IPv4 client, so it is read without the slower way.
  const mapped = IPV4_MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const spelt = new SocketAddress({ address, family: 'ipv6' }).address;
  return IPV4_MAPPED.exec(spelt)?.[1] ?? spelt;
}

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711` (RFC 7239 §6). */
function withoutPort(entry: string): string {
  const bracketed = /^\[([0-9a-fA-F:.]+)\](?::\d{1,5})?$/.exec(entry);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  return /^([0-9.]{7,15}):\d{1,5}$/.exec(entry)?.[1] ?? entry;
}

/** @returns the entry that was appended `hops` proxies ago, counted from the right; undefined when there are fewer */
function entryFromRight(header: string, hops: number): string | undefined {
  let end = header.length;
  for (let hop = 1; hop < hops; hop += 1) {
    end = header.lastIndexOf(',', end - 1);
    if (end <= 0) return undefined;
  }
  return header.slice(header.lastIndexOf(',', end - 1) + 1, end).trim();
}

/**
 * Anything unexpected (fewer entries than proxies, garbage) falls back to the socket's address: a header can make the
 * result coarser, but cannot choose it (R116).
 * @param trustProxy how many proxies in front of us append to X-Forwarded-For; 0 ignores the header
 * @returns a canonical IPv4 or IPv6 address; empty only when the socket is already closed
 */
export function clientAddress(request: IncomingMessage, trustProxy: number): string {
  const peer = request.socket.remoteAddress ?? '';
  const socketAddress = canonical(peer.replace(/%.*$/, '')) ?? '';
  const header = request.headers['x-forwarded-for'];
  if (trustProxy < 1 || header === undefined) return socketAddress;
  const entry = entryFromRight(Array.isArray(header) ? header.join(',') : header, trustProxy);
  if (entry === undefined || entry.length > 64) return socketAddress;
  return canonical(withoutPort(entry)) ?? socketAddress;
}
