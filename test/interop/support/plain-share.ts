// Counts, in the process of a test, what answers the successes of token, userinfo and introspection requests: a handler of
// src/oidc/plain/ or the framework and the library. A plain answer gives its headers as a list, nothing else of ours does.
// Loaded before the tests by scripts/interop.sh; share.ts beside it tells the sum.
import { appendFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';

const list = process.env.PLAIN_SHARE_LIST;
const ENDPOINT = /\/(token|userinfo|introspect)(?:\?|$)/;

/** The grant that there is a handler for (src/oidc/plain/token.ts). */
const GRANT = /(?:^|&)grant_type=client_credentials(?:&|$)/;

const bodies = new WeakMap<IncomingMessage, string>();

/** What the handlers leave to the library on purpose, as src/oidc/plain/plain-request.ts has it. */
function reasonOf(request: IncomingMessage, endpoint: string): string {
  const { headers } = request;
  if (endpoint === 'token' && !GRANT.test(bodies.get(request) ?? '')) return 'another grant';
  if (headers.dpop !== undefined || /^DPoP /i.test(headers.authorization ?? '')) return 'DPoP';
  return headers.cookie === undefined ? '' : 'cookie';
}

if (list !== undefined) {
  // What the parser of node:http gives to a request, before anyone reads it.
  IncomingMessage.prototype.push = new Proxy(IncomingMessage.prototype.push, {
    apply(push, request: IncomingMessage, args: readonly unknown[]) {
      const [chunk] = args;
      if (Buffer.isBuffer(chunk))
        bodies.set(request, `${bodies.get(request) ?? ''}${chunk.toString('latin1')}`);
      return Reflect.apply(push, request, args);
    },
  });
  ServerResponse.prototype.writeHead = new Proxy(ServerResponse.prototype.writeHead, {
    apply(writeHead, response: ServerResponse, args: readonly unknown[]) {
      const [status, headers] = args;
      const { req: request } = response;
      const [, endpoint] = ENDPOINT.exec(request.url ?? '') ?? [];
      const isAsked = request.method === 'POST' || request.method === 'GET';
      // A proxy of a test hands on what was counted; the product itself speaks no TLS.
      const isOurs = !(request.socket instanceof TLSSocket);
      if (endpoint !== undefined && isOurs && isAsked && status === 200) {
        const counted = { endpoint, isPlain: Array.isArray(headers), reason: reasonOf(request, endpoint) };
        appendFileSync(list, `${JSON.stringify(counted)}\n`);
      }
      return Reflect.apply(writeHead, response, args);
    },
  });
}
