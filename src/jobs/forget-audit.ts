// Owns the forgetting of audit events whose retention is over.
import type { Clock } from '../clock.ts';
import { inBatches } from './in-batches.ts';
import type { Job } from './scheduler.ts';

export interface ForgetAuditOptions {
  /** Removes at most `limit` events from before that time (epoch ms). @returns how many */
  readonly forget: (before: number, limit: number) => Promise<number>;
  readonly retentionSeconds: () => number;
  readonly intervalSeconds: () => number;
  readonly clock: Clock;
}

export function forgetAudit({ forget, retentionSeconds, intervalSeconds, clock }: ForgetAuditOptions): Job {
  return {
    name: 'forget_audit',
    intervalSeconds,
    async run(signal) {
      const before = clock() - retentionSeconds() * 1000;
      return { audit_events_removed: await inBatches((limit) => forget(before, limit), signal) };
    },
  };
}
