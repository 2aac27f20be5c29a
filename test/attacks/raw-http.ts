// Requests that no HTTP client library sends: any Host, repeated headers, bytes that are no HTTP.
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly elapsedMs: number;
}

export interface RawRequest {
  readonly path: string;
  readonly method?: string;
  /** As they go on the wire, in order, names twice where they are; without Host the address's own is sent. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
}

const hostOf = (url: string): string => new URL(url).host;

/** @param url the server; the path of the request is taken as it is, absolute forms included */
export function send(
  url: string,
  { path, method = 'GET', headers = [], body }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const own: [string, string][] = [
    ...(names.has('host') ? [] : [['Host', host] as [string, string]]),
    // A server that closes while a large body is still coming resets the connection, and its answer may be lost with it.
    ...(names.has('connection') ? [] : [['Connection', 'keep-alive'] as [string, string]]),
    ...(body === undefined || names.has('content-length') || names.has('transfer-encoding')
      ? []
      : [['Content-Length', String(length)] as [string, string]]),
  ];
  const startedAt = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const outgoing = request(
    { hostname, port, path, method, agent: false, setHost: false, headers: [...own, ...headers].flat() },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        outgoing.destroy();
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
          elapsedMs: performance.now() - startedAt,
        });
      });
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

/**
 * Sends bytes as they are and waits for the other side to close.
 * @returns what came back; '' if it was closed without a word
 */
export function exchange(url: string, bytes: string | Uint8Array, patienceMs = 15_000): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  const timer = setTimeout(() => {
    socket.destroy();
    reject(
      new Error(`no end after ${patienceMs} ms: ${Buffer.concat(chunks).toString('latin1').slice(0, 500)}`),
    );
  }, patienceMs);
  socket.on('data', (chunk) => chunks.push(chunk));
  // A reset after the answer is the server's right: the rest of the request interests no one.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearTimeout(timer);
    resolve(Buffer.concat(chunks).toString('latin1'));
  });
  return promise;
}

/** A request's bytes, with `Connection: close`. */
export const plainRequest = (url: string, line: string, headers: readonly string[], body = ''): string =>
  [line, `Host: ${hostOf(url)}`, 'Connection: close', ...headers, '', body].join('\r\n');

/** The status of an answer that `exchange` gave; 0 when there was none. */
export const statusIn = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
