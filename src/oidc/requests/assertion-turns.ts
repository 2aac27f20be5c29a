// Assertions of an application (RFC 7523 §2.2) are verified a few in parallel per application (decision 0012). Anybody can send one in its
// name, and one that names no key is tried with each of its keys: a flood would otherwise take the threads that hash passwords
// and read files. Those that wait take turns by the networks that they come from, so the application's own come through.
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { countedAs } from '../../http/index.ts';
import { createSharedQueue, type SharedQueue, type TurnPath, turnOf } from '../../rate-limits/index.ts';

const IN_PARALLEL = 4;
const MAX_WAITING = 500;
const MAX_WAIT_MS = 5000;

export interface AssertionTurns {
  /** Before the library verifies the assertion of this request. @throws AppError server.busy */
  enter(ctx: Koa.Context, clientId: string): Promise<void>;
  /** It is verified; without effect where it already was, or never entered. */
  leave(req: IncomingMessage): void;
  /** While its application's key set is fetched, which may last, its turn is others'; then it waits for another. */
  whileFetching(req: IncomingMessage, fetchKeys: () => Promise<void>): Promise<void>;
  readonly middleware: Koa.Middleware;
}

interface Turn {
  isOver: boolean;
  /** Of the turn that it has now. */
  end: () => void;
  readonly begin: () => Promise<void>;
}

export function createAssertionTurns(): AssertionTurns {
  /** Of each application whose assertions are being verified. */
  const queues = new Map<string, { readonly queue: SharedQueue; requests: number }>();
  const turns = new WeakMap<IncomingMessage, Turn>();

  function queueOf(clientId: string) {
    const known = queues.get(clientId);
    if (known !== undefined) return known;
    const limits = { maxInFlight: IN_PARALLEL, maxQueued: MAX_WAITING, maxWaitMs: MAX_WAIT_MS };
    const made = { queue: createSharedQueue(limits), requests: 0 };
    queues.set(clientId, made);
    return made;
  }

  async function begin(turn: Turn, clientId: string, path: TurnPath): Promise<void> {
    const { promise: verified, resolve } = Promise.withResolvers<void>();
    Object.assign(turn, { isOver: false, end: resolve });
    const own = queueOf(clientId);
    own.requests += 1;
    await new Promise<void>((start, refuse) => {
      own.queue
        .run(path, () => {
          start();
          return verified;
        })
        .catch(refuse)
        .finally(() => {
          own.requests -= 1;
          if (own.requests === 0) queues.delete(clientId);
        });
    });
  }

  function leave(req: IncomingMessage): void {
    const turn = turns.get(req);
    if (turn === undefined) return;
    turn.isOver = true;
    turn.end();
  }

  return {
    async enter(ctx, clientId) {
      const { req } = ctx;
      // The library looks an application up more than once in a request.
      if (turns.has(req)) return;
      const path = turnOf(countedAs(ctx));
      const turn: Turn = { isOver: true, end: () => undefined, begin: () => begin(turn, clientId, path) };
      turns.set(req, turn);
      await turn.begin();
    },
    async whileFetching(req, fetchKeys) {
      const turn = turns.get(req);
      if (turn === undefined || turn.isOver) return fetchKeys();
      leave(req);
      await fetchKeys();
      await turn.begin();
    },
    leave,
    async middleware({ req }, next) {
      try {
        await next();
      } finally {
        leave(req);
      }
    },
  };
}
