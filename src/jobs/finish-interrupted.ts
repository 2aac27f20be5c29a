// Owns finishing what a crash cut short: deletions of accounts, endings of sessions. Each began with the step that
// denies, so until this runs nothing is open that should be shut; it only takes away what is left.
import type { Clock } from '../clock.ts';
import type { Job } from './scheduler.ts';

export interface FinishInterruptedOptions {
  readonly finishDeletions: () => Promise<number>;
  /** @param since epoch milliseconds */
  readonly finishEndings: (since: number) => Promise<number>;
  readonly intervalSeconds: () => number;
  readonly clock: Clock;
}

export function finishInterrupted(options: FinishInterruptedOptions): Job {
  const { finishDeletions, finishEndings, intervalSeconds, clock } = options;
  return {
    name: 'finish_interrupted',
    intervalSeconds,
    async run() {
      const deletions = await finishDeletions();
      // Twice the interval: what ended just after the last run began is looked at again.
      const since = clock() - 2 * intervalSeconds() * 1000;
      return { deletions_finished: deletions, endings_checked: await finishEndings(since) };
    },
  };
}
