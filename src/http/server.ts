// The HTTP server: its limits for slow clients and large requests, and a stop that fails no request
// (R158).
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { noteConnection } from './connection-times.ts';
import {
  cookieRefusal,
  MAX_COOKIE_BYTES,
  MAX_HEADER_BYTES,
  type Refusal,
  refuseHead,
} from './request-limits.ts';
import { securityHeaderValues } from './security-headers.ts';

export interface HttpServerOptions {
  readonly handler: RequestListener;
  /** Whether BASE_URL is https; decides the headers of responses created here. */
  readonly isSecure?: boolean;
  /** The host of BASE_URL if it is loopback: other programs there set cookies for it too. */
  readonly loopbackHost?: string | undefined;
  /** Bytes of request line and headers together. */
  readonly maxHeaderSize?: number;
  readonly headersTimeoutMs?: number;
  /** For the whole request, body included. */
  readonly requestTimeoutMs?: number;
  /** Longer than a proxy keeps its side open (60 s as a rule), so that the proxy closes first and loses no request. */
  readonly keepAliveTimeoutMs?: number;
}

export interface StopOptions {
  /** Requests that still run after this are aborted. */
  readonly graceMs: number;
  /**
   * How long new connections are still served after /readyz failed, each response closing its connection: time for the load
   * balancer to notice. Default 0.
   */
  readonly drainMs?: number;
}

/** A server that reports that it is stopping. */
export interface HttpServer extends Server {
  /** True once stopServer was called; /readyz fails then. */
  isDraining: boolean;
}

const answers = new WeakMap<Server, Set<ServerResponse>>();
const connections = new WeakMap<Server, Set<Socket>>();

// node:http checks no timeouts after a server was closed: an incomplete head is not waited for any longer.
const HEAD_GRACE_MS = 2_000;

type Site = Pick<HttpServerOptions, 'isSecure' | 'loopbackHost'>;

const messageOf = (refusal: Refusal, { loopbackHost }: Site): string =>
  refusal === cookieRefusal && loopbackHost !== undefined
    ? `The request headers are too large. If this is a browser: it sends the cookies that other programs on this machine set for ${loopbackHost}. ` +
      `Delete those (in the browser's settings, site data of ${loopbackHost}) and reload; the cookies of this server were cleared.`
    : refusal.message;

const refusalHeaders = (refusal: Refusal, site: Site): Record<string, string> => ({
  ...securityHeaderValues({ isSecure: site.isSecure === true }),
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(messageOf(refusal, site))),
  Connection: 'close',
  // Too many cookies would lock the user out permanently, so this makes the browser delete them; not those of other programs.
  ...(refusal === cookieRefusal && site.loopbackHost === undefined ? { 'Clear-Site-Data': '"cookies"' } : {}),
});

const OURS = /^(?:__Host-|__Secure-)?latchkey_/;

/** For browsers without Clear-Site-Data, and for plain http: expires the cookies one by one. */
const expiredCookies = (request: IncomingMessage, { loopbackHost }: Site): string[] =>
  (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.split('=', 1)[0]?.trim() ?? '')
    .filter((name) => /^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name))
    .filter((name) => loopbackHost === undefined || OURS.test(name))
    .slice(0, 180)
    .map((name) => `${name}=; Path=/; Max-Age=0${name.startsWith('__') ? '; Secure' : ''}`);

function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal, site: Site): void {
  if (refusal === cookieRefusal) response.setHeader('Set-Cookie', expiredCookies(request, site));
  response.writeHead(refusal.status, refusalHeaders(refusal, site));
  response.end(request.method === 'HEAD' ? undefined : messageOf(refusal, site));
}

/**
 * Whether cookies made the head too large. A long address is no reason to delete them: a link or an image on another site can
 * request one, and would sign the user out.
 */
function isCookieOverflow(error: NodeJS.ErrnoException): boolean {
  const packet: unknown = 'rawPacket' in error ? error.rawPacket : undefined;
  if (error.code !== 'HPE_HEADER_OVERFLOW' || !Buffer.isBuffer(packet)) return false;
  const lines = packet.toString('latin1').split('\r\n');
  return lines.some((line) => line.length > MAX_COOKIE_BYTES && /^cookie:/i.test(line));
}

const clientErrors: Readonly<Record<string, [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long.'],
};

/**
 * Answers a request that could not be parsed as HTTP.
 * @param isAnswering whether an earlier response is being sent on this socket: more bytes would corrupt it
 */
