import type { Job } from '../jobs/index.ts';
import type { AgentDoors } from './doors.ts';

/** Decision 0026: an application that nobody vouched for is gone after 30 days without use. */
export const forgetUnused = ({ quarantined, settings }: AgentDoors): Job => ({
  name: 'forget_unused_agents',
  intervalSeconds: () => settings().purge_interval_seconds,
  run: async (signal) => ({ agents_removed: await quarantined.removeUnused(signal) }),
});
