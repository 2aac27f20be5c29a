// Queues with a limit on running tasks (first come, first served) and on waiting ones. Without the second, a flood
// would fill the memory and produce answers for clients that have given up (checklist R139).
import { AppError } from '../../errors.ts';

export interface BoundedQueue {
  /**
   * @param task receives whether it had to wait
   * @throws AppError server.busy at once when the queue is full
   */
  run<T>(task: (hasWaited: boolean) => Promise<T>): Promise<T>;
}

export function createBoundedQueue(limits: { maxInFlight: number; maxQueued: number }): BoundedQueue {
  const waiting: (() => void)[] = [];
  let inFlight = 0;

  const enter = async (): Promise<boolean> => {
    if (inFlight < limits.maxInFlight) {
      inFlight += 1;
      return false;
    }
    if (waiting.length >= limits.maxQueued) throw new AppError('server.busy', { retryAfterSeconds: 1 });
    // A finished task passes its slot on, so that no newcomer can take it.
    await new Promise<void>((resolve) => waiting.push(resolve));
    return true;
  };

  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) inFlight -= 1;
    else next();
  };

  return {
    async run(task) {
      const hasWaited = await enter();
      try {
        return await task(hasWaited);
      } finally {
        leave();
      }
    },
  };
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: (reason: AppError) => void;
}

export interface FairQueue {
  /**
   * One task per key at a time, in their order.
   * @param task receives whether it had to wait
   * @throws AppError server.busy when too many wait and this key has the most
   */
  run<T>(key: string, task: (hasWaited: boolean) => Promise<T>): Promise<T>;
}

/**
 * The limit is on all that wait together. When it is reached, the key with the most waiting gives up its last place: a flood
 * on one name refuses no other, and one person alone may use all places.
 */
export function createFairQueue({ maxQueued }: { maxQueued: number }): FairQueue {
  /** Who waits behind the running task of a key; a key takes memory only while it has one. */
  const lines = new Map<string, Waiter[]>();
  let queued = 0;
  const busy = (): AppError => new AppError('server.busy', { retryAfterSeconds: 1 });

  function makeRoomFor(line: readonly Waiter[]): void {
    let longest: Waiter[] = [];
    for (const other of lines.values()) if (other.length > longest.length) longest = other;
    const last = longest.length > line.length + 1 ? longest.pop() : undefined;
    if (last === undefined) throw busy();
    queued -= 1;
    last.refuse(busy());
  }

  const enter = async (key: string): Promise<boolean> => {
    const line = lines.get(key);
    if (line === undefined) {
      lines.set(key, []);
      return false;
    }
    if (queued >= maxQueued) makeRoomFor(line);
    queued += 1;
    await new Promise<void>((start, refuse) => line.push({ start, refuse }));
    return true;
  };

  const leave = (key: string): void => {
    const next = lines.get(key)?.shift();
    if (next === undefined) {
      lines.delete(key);
      return;
    }
    queued -= 1;
    next.start();
  };

  return {
    async run(key, task) {
      const hasWaited = await enter(key);
      try {
        return await task(hasWaited);
      } finally {
        leave(key);
      }
    },
  };
}
