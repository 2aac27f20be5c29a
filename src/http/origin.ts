// Protocol, host and origin of this server come from BASE_URL, the client's address from client-address.ts; never from Host,
// Forwarded or X-Forwarded-*.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { clientAddress } from './client-address.ts';

export interface PinOriginOptions {
  readonly baseUrl: string;
  /** How many proxies in front of us append to X-Forwarded-For. */
  readonly trustProxy: number;
  /** Newest first; sign Koa's cookies. */
  readonly keys: readonly string[];
}

interface PinnedRequest {
  readonly req: IncomingMessage;
  readonly originalUrl: string;
}

/** The target in origin-form: `GET http://other.example/a` asks for `/a` here (RFC 9112 §3.2.2). */
const originForm = (target: string): string => {
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
};

/**
 * Overrides getters of one app, not of Koa: they go on this app's own request object, which every request inherits from. The
 * protocol core is a Koa app with contexts of its own, so it needs this as well.
 */
export function pinOrigin(app: Pick<Koa, 'request' | 'keys' | 'proxy'>, options: PinOriginOptions): void {
  const { trustProxy, keys } = options;
  const { protocol, host, hostname, origin } = new URL(options.baseUrl);
  const fixed = (value: unknown): PropertyDescriptor => ({ configurable: true, get: () => value });
  const perRequest = (read: (request: PinnedRequest) => unknown): PropertyDescriptor => ({
    configurable: true,
    get(this: PinnedRequest) {
      return read(this);
    },
  });
  const href = (request: PinnedRequest): string => origin + originForm(request.originalUrl);
  app.proxy = false;
  app.keys = [...keys];
  Object.defineProperties(app.request, {
    protocol: fixed(protocol.slice(0, -1)),
    secure: fixed(protocol === 'https:'),
    host: fixed(host),
    hostname: fixed(hostname),
    origin: fixed(origin),
    href: perRequest(href),
    URL: perRequest((request) => new URL(href(request))),
    ip: perRequest((request) => clientAddress(request.req, trustProxy)),
    ips: perRequest((request) => [clientAddress(request.req, trustProxy)]),
  });
}
