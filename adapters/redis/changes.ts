// Owns telling all processes that something they keep in memory (settings, signing keys) was changed: a message to those
// who listen, and a counter for those who missed it, because a message may be lost and a counter is not.
import type { RedisConnection } from './connection.ts';

export interface Changes {
  /** To be called after a write that others must see. Never throws; said again and again until Redis has heard it. */
  announce(): void;
  /**
   * A number that differs from the last one seen if another process may have announced something since; undefined
   * while that cannot be told, because Redis does not answer.
   */
  stamp(): number | undefined;
}

/** How often the counter is asked for: what a lost message costs at most. */
const POLL_MS = 400;
/** How long an answer counts: after that we may have missed something. */
const FRESH_MS = 900;

export async function createChanges(
  connection: RedisConnection,
  prefix: string,
): Promise<Changes & { stop(): Promise<void> }> {
  const key = `${prefix}:{changes}:counter`;
  const channel = `${prefix}:changes`;
  let heard = 0;
  let counter: string | null | undefined;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let owed = 0;
  let paying: Promise<void> | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function payAll(): Promise<void> {
    while (owed > 0) {
      const paid = owed;
      await connection.run(async (client) => {
        await client.incr(key);
        await client.publish(channel, '');
      });
      owed -= paid;
    }
  }

  /** One at a time: two that paid the same debt would leave credit, and the next announcement would not be made. */
  function pay(): Promise<void> {
    paying ??= payAll().finally(() => {
      paying = undefined;
    });
    return paying;
  }

  async function look(): Promise<void> {
    const askedAt = performance.now();
    const now = await connection.run((client) => client.get(key));
    // A Redis that came back empty has no counter: that differs, too.
    if (now !== counter) heard += 1;
    counter = now;
    answeredAt = askedAt;
  }

  async function poll(): Promise<void> {
    try {
      await pay();
      await look();
    } catch {
      // Redis is away: the stamp runs dry, and the next look says so again.
    }
    if (isStopped) return;
    timer = setTimeout(poll, POLL_MS);
    timer.unref();
  }

  await connection.listen(channel, () => {
    heard += 1;
  });
  await look();
  await poll();

  return {
    announce() {
      owed += 1;
      void pay().catch(() => {
        // Still owed: paid at the next look.
      });
    },
    stamp: () => (performance.now() - answeredAt < FRESH_MS ? heard : undefined),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await pay().catch(() => {
        // Redis is away: the others look by themselves in a while.
      });
    },
  };
}
