// Notifies all processes of a change to cached data (settings, signing keys): by a message to subscribers, and by a counter
// for those that missed it, since Redis may lose messages.
import type { RedisConnection } from './connection.ts';

export interface Changes {
  /** Call after a write that others must see. Never throws; retried until Redis has received it. */
  announce(): void;
  /**
   * A number that differs from the last one if another process may have announced a change since; undefined while that is
   * unknown because Redis does not respond.
   */
  stamp(): number | undefined;
}

/** How often the counter is read: the longest delay that a lost message causes. */
const POLL_MS = 400;
/** How long a reading is valid; after that a change may have been missed. */
const VALID_MS = 900;

export async function createChanges(
  connection: RedisConnection,
  prefix: string,
): Promise<Changes & { stop(): Promise<void> }> {
  const key = `${prefix}:{changes}:counter`;
  const channel = `${prefix}:changes`;
  let changeCount = 0;
  let counter: string | null | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let unpublished = 0;
  let publishing: Promise<void> | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function publishAll(): Promise<void> {
    while (unpublished > 0) {
      const publishedCount = unpublished;
      await connection.run(async (client) => {
        await client.incr(key);
        await client.publish(channel, '');
      });
      unpublished -= publishedCount;
    }
  }

  /** One run at a time: two runs would subtract the same announcement twice, and the next one would not be published. */
  function publishPending(): Promise<void> {
    publishing ??= publishAll().finally(() => {
      publishing = undefined;
    });
    return publishing;
  }

  async function readCounter(): Promise<void> {
    const startedAt = performance.now();
    const now = await connection.run((client) => client.get(key));
    // A Redis that lost its data has no counter, which differs too.
    if (now !== counter) changeCount += 1;
    counter = now;
    readAt = startedAt;
  }

  async function poll(): Promise<void> {
    try {
      await publishPending();
      await readCounter();
    } catch {
      // Redis is unavailable: the reading expires, and the next poll tries again.
    }
    if (isStopped) return;
    timer = setTimeout(poll, POLL_MS);
    timer.unref();
  }

  await connection.listen(channel, () => {
    changeCount += 1;
  });
  await readCounter();
  await poll();

  return {
    announce() {
      unpublished += 1;
      void publishPending().catch(() => {
        // Retried at the next poll.
      });
    },
    stamp: () => (performance.now() - readAt < VALID_MS ? changeCount : undefined),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await publishPending().catch(() => {
        // Redis is unavailable: other processes reload by themselves.
      });
    },
  };
}
