// Load generator: a minimal HTTP/1.1 client over keep-alive sockets, so that it costs little beside the server. Loopback only.
import { createConnection, type Socket } from 'node:net';

export interface Target {
  readonly port: number;
}

/** One request as bytes; `undefined` ends this connection's part. */
export type NextRequest = (connection: number, previousBody: string) => Buffer | undefined;

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Of all answers, in milliseconds, sorted. */
  readonly latencies: Float64Array;
}

/** @returns the bytes of a request with the headers every HTTP/1.1 client sends */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Buffer {
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...headers,
    ...(method === 'POST' ? { 'Content-Length': String(Buffer.byteLength(body)) } : {}),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/**
 * Keeps this process from sleeping. Waking its core costs whoever answers 20 to 40 µs on a virtual machine, as much as a whole answer
 * of bare node:http, which is so fast that it never has to: the slower server would be charged for being slower.
 * @returns ends it
 */
function stayAwake(): () => void {
  let isAwake = true;
  const turn = (): void => {
    if (isAwake) setImmediate(turn);
  };
  turn();
  return () => {
    isAwake = false;
  };
}

/** @throws Error on the first response that is not 2xx or 3xx: results with errors would be meaningless */
export async function load(
  target: Target,
  { connections, ms, next }: { connections: number; ms: number; next: NextRequest },
): Promise<LoadResult> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const until = startedAt + ms;
  const letSleep = stayAwake();
  try {
    await Promise.all(
      Array.from({ length: connections }, (_, index) => drive(target, index, until, next, latencies)),
    );
  } finally {
    letSleep();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  return { requests: latencies.length, seconds, latencies: Float64Array.from(latencies).sort() };
}

function drive(
  { port }: Target,
  index: number,
  until: number,
  next: NextRequest,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
    let received = Buffer.alloc(0);
    let sentAt = 0;
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const send = (previousBody: string): void => {
      const request = performance.now() < until ? next(index, previousBody) : undefined;
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', () => send(''));
    socket.on('error', fail);
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = received.toString('latin1', 0, headEnd);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (received.length < end) return;
      const status = Number(head.slice(9, 12));
      const body = received.toString('utf8', headEnd + 4, end);
      if (status >= 400) {
        fail(new Error(`answer ${status}: ${body.slice(0, 300)}`));
        return;
      }
      latencies.push(performance.now() - sentAt);
      received = received.subarray(end);
      send(status === 303 ? head : body);
    });
  });
}
