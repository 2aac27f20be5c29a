// Answers plain successes of the busiest endpoints before Koa and the library, which cost more than the rest of such a request
// together. A handler either answers 200 or has had no effect: then the request goes on as if none had looked at it, so that
// every refusal, and whatever is unusual, stays where it is. test/flows/plain-answers.test.ts holds that both ways are the same.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientAddress, clientCorsHeaders, securityHeaderValues } from '../../http/index.ts';
import { mayBeInLayout, type ResolveAlias } from '../foreign-layout/aliases.ts';
import type { ProtocolMount } from '../mount.ts';
import { mayBePlain, type PlainRequest, readPlainRequest } from './plain-request.ts';

export interface Call {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** The client's address, and the id of the request. */
  readonly ip: string;
  readonly id: string;
  /** Of the script that asks; undefined for a program. */
  readonly origin: string | undefined;
}

/**
 * @returns the JSON of a success, which a script of `origin` may read, too (plain-client.ts `isReadableBy`); undefined, without any
 * effect, for everything else
 */
export type PlainHandler = (request: PlainRequest, call: Call) => Promise<object | undefined>;

export interface PlainAnswers {
  /**
   * @param begin gives the request its id and its line in the log (src/http/request-log.ts)
   * @returns whether it is answered; undefined at once for a request that is none of ours
   */
  respond(
    request: IncomingMessage,
    response: ServerResponse,
    begin: (asked: { readonly path: string; readonly ip: string }) => { readonly id: string },
  ): Promise<boolean> | undefined;
}

interface Deps {
  /** By method and path below BASE_URL: `POST /oauth2/introspect`. */
  readonly handlers: Readonly<Record<string, PlainHandler>>;
  /** What a path of the second layout stands for, by the settings of now. */
  readonly resolveAlias: ResolveAlias;
  readonly config: {
    readonly baseUrl: string;
    readonly basePath: string;
    readonly trustProxy: number;
  };
  readonly mount: Pick<ProtocolMount, 'ready'>;
  readonly refreshSettings: () => Promise<void>;
}

export function createPlainAnswers(deps: Deps): PlainAnswers {
  const { handlers, resolveAlias, config, mount, refreshSettings } = deps;
  const { baseUrl, basePath, trustProxy } = config;
  const byTarget = new Map(
    Object.entries(handlers).map(([target, handle]) => [target.replace(' ', ` ${basePath}`), handle]),
  );
  const headers: Readonly<Record<string, string>> = {
    ...securityHeaderValues({ isSecure: baseUrl.startsWith('https:') }),
    Vary: 'Origin',
    'Content-Type': 'application/json; charset=utf-8',
  };
  // As src/http/security-headers.ts has it: what a script elsewhere may read it may load.
  const { 'Cross-Origin-Resource-Policy': _, ...readable } = headers;
  // Names and values in turn, which Node writes as they are.
  const toPrograms = Object.entries(headers).flat();
  const toScripts = Object.entries(readable).flat();

  function find(method: string, path: string): PlainHandler | undefined {
    const known = byTarget.get(`${method} ${path}`);
    if (known !== undefined || !mayBeInLayout(path) || !path.startsWith(basePath)) return known;
    const target = resolveAlias(path.slice(basePath.length));
    return target === undefined ? undefined : byTarget.get(`${method} ${basePath}${target}`);
  }

  async function answer(call: Call, path: string, handle: PlainHandler): Promise<string | undefined> {
    try {
      const plain = await readPlainRequest(call.incoming);
      if (plain === undefined) return undefined;
      await refreshSettings();
      // The setting `legacy_profiles` has just changed what the provider is built with, or `realm_aliases` what the path means.
      if (mount.ready() !== undefined || find(call.incoming.method ?? '', path) !== handle) return undefined;
      const body = await handle(plain, call);
      return body && JSON.stringify(body);
    } catch {
      // The library meets the same error, and its error handler says what to do with it.
      return undefined;
    }
  }

  return {
    respond(request, response, begin) {
      const { method = '', url = '' } = request;
      // The query of a POST is nobody's (RFC 6749 §3.2 lets the address have one), but for what the models read in the context.
      const path = method === 'POST' ? url.replace(/\?.*/s, '') : url;
      const handle = find(method, path);
      if (handle === undefined || !mayBePlain(request)) return undefined;
      const ip = clientAddress(request, trustProxy);
      const { id } = begin({ path, ip });
      const { origin } = request.headers;
      const ours =
        origin === undefined
          ? toPrograms
          : [...toScripts, ...Object.entries(clientCorsHeaders(origin)).flat()];
      return answer({ incoming: request, response, ip, id, origin }, path, handle).then((text) => {
        if (text === undefined) return false;
        // What was read was put back (plain-request.ts); the connection waits for its end.
        request.resume();
        const length = String(Buffer.byteLength(text));
        // RFC 6749 §5.1.
        const ofToken = path.endsWith('/token') ? ['Pragma', 'no-cache'] : [];
        response.writeHead(200, [...ours, ...ofToken, 'X-Request-Id', id, 'Content-Length', length]);
        response.end(text);
        return true;
      });
    },
  };
}
