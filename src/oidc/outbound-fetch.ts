// The only way to fetch an address that an application registered (jwks_uri, sector_identifier_uri, back-channel logout;
// checklist R030–R033): https to public addresses only. The host is resolved once, by the connection's own lookup, and the
// connection goes to the addresses that were checked, against DNS rebinding. No redirects, no proxy variables, limited in
// time and size. Our own: an agent of node:https with a lookup that checks is less code than a library to be trusted with it.
import dns, { type LookupAddress } from 'node:dns';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Configuration } from 'oidc-provider';
import { screenJson } from '../json.ts';
import { isPublicAddress, isPublicHost } from './public-address.ts';

type Fetch = NonNullable<Configuration['fetch']>;

/** @returns all addresses of a name; called once per request */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

interface Deps {
  readonly resolve?: Resolve;
  readonly isAllowed?: (address: string) => boolean;
}

/** Of the whole request, DNS and body included; the library aborts its own waits after 2.5 s. */
const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

export class OutboundRefused extends TypeError {
  override readonly name = 'OutboundRefused';
}

/** The operating system's resolver, as for every other connection: /etc/hosts and search domains apply. */
const systemResolve: Resolve = (host) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
  dns.lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  return promise;
};

/**
 * Called by the socket, so nothing can change between the check and the connection. A host with any private address is
 * refused, even if others are public: no legitimate host has both.
 */
function checkedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    void (async () => {
      try {
        const addresses = await resolve(host);
        if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address)))
          throw new OutboundRefused('not a public address');
        const [{ address, family } = { address: '', family: 0 }] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, address, family);
      } catch (error) {
        callback(
          error instanceof Error ? error : new OutboundRefused('the host could not be resolved'),
          '',
          0,
        );
      }
    })();
  };
}

function headersOf(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  // The application must not decide how long its keys are cached (R033); without these the library uses one minute.
  headers.delete('cache-control');
  headers.delete('expires');
  return headers;
}

/** @throws OutboundRefused for a document that is too long, compressed, not JSON, or too deeply nested */
async function readDocument(response: IncomingMessage): Promise<string> {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = response.headers;
  // A compressed document can be small on the wire and huge in memory.
  if (encoding !== 'identity') throw new OutboundRefused('the document is compressed');
  if (!JSON_TYPE.test(type)) throw new OutboundRefused('the document is not JSON');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new OutboundRefused('the document is longer than 64 kB');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  screenJson(text, 'document');
  return text;
}

/** @returns a fetch that throws TypeError when it may not or cannot connect, as fetch does */
export function createOutboundFetch({
  resolve = systemResolve,
  isAllowed = isPublicAddress,
}: Deps = {}): Fetch {
  // Not the global agent: NODE_USE_ENV_PROXY can make it use proxies, which would resolve the host again. Every request
  // opens its own connection, so an earlier check never applies to a later one.
  const agent = new Agent({ keepAlive: false });
  const lookup = checkedLookup(resolve, isAllowed);

  return async (target, options = {}) => {
    const url = new URL(target instanceof Request ? target.url : target);
    if (url.protocol !== 'https:') throw new OutboundRefused('not https');
    // A literal address never reaches the lookup.
    if (!isPublicHost(url, isAllowed)) throw new OutboundRefused('not a public address');
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
    const { method = 'GET', body } = options;
    const content = body === undefined || body === null ? undefined : String(body);
    const headers = { ...Object.fromEntries(new Headers(options.headers)), 'accept-encoding': 'identity' };
    const length = content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) };

    const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = request(
      url,
      { method, agent, lookup, signal, headers: { ...headers, ...length } },
      answered,
    );
    outgoing.on('error', reject);
    outgoing.end(content);
    const response = await promise;
    try {
      const status = response.statusCode ?? 0;
      // A redirect is not followed (R031). The body of a response to a notification is not read.
      const isDocument = method === 'GET' && status === 200;
      const text = isDocument ? await readDocument(response) : null;
      return new Response(text, { status, headers: headersOf(response.headers) });
    } finally {
      outgoing.destroy();
    }
  };
}

export const outboundFetch: Fetch = createOutboundFetch();

/**
 * Verifies that connections use our lookup (R032), by a host name that does not exist and that the lookup resolves to a
 * loopback address. Called before the server listens.
 * @throws Error when they do not
 */
export async function assertOutboundGuard(
  create: typeof createOutboundFetch = createOutboundFetch,
): Promise<void> {
  const guarded = create({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
  const outcome = await guarded('https://outbound-guard.invalid:9/', { method: 'GET' }).catch(
    (error) => error,
  );
  if (outcome instanceof OutboundRefused) return;
  throw new Error(
    'Outgoing connections are not guarded: Node.js does not use the lookup function that checks addresses.',
  );
}
