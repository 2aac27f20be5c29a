// The jobs of the audit log: removing events after their retention period, and counting the hours that have passed.
import type { Clock } from '../clock.ts';
import type { Job } from '../jobs/index.ts';
import { eventHours } from '../store/administration.ts';
import { audit as auditCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import type { Audit } from './audit.ts';
import { countEvents } from './count-job.ts';
import { forgetAudit } from './forget-job.ts';
import { createStatistics } from './statistics.ts';
import type { TokenLog } from './token-log.ts';

interface Deps {
  readonly store: Pick<Store, 'collection'>;
  readonly clock: Clock;
  readonly settings: () => {
    readonly retention_audit_seconds: number;
    readonly retention_token_events_seconds: number;
    readonly purge_interval_seconds: number;
  };
  readonly audit: Pick<Audit, 'forget'>;
  readonly tokenLog: Pick<TokenLog, 'forget'>;
  /** The number of active sessions, stored with each hour. */
  readonly countSessions: () => Promise<number>;
}

export function createAuditJobs({ store, clock, settings, audit, tokenLog, countSessions }: Deps): Job[] {
  const intervalSeconds = () => settings().purge_interval_seconds;
  const statistics = createStatistics({
    audit: store.collection(auditCollection),
    collection: store.collection(eventHours),
    clock,
    countSessions,
  });
  return [
    forgetAudit({
      forget: audit.forget,
      retentionSeconds: () => settings().retention_audit_seconds,
      intervalSeconds,
      clock,
    }),
    forgetAudit({
      events: 'token',
      forget: tokenLog.forget,
      retentionSeconds: () => settings().retention_token_events_seconds,
      intervalSeconds,
      clock,
    }),
    countEvents({ rollUp: statistics.rollUp }),
  ];
}
