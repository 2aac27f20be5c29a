// All background jobs: each domain declares its own, and this file passes them to the scheduler.
import type { Accounts, Groups } from '../accounts/index.ts';
import { type Audit, createAuditJobs, type TokenLog } from '../audit/index.ts';
import type { Clients } from '../clients/index.ts';
import type { Clock } from '../clock.ts';
import { newId } from '../ids.ts';
import { finishInterrupted } from '../jobs/finish-interrupted.ts';
import { purgeExpired } from '../jobs/purge-expired.ts';
import { createScheduler, type Job, type Scheduler } from '../jobs/scheduler.ts';
import type { Logger } from '../log.ts';
import type { Sessions } from '../sessions/index.ts';
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
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly groups: Pick<Groups, 'finishRemovals'>;
  readonly clients: Pick<Clients, 'finishEndings'>;
  readonly audit: { readonly audit: Audit; readonly tokenLog: TokenLog };
  /** Jobs that the domains declare. */
  readonly jobs: readonly Job[];
  readonly beforeTick: () => Promise<void>;
}

export function createJobs({ base, sessions, accounts, groups, clients, audit, ...deps }: Deps): Scheduler {
  const { store, clock, log, settings } = base;
  const running = store.collection(model.sessions);
  const intervalSeconds = () => settings().purge_interval_seconds;
  return createScheduler({
    beforeTick: deps.beforeTick,
    leases: store.ephemeral(model.leases),
    clock,
    newId,
    log,
    // Writes buffered token events while the store is still open.
    onStopped: audit.tokenLog.close,
    jobs: [
      ...deps.jobs,
      purgeExpired({
        store,
        clock,
        removeEndedSessions: sessions.forget,
        retentionSeconds: () => settings().retention_sessions_seconds,
        intervalSeconds,
      }),
      ...createAuditJobs({ ...base, ...audit, countSessions: () => countRunning(running, clock()) }),
      finishInterrupted({
        deletions: [accounts.finishDeletions, groups.finishRemovals],
        clients: [clients.finishEndings],
        endings: [sessions.finishEndings],
        intervalSeconds,
      }),
    ],
  });
}
