// A connection to a server that can be cut: every connection ends without a word and no new one is accepted, as when the
// machine at its other end is killed, while what that machine has written stays.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PassThrough, Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';

export interface Wire {
  readonly port: number;
  /**
   * @param how `hard`: at once; `answered`: nothing more is taken, and what the server has taken is still answered;
   * `unheard`: the same, but no one hears the answers
   */
  cut(how?: 'hard' | 'answered' | 'unheard'): Promise<void>;
  mend(): Promise<void>;
}

/** What the server has been asked it has answered by then, where no one counts its answers. */
const ANSWERED_MS = 150;
const SETTLED_MS = 30_000;

/** What the server says about its own address would lead its callers past the wire: both ports have five digits. */
function renaming(target: number, port: number): Transform {
  const own = Buffer.from(`127.0.0.1:${target}`);
  const other = Buffer.from(`127.0.0.1:${port}`);
  if (own.length !== other.length) throw new Error('ports of different lengths');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = chunk.indexOf(own); at >= 0; at = chunk.indexOf(own, at)) other.copy(chunk, at);
      done(null, chunk);
    },
  });
}

/** What stands in a connection, on the way to the server and back. */
export interface Tap {
  readonly up: Transform;
  readonly down: Transform;
  /** Whether everything that was passed on has its answer; default: after a moment it has. */
  readonly isSettled?: () => boolean;
}

const plain = (): Tap => ({ up: new PassThrough(), down: new PassThrough() });

/**
 * @param target the port it leads to, both on loopback
 * @param identity PEM; with it the near end speaks TLS
 */
export async function layWire(
  target: number,
  tap: () => Tap = plain,
  identity?: { readonly key: string; readonly cert: string },
): Promise<Wire> {
  const ends = new Set<Socket>();
  const nears = new Map<Socket, Transform>();
  const settled = new Map<Socket, () => boolean>();
  let server: Server | undefined;
  let port = 0;

  function join(near: Socket): void {
    const far = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
    }
    const { up, down, isSettled } = tap();
    if (isSettled) settled.set(near, isSettled);
    const named = renaming(target, port);
    nears.set(near, named);
    const leave = (): void => {
      up.destroy();
      nears.delete(near);
      settled.delete(near);
    };
    near.on('close', leave);
    near.on('error', leave);
    near.pipe(up).pipe(far);
    far.pipe(down).pipe(named).pipe(near);
  }

  async function listen(at: number): Promise<number> {
    server = identity ? createTlsServer(identity, join) : createServer(join);
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    return address.port;
  }

  port = await listen(0);
  return {
    port,
    async cut(how = 'hard') {
      const closing = server;
      server = undefined;
      if (closing === undefined) return;
      const isClosed = once(closing, 'close');
      closing.close();
      if (how !== 'hard') {
        for (const [near, named] of nears) {
          near.unpipe().pause();
          if (how === 'unheard') named.unpipe(near).resume();
        }
        await sleep(ANSWERED_MS);
        const until = performance.now() + SETTLED_MS;
        while (![...settled.values()].every((isSettled) => isSettled()) && performance.now() < until)
          await sleep(5);
      }
      // Not resetAndDestroy(): a reset that meets a shutdown fails (EINVAL) and leaves the handle open for good; then neither the
      // server closes nor, with Node 24, the process ends. A killed process's connections mostly end like this, too.
      for (const end of ends) end.destroy();
      await isClosed;
    },
    async mend() {
      await listen(port);
    },
  };
}
