// Queues with a limit on waiting tasks. Without it, a flood would fill the memory and produce answers for clients that have given
// up. Nobody's flood takes the places of others: tasks wait in lines, by whom they are for.
import { AppError } from '../errors.ts';
import { createTurns, type TurnPath, type Turns } from './turns.ts';

const busy = (): AppError => new AppError('server.busy', { retryAfterSeconds: 1 });

export interface SharedQueue {
  /**
   * @param path whose line it is, from the widest network to the narrowest: turns.ts
   * @throws AppError server.busy: it was the newest of the longest line when too many waited, or it waited too long
   */
  run<T>(path: TurnPath, task: () => Promise<T>): Promise<T>;
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
  const turns = createTurns<Place>();
  let inFlight = 0;

  function makeRoomFor(path: TurnPath): void {
    const newest = turns.newestOfLongest(path);
    if (newest === undefined) throw busy();
    turns.remove(newest.path, newest.item);
    newest.item.refuse(busy());
  }

  async function enter(path: TurnPath): Promise<void> {
    if (inFlight < limits.maxInFlight) {
      inFlight += 1;
      return;
    }
    if (turns.size() >= limits.maxQueued) makeRoomFor(path);
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
        turns.remove(path, place);
        reject(busy());
      }, limits.maxWaitMs);
      turns.add(path, place);
    });
  }

  function leave(): void {
    const next = turns.take();
    // The slot is passed on, so that no newcomer can take it.
    if (next === undefined) inFlight -= 1;
    else next.start();
  }

  return {
    async run(path, task) {
      await enter(path);
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}

export interface FairQueue {
  /**
   * One task per key at a time; those that wait for it take turns by their networks.
   * @param path as in SharedQueue
   * @param task receives whether it had to wait
   * @throws AppError server.busy when too many wait and this key has the most
   */
  run<T>(key: string, path: TurnPath, task: (hasWaited: boolean) => Promise<T>): Promise<T>;
}

/**
 * The limit is on all that wait together. When it is reached, the key with the most waiting gives up a place: a flood on one
 * name refuses no other, and one person alone may use all places.
 */
export function createFairQueue({ maxQueued }: { maxQueued: number }): FairQueue {
  /** Who waits behind the running task of a key; a key takes memory only while it has one. */
  const lines = new Map<string, Turns<Place>>();
  let queued = 0;

  function makeRoomFor(line: Turns<Place>, path: TurnPath): void {
    let longest = line;
    for (const other of lines.values()) if (other.size() > longest.size()) longest = other;
    const isOther = longest.size() > line.size() + 1;
    const newest = isOther ? longest.newestOfLongest() : line.newestOfLongest(path);
    if (newest === undefined) throw busy();
    (isOther ? longest : line).remove(newest.path, newest.item);
    queued -= 1;
    newest.item.refuse(busy());
  }

  const enter = async (key: string, path: TurnPath): Promise<boolean> => {
    const line = lines.get(key);
    if (line === undefined) {
      lines.set(key, createTurns());
      return false;
    }
    if (queued >= maxQueued) makeRoomFor(line, path);
    queued += 1;
    await new Promise<void>((start, refuse) => line.add(path, { start, refuse }));
    return true;
  };

  const leave = (key: string): void => {
    const next = lines.get(key)?.take();
    if (next === undefined) {
      lines.delete(key);
      return;
    }
    queued -= 1;
    next.start();
  };

  return {
    async run(key, path, task) {
      const hasWaited = await enter(key, path);
      try {
        return await task(hasWaited);
      } finally {
        leave(key);
      }
    },
  };
}
