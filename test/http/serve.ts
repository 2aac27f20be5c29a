// What the HTTP tests share: a real server on a free port, and requests whose every header the test decides.
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import Koa from 'koa';
import { type ErrorBoundaryOptions, errorBoundary } from '../../src/http/boundary.ts';
import { pinOrigin } from '../../src/http/origin.ts';
import { createRequestLog } from '../../src/http/request-log.ts';
import { securityHeaders } from '../../src/http/security-headers.ts';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  listen,
  stopServer,
} from '../../src/http/server.ts';
import { newId } from '../../src/ids.ts';
import { createLogger, type Logger } from '../../src/log.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Site {
  readonly server: HttpServer;
  readonly port: number;
  /** Every line that was logged so far. */
  readonly lines: string[];
  send(path: string, options?: SendOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer | undefined;
  readonly agent?: Agent;
}

export interface SiteOptions {
  readonly baseUrl?: string;
  readonly trustProxy?: number;
  readonly server?: Partial<HttpServerOptions>;
  readonly sendErrorPage?: ErrorBoundaryOptions['sendErrorPage'];
}

export const testKeys = ['newest-key-0123456789abcdef0123456789', 'older-key-0123456789abcdef01234567890'];

export function recordingLog(): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  return { log: createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } }), lines };
}

export function send(port: number, path: string, options: SendOptions = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { method = 'GET', headers = {}, body, agent = new Agent() } = options;
  const outgoing = request({ port, path, method, headers, agent, host: '127.0.0.1' }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', reject);
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text });
    });
  });
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

/** Sends bytes as they are and resolves with all that comes back until the server closes. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(text));
  return promise;
}

const sendPlainPage: ErrorBoundaryOptions['sendErrorPage'] = (ctx, page) => {
  ctx.type = 'html';
  ctx.body = `<p>${page.message}</p><p>${page.requestId}</p>`;
};

/** A server whose app wraps `handle` in the middleware that every real request passes, in the same order. */
export async function serve(handle: Koa.Middleware, options: SiteOptions = {}): Promise<Site> {
  const { baseUrl = 'http://localhost:3000', trustProxy = 0 } = options;
  const { log, lines } = recordingLog();
  const isSecure = baseUrl.startsWith('https:');
  const sendErrorPage = options.sendErrorPage ?? sendPlainPage;
  const app = new Koa();
  pinOrigin(app, { baseUrl, trustProxy, keys: testKeys });
  app.use(createRequestLog({ log, newId }).middleware);
  app.use(securityHeaders({ isSecure }));
  app.use(errorBoundary({ log, sendErrorPage }));
  app.use(handle);
  const server = createHttpServer({ handler: app.callback(), isSecure, ...options.server });
  const port = await listen(server, { port: 0, host: '127.0.0.1' });
  return {
    server,
    port,
    lines,
    send: (path, request) => send(port, path, request),
    close: async () => void (await stopServer(server, { graceMs: 200 })),
  };
}
