// Owns which background jobs there are (app.ts builds the rest).
import type { Accounts } from './accounts/accounts.ts';
import type { Clock } from './clock.ts';
import { newId } from './ids.ts';
import { finishInterrupted } from './jobs/finish-interrupted.ts';
import { purgeExpired } from './jobs/purge-expired.ts';
import { createScheduler, type Scheduler } from './jobs/scheduler.ts';
import type { Logger } from './log.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { SettingValues } from './settings/schema.ts';
import * as model from './store/collections.ts';
import type { Store } from './store/port.ts';

interface JobParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly current: () => SettingValues;
}

export function createJobs({ store, clock, log, sessions, accounts, current }: JobParts): Scheduler {
  return createScheduler({
    leases: store.ephemeral(model.leases),
    clock,
    newId,
    log,
    jobs: [
      purgeExpired({
        store,
        clock,
        removeEndedSessions: (before, limit) => sessions.forget(before, limit),
        retentionSeconds: () => current().retention_sessions_seconds,
        intervalSeconds: () => current().purge_interval_seconds,
      }),
      finishInterrupted({
        finishDeletions: () => accounts.finishDeletions(),
        finishEndings: (since) => sessions.finishEndings(since),
        intervalSeconds: () => current().purge_interval_seconds,
        clock,
      }),
    ],
  });
}
