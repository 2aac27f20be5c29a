// Waiting in line: at most so many tasks at once, first come first served, and a refusal beyond a bound, because
// a queue without one turns a flood into memory and into answers that nobody waits for any more (checklist R139).
import { AppError } from '../../errors.ts';

export interface BoundedQueue {
  /**
   * @param task receives whether it had to wait
   * @throws AppError server.busy at once when the line is full
   */
  run<T>(task: (hasWaited: boolean) => Promise<T>): Promise<T>;
  /** Whether nothing runs and nobody waits. */
  isIdle(): boolean;
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
    // The one who leaves hands over its place, so that no newcomer can slip in between.
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
    isIdle: () => inFlight === 0 && waiting.length === 0,
  };
}

/** One queue per key; a key costs memory only while somebody is in its line. */
export function createKeyedQueue(limits: { maxInFlight: number; maxQueued: number }) {
  const queues = new Map<string, BoundedQueue>();
  return {
    async run<T>(key: string, task: (hasWaited: boolean) => Promise<T>): Promise<T> {
      const queue = queues.get(key) ?? createBoundedQueue(limits);
      queues.set(key, queue);
      try {
        return await queue.run(task);
      } finally {
        if (queue.isIdle()) queues.delete(key);
      }
    },
  };
}
