// A load balancer for several web processes: sends each request to a ready one, and where the connection is refused, so that
// nothing can have happened, to the next. It retries nothing else.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface Balancer {
  /** Requests that were sent to another process because the first took no connection. */
  readonly moved: number;
  /** Requests for which there was no whole answer, and why. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

const PROBE_MS = 100;

/** @param ports of the processes, on loopback; need not be listening yet */
export async function startBalancer(port: number, ports: readonly number[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const ready = new Set<number>();
  const failures: string[] = [];
  let moved = 0;
  let turn = 0;

  async function probe(target: number): Promise<void> {
    const isReady = await fetch(`http://127.0.0.1:${target}/readyz`, {
      signal: AbortSignal.timeout(1_000),
    }).then(
      async (answer) => {
        await answer.text();
        return answer.ok;
      },
      () => false,
    );
    if (isReady) ready.add(target);
    else ready.delete(target);
  }
  const probing = setInterval(() => void Promise.all(ports.map(probe)), PROBE_MS);

  function send(
    incoming: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    targets: readonly number[],
  ): void {
    const [target, ...others] = targets;
    const fail = (why: string): void => {
      failures.push(`${incoming.method} ${incoming.url}: ${why}`);
      response.destroy();
    };
    if (target === undefined) {
      fail('nobody takes a connection');
      return;
    }
    const { method = 'GET', url = '/', headers } = incoming;
    const outgoing = request({ host: '127.0.0.1', port: target, method, path: url, headers, agent });
    outgoing.on('error', (error) => {
      if ('code' in error && error.code === 'ECONNREFUSED') {
        moved += 1;
        send(incoming, response, body, others);
      } else fail(error.message);
    });
    outgoing.on('response', (answer) => {
      const { connection: _, 'keep-alive': __, ...rest } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, rest);
      answer.on('error', (error) => fail(error.message));
      answer.pipe(response);
    });
    outgoing.end(body);
  }

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    turn += 1;
    const inTurn = ports.map((_, index) => ports[(index + turn) % ports.length] ?? 0);
    const first = inTurn.filter((target) => ready.has(target));
    send(incoming, response, Buffer.concat(chunks), [
      ...first,
      ...inTurn.filter((target) => !ready.has(target)),
    ]);
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    get moved() {
      return moved;
    },
    failures,
    async stop() {
      clearInterval(probing);
      agent.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
