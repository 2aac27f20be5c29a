// Counts, in the process of a test, what answers the successes of token, userinfo and introspection requests: a handler of
// src/oidc/plain/ or the framework and the library. A plain answer gives its headers as a list, nothing else of ours does.
// Loaded before the tests by scripts/interop.sh; share.ts beside it tells the sum.
import { appendFileSync } from 'node:fs';
import { type IncomingMessage, ServerResponse } from 'node:http';

const list = process.env.PLAIN_SHARE_LIST;
const ENDPOINT = /\/(token|userinfo|introspect)(?:\?|$)/;

/** What the handlers leave to the library on purpose, as src/oidc/plain/plain-request.ts has it. */
function reasonOf({ headers }: IncomingMessage): string {
  if (headers.dpop !== undefined || /^DPoP /i.test(headers.authorization ?? '')) return 'DPoP';
  return headers.cookie === undefined ? '' : 'cookie';
}

if (list !== undefined) {
  ServerResponse.prototype.writeHead = new Proxy(ServerResponse.prototype.writeHead, {
    apply(writeHead, response: ServerResponse, args: readonly unknown[]) {
      const [status, headers] = args;
      const { req: request } = response;
      const [, endpoint] = ENDPOINT.exec(request.url ?? '') ?? [];
      const isAsked = request.method === 'POST' || request.method === 'GET';
      if (endpoint !== undefined && isAsked && status === 200) {
        const counted = { endpoint, isPlain: Array.isArray(headers), reason: reasonOf(request) };
        appendFileSync(list, `${JSON.stringify(counted)}\n`);
      }
      return Reflect.apply(writeHead, response, args);
    },
  });
}
