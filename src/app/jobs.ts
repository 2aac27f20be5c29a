// All background jobs: each domain declares its own, and this file passes them to the scheduler.

import { createAuditJobs } from '../audit/index.ts';
import type { Domains } from '../domains.ts';
import { newId } from '../ids.ts';
import { createScheduler, type Job, type Scheduler } from '../jobs/index.ts';
import { countRunning } from '../sessions/index.ts';
import * as model from '../store/collections.ts';

export function createJobs(
  doors: Domains,
  { jobs, beforeTick }: { readonly jobs: readonly Job[]; readonly beforeTick: () => Promise<void> },
): Scheduler {
  const { store, clock, log, tokenLog, refusals } = doors;
  const running = store.collection(model.sessions);
  return createScheduler({
    beforeTick,
    leases: store.ephemeral(model.leases),
    clock,
    newId,
    log,
    // Writes what is buffered while the store is still open.
    onStopped: async () => {
      await Promise.all([tokenLog.close(), refusals.close()]);
    },
    jobs: [...jobs, ...createAuditJobs({ ...doors, countSessions: () => countRunning(running, clock()) })],
  });
}
