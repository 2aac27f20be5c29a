// All background jobs: each domain declares its own, and this file passes them to the scheduler.
import { type Audit, createAuditJobs, type TokenLog } from '../audit/index.ts';
import type { RecentRefusals } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import { newId } from '../ids.ts';
import { createScheduler, type Job, type Scheduler } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import { countRunning } from '../sessions/index.ts';
import type { SettingValues } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';

interface Deps {
  readonly base: {
    readonly store: Store;
    readonly clock: Clock;
    readonly log: Logger;
    readonly settings: () => SettingValues;
  };
  readonly audit: { readonly audit: Audit; readonly tokenLog: TokenLog };
  readonly refusals: Pick<RecentRefusals, 'close'>;
  /** Jobs that the domains declare. */
  readonly jobs: readonly Job[];
  readonly beforeTick: () => Promise<void>;
}

export function createJobs({ base, audit, refusals, jobs, beforeTick }: Deps): Scheduler {
  const { store, clock, log } = base;
  const running = store.collection(model.sessions);
  return createScheduler({
    beforeTick,
    leases: store.ephemeral(model.leases),
    clock,
    newId,
    log,
    // Writes what is buffered while the store is still open.
    onStopped: async () => {
      await Promise.all([audit.tokenLog.close(), refusals.close()]);
    },
    jobs: [
      ...jobs,
      ...createAuditJobs({ ...base, ...audit, countSessions: () => countRunning(running, clock()) }),
    ],
  });
}
