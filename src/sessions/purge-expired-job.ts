// Removes expired documents, and ended sessions after their retention. Only keeps the store small: correctness does not
// depend on it (storage rule C1).
import type { Clock } from '../clock.ts';
import { type Figures, inBatches, type Job } from '../jobs/index.ts';
import type { Store } from '../store/port.ts';

export interface PurgeExpiredOptions {
  readonly store: Pick<Store, 'sweep'>;
  /**
   * Removes at most `limit` sessions that ended before `endedBefore` (epoch ms).
   * @returns how many; fewer than `limit` means there are no more
   */
  readonly removeEndedSessions: (endedBefore: number, limit: number) => Promise<number>;
  /** How long ended sessions are kept for administrators. */
  readonly retentionSeconds: () => number;
  readonly intervalSeconds: () => number;
  readonly clock: Clock;
}

export function purgeExpired(options: PurgeExpiredOptions): Job {
  const { store, removeEndedSessions, retentionSeconds, intervalSeconds, clock } = options;
  return {
    name: 'purge_expired',
    intervalSeconds,
    async run(signal): Promise<Figures> {
      const expired = await inBatches((limit) => store.sweep(limit), signal);
      const endedBefore = clock() - retentionSeconds() * 1000;
      const sessions = await inBatches((limit) => removeEndedSessions(endedBefore, limit), signal);
      return { expired_removed: expired, sessions_removed: sessions };
    },
  };
}
