import type { Quarantined } from '../clients/index.ts';
import type { Job } from '../jobs/index.ts';

interface Deps {
  readonly quarantined: Pick<Quarantined, 'removeUnused'>;
  readonly intervalSeconds: () => number;
}

/** Decisions §10: an application that nobody vouched for is gone after 30 days without use. */
export const forgetUnused = ({ quarantined, intervalSeconds }: Deps): Job => ({
  name: 'forget_unused_agents',
  intervalSeconds,
  run: async (signal) => ({ agents_removed: await quarantined.removeUnused(signal) }),
});
