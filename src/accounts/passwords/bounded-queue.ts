// Queues with a limit on waiting tasks. Without it, a flood would fill the memory and produce answers for clients that have given
// up (checklist R139). Nobody's flood takes the places of others: tasks wait in lines, by whom they are for.
import { AppError } from '../../errors.ts';

const busy = (): AppError => new AppError('server.busy', { retryAfterSeconds: 1 });

export interface SharedQueue {
  /**
   * @param key the lines take turns, whatever their length
   * @throws AppError server.busy: it was the newest of the longest line when too many waited, or it waited too long
   */
  run<T>(key: string, task: () => Promise<T>): Promise<T>;
}

interface Place {
  readonly start: () => void;
  readonly refuse: (reason: AppError) => void;
}

/** @param limits.maxWaitMs after this time the client has given up, or its proxy has */
export function createSharedQueue(limits: {
  readonly maxInFlight: number;
  readonly maxQueued: number;
  readonly maxWaitMs: number;
}): SharedQueue {
  /** In the order of their turns; none is empty. */
  const lines = new Map<string, Place[]>();
  let inFlight = 0;
  let queued = 0;

  function remove(key: string, place: Place): void {
    const line = lines.get(key) ?? [];
    const at = line.indexOf(place);
    if (at < 0) return;
    line.splice(at, 1);
    queued -= 1;
    if (line.length === 0) lines.delete(key);
  }

  function makeRoomFor(key: string): void {
    let [longestKey, longest]: [string, readonly Place[]] = [key, lines.get(key) ?? []];
    for (const [otherKey, line] of lines)
      if (line.length > longest.length) [longestKey, longest] = [otherKey, line];
    const newest = longest.at(-1);
    // The line that the newcomer would make the longest is its own: it is the newest itself.
    if (newest === undefined || longestKey === key) throw busy();
    remove(longestKey, newest);
    newest.refuse(busy());
  }

  async function enter(key: string): Promise<void> {
    if (inFlight < limits.maxInFlight) {
      inFlight += 1;
      return;
    }
    if (queued >= limits.maxQueued) makeRoomFor(key);
    await new Promise<void>((resolve, reject) => {
      const place: Place = {
        start() {
          clearTimeout(timer);
          resolve();
        },
        refuse(reason) {
          clearTimeout(timer);
          reject(reason);
        },
      };
      const timer = setTimeout(() => {
        remove(key, place);
        reject(busy());
      }, limits.maxWaitMs);
      const line = lines.get(key);
      if (line === undefined) lines.set(key, [place]);
      else line.push(place);
      queued += 1;
    });
  }

  function leave(): void {
    const [next] = lines;
    if (next === undefined) {
      inFlight -= 1;
      return;
    }
    const [key, line] = next;
    const [place] = line;
    if (place === undefined) return;
    remove(key, place);
    // Its turn is over: behind all others.
    if (lines.delete(key)) lines.set(key, line);
    // The slot is passed on, so that no newcomer can take it.
    place.start();
  }

  return {
    async run(key, task) {
      await enter(key);
      try {
        return await task();
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
