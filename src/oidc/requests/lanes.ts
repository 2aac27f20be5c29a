// Runs tasks of many applications side by side so that none holds up the others: a bounded number at once, fewer of one
// application, and in turns.

interface Lanes {
  /**
   * @param task never rejects
   * @returns what resolves when it has run; undefined when too many of that application wait already
   */
  run(key: string, task: () => Promise<void>): Promise<void> | undefined;
}

interface Lane {
  running: number;
  readonly waiting: (() => Promise<void>)[];
}

export function createLanes(limits: {
  readonly total: number;
  readonly perKey: number;
  readonly waitingPerKey: number;
}): Lanes {
  const lanes = new Map<string, Lane>();
  let running = 0;

  function laneOf(key: string): Lane {
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, waiting: [] };
    lanes.set(key, lane);
    return lane;
  }

  async function start(key: string, lane: Lane, task: () => Promise<void>): Promise<void> {
    running += 1;
    lane.running += 1;
    await task();
    running -= 1;
    lane.running -= 1;
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(key);
    fill();
  }

  /** Starts what may start. A lane that had its turn goes to the end, where this loop meets it again. */
  function fill(): void {
    for (const [key, lane] of lanes) {
      if (running >= limits.total) return;
      const next = lane.running < limits.perKey ? lane.waiting.shift() : undefined;
      if (next === undefined) continue;
      lanes.delete(key);
      lanes.set(key, lane);
      void start(key, lane, next);
    }
  }

  return {
    run(key, task) {
      const lane = laneOf(key);
      if (lane.waiting.length >= limits.waitingPerKey) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      lane.waiting.push(() => task().finally(resolve));
      fill();
      return promise;
    },
  };
}
