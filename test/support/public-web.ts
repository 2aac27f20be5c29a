// Sites that this server sees at public addresses, though they are on this machine: names resolve to a public address, which the
// product checks, and only then the connection is led to a server of the test. Of the product nothing is replaced.
import dns from 'node:dns';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import https, { createServer, type RequestOptions } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from '../mail/certificate.ts';

export interface PublicWeb {
  /** How many connections a name was led to. */
  readonly visits: ReadonlyMap<string, number>;
  /** What a name resolves to; default: a public address. */
  readonly addresses: Map<string, string>;
  close(): Promise<void>;
}

const PUBLIC = '2606:4700::1111';

/** @param serve answers for all names that end in `.test` */
export async function openPublicWeb(serve: RequestListener): Promise<PublicWeb> {
  const server = createServer(makeCertificate([]), serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port }: AddressInfo = Object(server.address());
  const visits = new Map<string, number>();
  const addresses = new Map<string, string>();

  const { lookup } = dns;
  const resolve = (host: string, options: unknown, callback: (...answer: unknown[]) => void): void => {
    if (!host.endsWith('.test')) {
      Reflect.apply(lookup, dns, [host, options, callback]);
      return;
    }
    const address = addresses.get(host) ?? PUBLIC;
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  const { request } = https;
  const led = (url: URL, options: RequestOptions, callback: (...answer: unknown[]) => void): unknown => {
    if (!url.hostname.endsWith('.test')) return Reflect.apply(request, https, [url, options, callback]);
    const local: RequestOptions['lookup'] = (host, _, connected) => {
      // The product's own check first, with what it resolved.
      options.lookup?.(host, { all: true }, (error) => {
        if (error === null) visits.set(host, (visits.get(host) ?? 0) + 1);
        connected(error, [{ address: '127.0.0.1', family: 4 }]);
      });
    };
    const more = { ...options, port, lookup: local, rejectUnauthorized: false };
    return Reflect.apply(request, https, [url, more, callback]);
  };
  Object.assign(dns, { lookup: resolve });
  Object.assign(https, { request: led });
  syncBuiltinESMExports();

  return {
    visits,
    addresses,
    async close() {
      Object.assign(dns, { lookup });
      Object.assign(https, { request });
      syncBuiltinESMExports();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
