// IP addresses as numbers, for those who count or look up by network.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * @param address in any spelling that Node takes; zone ids (`fe80::1%eth0`) mean nothing outside of their machine
 * @returns four bytes, also for an IPv4 address in one of IPv6 (RFC 4291 §2.5.5), else sixteen; undefined when it is none
 */
export const ipBytes = (address: string): readonly number[] | undefined =>
  address.includes('%') || isIP(address) === 0 ? undefined : ipaddr.process(address).toByteArray();
