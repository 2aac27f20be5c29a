// OUTBOUND_ALLOW: hosts and networks inside that this server may call for an application (decision 0021). An entry opens port
// 443 unless it names another.
import { isIP } from 'node:net';
import { Invalid, type Parser } from './parsers.ts';

export type OutboundEntry =
  | { readonly kind: 'host'; readonly host: string; readonly port: number }
  | {
      readonly kind: 'network';
      readonly address: string;
      readonly family: 'ipv4' | 'ipv6';
      readonly prefix: number;
      readonly port: number;
    };

const DEFAULT_PORT = 443;
const MAX_ENTRIES = 200;
const hostName = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
// `[fd00::]/8:8443` and `[fd00::/8]:8443` are both read; without a port IPv6 needs no brackets.
const bracketed = /^\[([0-9a-f:.]+)(?:\/(\d{1,3}))?\](?:\/(\d{1,3}))?(?::(\d{1,5}))?$/;
const unbracketed = /^([^/:]+)(?:\/(\d{1,2}))?(?::(\d{1,5}))?$/;
const plainIpv6 = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/;

interface Parts {
  readonly host: string;
  readonly prefix: string | undefined;
  readonly port: string | undefined;
}

function partsOf(entry: string): Parts | undefined {
  const [, inner, innerPrefix, outerPrefix, port] = bracketed.exec(entry) ?? [];
  if (inner !== undefined) {
    const isTwice = innerPrefix !== undefined && outerPrefix !== undefined;
    return isTwice ? undefined : { host: inner, prefix: innerPrefix ?? outerPrefix, port };
  }
  const six = plainIpv6.exec(entry);
  if (six !== null && isIP(six[1] ?? '') === 6)
    return { host: six[1] ?? '', prefix: six[2], port: undefined };
  const four = unbracketed.exec(entry);
  return four === null ? undefined : { host: four[1] ?? '', prefix: four[2], port: four[3] };
}

function entryOf(text: string): OutboundEntry | undefined {
  const { host, prefix, port: given } = partsOf(text.toLowerCase()) ?? {};
  const port = given === undefined ? DEFAULT_PORT : Number(given);
  if (host === undefined || port < 1 || port > 65_535) return undefined;
  const version = isIP(host);
  if (version === 0) {
    // 0x7f.1 and 127.1 are addresses to some resolvers, so a name must not end in a number (WHATWG URL §3.5).
    const isName = hostName.test(host) && host.length <= 253 && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(host);
    return isName && prefix === undefined ? { kind: 'host', host, port } : undefined;
  }
  const bits = version === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  // A network of everything would be no list of exceptions any more.
  if (length < 1 || length > bits) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return { kind: 'network', address: host, family, prefix: length, port };
}

export const outboundAllow: Parser<readonly OutboundEntry[]> = (value) => {
  const entries = value
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .map((text) => {
      const entry = entryOf(text);
      if (entry !== undefined) return entry;
      throw new Invalid(
        `${JSON.stringify(text.slice(0, 80))} is not a host, an address or a network. Examples: app.home.lan, ` +
          'app.home.lan:8443, 10.0.0.0/8, 192.168.1.5:8080, [fd00::]/8:8443.',
      );
    });
  if (entries.length > MAX_ENTRIES) throw new Invalid(`has more than ${MAX_ENTRIES} entries.`);
  return entries;
};
