// The only way to fetch an address that an application registered (jwks_uri, back-channel logout), if
// outbound-rules.ts allows it. The host is resolved once, by the connection's own lookup, and the connection goes to the
// addresses that were checked, against DNS rebinding. No redirects, no proxy variables, limited in time and size. Our own: an agent of node:https with a lookup that checks is less code than a library to be trusted with it.
import dns, { type LookupAddress } from 'node:dns';
import {
  Agent as HttpAgent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestPlain,
} from 'node:http';
import { Agent, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Configuration } from 'oidc-provider';
import { screenJson } from '../../json.ts';
import {
  createOutboundRules,
  type OutboundRequest,
  type OutboundRules,
  type OutboundUse,
} from './outbound-rules.ts';

type LibraryFetch = NonNullable<Configuration['fetch']>;

/** @param what default: keys of a client whose address no administrator approved */
export type OutboundFetch = (
  target: Parameters<LibraryFetch>[0],
  options?: Parameters<LibraryFetch>[1],
  what?: OutboundRequest,
) => Promise<Response>;

/** @returns all addresses of a name; called once per request */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

interface Deps {
  readonly resolve?: Resolve;
  readonly rules?: OutboundRules;
}

/** Of the whole request, DNS and body included; the library aborts its own waits after 2.5 s. */
const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;
/** Request objects of the legacy profile. RFC 9101 §5.2.3; Core 1.0 §6.2 leaves the type open, and servers of files say text. */
const REQUEST_TYPE =
  /^(?:application\/(?:oauth-authz-req\+jwt|jwt|jose|octet-stream)|text\/plain)\s*(?:;|$)/i;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

export class OutboundRefused extends TypeError {
  override readonly name = 'OutboundRefused';
}

/** What came back is no final response of HTTP. */
export class OutboundUnanswered extends TypeError {
  override readonly name = 'OutboundUnanswered';
}

/** The operating system's resolver, as for every other connection: /etc/hosts and search domains apply. */
const systemResolve: Resolve = (host) => {
  const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
  dns.lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  return promise;
};

const NO_EXCEPTIONS = createOutboundRules({
  allow: [],
  isOwnAddress: () => false,
  listenerPort: 0,
  storePorts: new Set(),
});

const STRANGERS: OutboundRequest = { use: 'keys', isApproved: false };

/**
 * Called by the socket, so nothing can change between the check and the connection. A host with any address that may not be
 * called is refused, even if others may: no legitimate host has both.
 */
function checkedLookup(resolve: Resolve, problemAt: (address: string) => string | undefined): LookupFunction {
  return (host, options, callback) => {
    void (async () => {
      try {
        const addresses = await resolve(host);
        const problem = problemOfAll(addresses, problemAt);
        if (problem !== undefined) throw new OutboundRefused(problem);
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

function problemOfAll(
  addresses: readonly LookupAddress[],
  problemAt: (address: string) => string | undefined,
): string | undefined {
  if (addresses.length === 0) return 'its host has no address';
  return addresses.map(({ address }) => problemAt(address)).find((problem) => problem !== undefined);
}

const literalOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** @returns what the rules say before anything is resolved; a literal address never reaches the lookup */
function earlyProblem(rules: OutboundRules, url: URL, what: OutboundRequest): string | undefined {
  const host = literalOf(url);
  return rules.problemOf(url, what) ?? (isIP(host) === 0 ? undefined : rules.problemAt(url, host, what));
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
async function readDocument(response: IncomingMessage, use: OutboundUse): Promise<string> {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = response.headers;
  // A compressed document can be small on the wire and huge in memory.
  if (encoding !== 'identity') throw new OutboundRefused('the document is compressed');
  const isRequest = use === 'request';
  if (isRequest && !REQUEST_TYPE.test(type)) throw new OutboundRefused('the document is no request object');
  if (!isRequest && !JSON_TYPE.test(type)) throw new OutboundRefused('the document is not JSON');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new OutboundRefused('the document is longer than 64 kB');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (!isRequest) screenJson(text, 'document');
  return text;
}

/** @returns a fetch that throws TypeError when it may not or cannot connect, as fetch does */
export function createOutboundFetch({
  resolve = systemResolve,
  rules = NO_EXCEPTIONS,
}: Deps = {}): OutboundFetch {
  // Not the global agents: NODE_USE_ENV_PROXY can make them use proxies, which would resolve the host again. Every request
  // opens its own connection, so an earlier check never applies to a later one.
  const agent = new Agent({ keepAlive: false });
  const plainAgent = new HttpAgent({ keepAlive: false });

  return async (target, options = {}, what = STRANGERS) => {
    const url = new URL(target instanceof Request ? target.url : target);
    const problem = earlyProblem(rules, url, what);
    if (problem !== undefined) throw new OutboundRefused(problem);
    const lookup = checkedLookup(resolve, (address) => rules.problemAt(url, address, what));
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
    const { method = 'GET', body } = options;
    const content = body === undefined || body === null ? undefined : String(body);
    const headers = { ...Object.fromEntries(new Headers(options.headers)), 'accept-encoding': 'identity' };
    const length = content === undefined ? {} : { 'content-length': String(Buffer.byteLength(content)) };

    const { promise, resolve: answered, reject } = Promise.withResolvers<IncomingMessage>();
    const common = { method, lookup, signal, headers: { ...headers, ...length } };
    const outgoing =
      url.protocol === 'https:'
        ? request(url, { ...common, agent }, answered)
        : requestPlain(url, { ...common, agent: plainAgent }, answered);
    outgoing.on('error', reject);
    // A switch to another protocol (101) is neither a response nor an error to Node.js, which just closes the connection.
    outgoing.on('close', () =>
      reject(new OutboundUnanswered('the connection was closed without a response')),
    );
    outgoing.end(content);
    const response = await promise;
    try {
      const status = response.statusCode ?? 0;
      // RFC 9110 §15: three digits from 100 to 599.
      if (status < 200 || status > 599) throw new OutboundUnanswered(`the response has the status ${status}`);
      // A redirect is not followed (R031). The body of a response to a notification is not read.
      const isDocument = method === 'GET' && status === 200;
      const text = isDocument ? await readDocument(response, what.use) : null;
      return new Response(text, { status, headers: headersOf(response.headers) });
    } finally {
      outgoing.destroy();
    }
  };
}

/** Says before the first request what could not be called, and why. */
type WhyUnreachable = (uri: string, what: OutboundRequest) => Promise<string | undefined>;

const RESOLVE_MS = 2000;

export function createWhyUnreachable({
  resolve = systemResolve,
  rules = NO_EXCEPTIONS,
}: Deps): WhyUnreachable {
  return async (uri, what) => {
    const url = URL.parse(uri);
    if (url === null) return 'it is not an address';
    const problem = earlyProblem(rules, url, what);
    if (problem !== undefined || isIP(literalOf(url)) !== 0) return problem;
    const late = wait(RESOLVE_MS, [], { ref: false });
    const addresses = await Promise.race([resolve(url.hostname).catch(() => []), late]);
    return problemOfAll(addresses, (address) => rules.problemAt(url, address, what));
  };
}

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
