// Owns the one way out for what an application named (jwks_uri, sector_identifier_uri, back-channel logout; checklist
// R030–R033): https to public addresses alone. The name is resolved once, inside the connection's own look-up, and the
// connection is made to the addresses that were checked, so that a name server that answers differently a moment later (DNS
// rebinding) changes nothing. No redirects, no proxy variables, bounded in time and size.
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

/** The library sets 2.5 s for what it waits for; this is for everything, name and body included. */
const LONGEST_MS = 5000;
const MAX_BYTES = 64 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

export class OutboundRefused extends TypeError {
  override readonly name = 'OutboundRefused';
}

/** The operating system's own, as every other connection has it: /etc/hosts and search domains count. */
const systemResolve: Resolve = (host) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
  dns.lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  return promise;
};

/**
 * Called by the socket, so that nothing lies between the check and the connection.
 * One address inside among public ones is refused as a whole: no honest host has it.
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
        callback(error instanceof Error ? error : new OutboundRefused('no address'), '', 0);
      }
    })();
  };
}

function headersOf(incoming: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  // How long keys are kept is not the application's to say (R033): without these the library looks again after a minute.
  headers.delete('cache-control');
  headers.delete('expires');
  return headers;
}

/** @throws OutboundRefused for a document that is too long, compressed, no JSON, or nested without end */
async function readDocument(response: IncomingMessage): Promise<string> {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = response.headers;
  // Small on the wire, huge in memory.
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

/** @returns a fetch that throws TypeError where it may not or cannot connect, as fetch does */
export function createOutboundFetch({
  resolve = systemResolve,
  isAllowed = isPublicAddress,
}: Deps = {}): Fetch {
  // An agent of its own: the global one can be told to use proxies by the environment (NODE_USE_ENV_PROXY), which would
  // then look names up again. Every request makes its own connection, or an earlier check would count for a later one.
  const agent = new Agent({ keepAlive: false });
  const lookup = checkedLookup(resolve, isAllowed);

  return async (target, options = {}) => {
    const url = new URL(target instanceof Request ? target.url : target);
    if (url.protocol !== 'https:') throw new OutboundRefused('not https');
    // A literal address is never looked up.
    if (!isPublicHost(url, isAllowed)) throw new OutboundRefused('not a public address');
    const limit = AbortSignal.timeout(LONGEST_MS);
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
      // A redirect is an answer like any other (R031). What a receiver of notices says is nobody's business.
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
 * Whether the connection asks our look-up and heeds it (R032): with a name that exists nowhere and is said to be this
 * machine. To be called before the server listens.
 * @throws Error when it does not
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
    'The guard of outgoing connections could not be installed: the look-up of names is not asked.',
  );
}
