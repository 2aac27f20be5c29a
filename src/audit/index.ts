// The audit log: stores recorded events (audit.ts) and token events (token-log.ts), finds them, removes them after
// their retention period, and counts them by the hour (statistics.ts). Not here: src/events defines the events,
// src/admin/api/audit-trail.ts how administrators' actions are recorded. Start with audit.ts.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { createTimeSortedIds } from '../ids.ts';
import type { Logger } from '../log.ts';
import { tokenEvents } from '../store/administration.ts';
import { audit as auditCollection } from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { createAudit } from './audit.ts';
import { createTokenLog } from './token-log.ts';

export { createActivity } from './activity.ts';
export { differenceOf } from './details.ts';
export { createAuditJobs } from './jobs.ts';
export { createStatistics, type EventHour, type Statistics } from './statistics.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Events;
  readonly log: Pick<Logger, 'error' | 'warn'>;
}

export function createAuditLogs({ store, clock, events, log }: Deps) {
  const newId = createTimeSortedIds(clock);
  const audit = createAudit({ collection: store.collection(auditCollection), clock, newId, events, log });
  const tokenLog = createTokenLog({ collection: store.collection(tokenEvents), clock, newId, log });
  events.on('tokensIssued', (tokens) =>
    tokenLog.issued({ ...tokens, requestId: events.origins.current()?.requestId }),
  );
  events.on('tokensRefreshed', ({ clientId }) => tokenLog.counted('token.refreshed', clientId));
  events.on('unguardedCodeRedeemed', ({ clientId }) => tokenLog.counted('token.unguarded', clientId));
  events.on('machineTokensIssued', ({ clientId }) => tokenLog.counted('token.machine_issued', clientId));
  events.on('tokensRefused', tokenLog.refused);
  return { audit, tokenLog };
}

export type AuditLogs = ReturnType<typeof createAuditLogs>;