function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { site, isAnswering }: { site: Site; isAnswering: boolean },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const [status, usual] = clientErrors[error.code ?? ''] ?? [400, 'The request could not be read.'];
  const refusal: Refusal = isCookieOverflow(error)
    ? cookieRefusal
    : { status: status === 431 ? 431 : 400, message: usual };
  const headers = refusalHeaders(refusal, site);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${messageOf(refusal, site)}`,
  );
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { handler } = options;
  const open = new Set<ServerResponse>();
  const listener: RequestListener = (request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    // A body that was rejected half-way may leave the connection paused: its end would not be noticed, and a stop would wait
    // for it.
    response.once('finish', () => {
      if (!request.complete) request.resume();
    });
    if (server.isDraining) response.shouldKeepAlive = false;
    const refusal = refuseHead(request);
    if (refusal === undefined) handler(request, response);
    else refuse(request, response, refusal, options);
  };
  const headersTimeout = options.headersTimeoutMs ?? 10_000;
  const plain = createServer(
    {
      maxHeaderSize: options.maxHeaderSize ?? MAX_HEADER_BYTES,
      headersTimeout,
      requestTimeout: options.requestTimeoutMs ?? 30_000,
      keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
      // How often Node checks these timeouts; its default of 30 s would make them meaningless.
      connectionsCheckingInterval: Math.min(1_000, headersTimeout / 2),
      requireHostHeader: true,
    },
    listener,
  );
  const server: HttpServer = Object.assign(plain, { isDraining: false });
  server.on('clientError', (error, socket) => {
    const isAnswering = [...open].some((response) => response.socket === socket && response.headersSent);
    answerClientError(error, socket, { site: options, isAnswering });
  });
  answers.set(server, open);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    noteConnection(socket);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  connections.set(server, sockets);
  return server;
}

/** Closes connections without a response in progress: idle ones, and those with an incomplete request. */
function closeUnanswered(server: Server): void {
  const busy = new Set([...(answers.get(server) ?? [])].map(({ socket }) => socket));
  for (const socket of connections.get(server) ?? []) {
    if (!busy.has(socket)) socket.destroy();
  }
}

/** How many requests have no answer, or part of one. */
export const requestsIn = (server: Server): number => answers.get(server)?.size ?? 0;

/** @returns the port the server listens on, which differs from `port` when that is 0 */
export async function listen(server: Server, address: { port: number; host: string }): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // No host means every address: IPv6 and IPv4 where the machine has both.
  server.listen({ port: address.port, ...(address.host === '' ? {} : { host: address.host }) }, resolve);
  await promise;
  server.off('error', reject);
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : address.port;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const SHORT_TURN_MS = 0.5;
const ACCEPTING_MS = 500;

/**
 * Resolves just after the event loop has accepted and read everything that had arrived. The kernel resets connections that are
 * still unaccepted when the port closes, and a proxy may not repeat their requests.
 */
async function everythingAccepted(): Promise<void> {
  const until = performance.now() + ACCEPTING_MS;
  for (let turn = 0; performance.now() < until; turn += 1) {
    const startedAt = performance.now();
    // Immediates run right after the phase that accepts and reads (a short one: nothing waits since it began).
    await new Promise((resolve) => setImmediate(resolve));
    if (turn > 0 && performance.now() - startedAt < SHORT_TURN_MS) return;
  }
}

/**
 * Stops without failing a request: /readyz fails at once, every response from now on closes its connection, then the port
 * closes, and running requests get `graceMs` to end.
 * @returns whether all requests ended by themselves
 */
export async function stopServer(
  server: HttpServer,
  { graceMs, drainMs = 0 }: StopOptions,
): Promise<boolean> {
  server.isDraining = true;
  for (const response of answers.get(server) ?? []) response.shouldKeepAlive = false;
  if (drainMs > 0) await sleep(drainMs);
  await everythingAccepted();
  const closed = Promise.withResolvers<boolean>();
  server.close(() => closed.resolve(true));
  // A response whose head was sent before may leave its connection open.
  const closedAt = performance.now();
  const sweeper = setInterval(() => {
    server.closeIdleConnections();
    if (performance.now() - closedAt > HEAD_GRACE_MS) closeUnanswered(server);
  }, 50);
  const force = setTimeout(() => {
    server.closeAllConnections();
    closed.resolve(false);
  }, graceMs);
  try {
    return await closed.promise;
  } finally {
    clearInterval(sweeper);
    clearTimeout(force);
  }
}
