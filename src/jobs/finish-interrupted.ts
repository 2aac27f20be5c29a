// Finishes what a crash or a lost store interrupted: deletions of accounts and groups, endings of sessions and applications.
// Each was written down before anything else was done, so it is found however much later this runs.
import type { Job } from './scheduler.ts';

/** @returns how many it finished; harmless where nothing is left */
type Finish = () => Promise<number>;

export interface FinishInterruptedOptions {
  readonly deletions: readonly Finish[];
  /** Takes back again what deactivated applications had. */
  readonly clients: readonly Finish[];
  readonly endings: readonly Finish[];
  readonly intervalSeconds: () => number;
}

async function total(finishes: readonly Finish[]): Promise<number> {
  let sum = 0;
  for (const finish of finishes) sum += await finish();
  return sum;
}

export function finishInterrupted(options: FinishInterruptedOptions): Job {
  const { deletions, clients, endings, intervalSeconds } = options;
  return {
    name: 'finish_interrupted',
    intervalSeconds,
    async run() {
      return {
        deletions_finished: await total(deletions),
        clients_checked: await total(clients),
        endings_finished: await total(endings),
      };
    },
  };
}
