// Owns which background jobs there are (create-app.ts builds the rest).
import type { Accounts } from '../accounts/accounts.ts';
import type { Groups } from '../accounts/groups.ts';
import { countEvents } from '../audit/count-job.ts';
import { forgetAudit } from '../audit/forget-job.ts';
import type { Audit, TokenLog } from '../audit/index.ts';
import { createStatistics } from '../audit/statistics.ts';
import type { Clients } from '../clients/contract.ts';
import type { Clock } from '../clock.ts';
import { newId } from '../ids.ts';
import { finishInterrupted } from '../jobs/finish-interrupted.ts';
import { purgeExpired } from '../jobs/purge-expired.ts';
import { createScheduler, type Job, type Scheduler } from '../jobs/scheduler.ts';
import type { Logger } from '../log.ts';
import { countRunning } from '../sessions/running.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { SettingValues } from '../settings/schema.ts';
import { eventHours } from '../store/administration.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import type { Factors } from './factors.ts';

interface JobParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sessions: Sessions;
  readonly accounts: Accounts;
  readonly groups: Pick<Groups, 'finishRemovals'>;
  readonly clients: Pick<Clients, 'finishEndings'>;
  readonly protection: {
    readonly audit: Pick<Audit, 'forget'>;
    readonly tokenLog: Pick<TokenLog, 'forget' | 'close'>;
  };
  readonly factors: Pick<Factors, 'mail'>;
  readonly current: () => SettingValues;
  readonly keyJobs: readonly Job[];
  readonly catchUp: () => Promise<void>;
}

export function createJobs({
  store,
  clock,
  log,
  sessions,
  accounts,
  groups,
  clients,
  protection: { audit, tokenLog },
  factors,
  current,
  keyJobs,
  catchUp,
}: JobParts): Scheduler {
  const scheduler = createScheduler({
    beforeTick: catchUp,
    leases: store.ephemeral(model.leases),
    clock,
    newId,
    log,
    jobs: [
      ...factors.mail.jobs,
      purgeExpired({
        store,
        clock,
        removeEndedSessions: (before, limit) => sessions.forget(before, limit),
        retentionSeconds: () => current().retention_sessions_seconds,
        intervalSeconds: () => current().purge_interval_seconds,
      }),
      forgetAudit({
        forget: (before, limit) => audit.forget(before, limit),
        retentionSeconds: () => current().retention_audit_seconds,
        intervalSeconds: () => current().purge_interval_seconds,
        clock,
      }),
      forgetAudit({
        events: 'token',
        forget: (before, limit) => tokenLog.forget(before, limit),
        retentionSeconds: () => current().retention_token_events_seconds,
        intervalSeconds: () => current().purge_interval_seconds,
        clock,
      }),
      countEvents({
        rollUp: createStatistics({
          audit: store.collection(model.audit),
          collection: store.collection(eventHours),
          clock,
          countSessions: () => countRunning(store.collection(model.sessions), clock()),
        }).rollUp,
      }),
      finishInterrupted({
        finishDeletions: async () => (await accounts.finishDeletions()) + (await groups.finishRemovals()),
        finishEndings: () => sessions.finishEndings(),
        finishClientEndings: () => clients.finishEndings(),
        intervalSeconds: () => current().purge_interval_seconds,
      }),
      ...keyJobs,
    ],
  });
  return {
    ...scheduler,
    async stop() {
      await scheduler.stop();
      // What waits in memory is written while there is a store.
      await tokenLog.close();
    },
  };
}
