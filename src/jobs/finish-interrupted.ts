// Owns finishing what was cut short, by a crash or a store that went away: deletions of accounts, endings of sessions and
// applications. Each was written down before anything else was done, so it is found however much later this runs.
import type { Job } from './scheduler.ts';

export interface FinishInterruptedOptions {
  readonly finishDeletions: () => Promise<number>;
  readonly finishEndings: () => Promise<number>;
  /** Takes back again what applications that are off had; harmless where nothing is left. */
  readonly finishClientEndings: () => Promise<number>;
  readonly intervalSeconds: () => number;
}

export function finishInterrupted(options: FinishInterruptedOptions): Job {
  const { finishDeletions, finishEndings, finishClientEndings, intervalSeconds } = options;
  return {
    name: 'finish_interrupted',
    intervalSeconds,
    async run() {
      const deletions = await finishDeletions();
      const clients = await finishClientEndings();
      return {
        deletions_finished: deletions,
        clients_checked: clients,
        endings_finished: await finishEndings(),
      };
    },
  };
}
