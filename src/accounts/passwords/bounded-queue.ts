// A queue with a limit on running tasks (first come, first served) and on waiting ones. Without the second, a flood
// would fill the memory and produce answers for clients that have given up (checklist R139).
import { AppError } from '../../errors.ts';

export interface BoundedQueue {
  /**
   * @param task receives whether it had to wait
   * @throws AppError server.busy at once when the queue is full
   */
  run<T>(task: (hasWaited: boolean) => Promise<T>): Promise<T>;
  /** Whether nothing runs or waits. */
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
    isIdle: () => inFlight === 0 && waiting.length === 0,
  };
}

/** One queue per key; a key takes memory only while its queue is not empty. */
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
