// Finishes what a crash or an unavailable store interrupted: deletions of accounts, endings of sessions and applications.
// Each is recorded before its first step, so this finds it at any later time.
import type { Job } from './scheduler.ts';

export interface FinishInterruptedOptions {
  readonly finishDeletions: () => Promise<number>;
  readonly finishEndings: () => Promise<number>;
  /** Revokes again what deactivated applications still have; harmless where nothing is left. */
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
