// Owns finishing what a crash cut short: deletions of accounts, endings of sessions and applications. Each began with the step that
// denies, so until this runs nothing is open that should be shut; it only takes away what is left.
import type { Clock } from '../clock.ts';
import type { Job } from './scheduler.ts';

export interface FinishInterruptedOptions {
  readonly finishDeletions: () => Promise<number>;
  /** @param since epoch milliseconds */
  readonly finishEndings: (since: number) => Promise<number>;
  /** Takes back again what applications that are off had; harmless where nothing is left. */
  readonly finishClientEndings: () => Promise<number>;
  readonly intervalSeconds: () => number;
  readonly clock: Clock;
}

export function finishInterrupted(options: FinishInterruptedOptions): Job {
  const { finishDeletions, finishEndings, finishClientEndings, intervalSeconds, clock } = options;
  return {
    name: 'finish_interrupted',
    intervalSeconds,
    async run() {
      const deletions = await finishDeletions();
      const clients = await finishClientEndings();
      // Twice the interval: what ended just after the last run began is looked at again.
      const since = clock() - 2 * intervalSeconds() * 1000;
      return {
        deletions_finished: deletions,
        clients_checked: clients,
        endings_checked: await finishEndings(since),
      };
    },
  };
}
