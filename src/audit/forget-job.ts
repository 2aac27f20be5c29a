// Removes audit events after their retention period.
import type { Clock } from '../clock.ts';
import { inBatches, type Job } from '../jobs/index.ts';

export interface ForgetAuditOptions {
  /** The class of events; the job is named after it. */
  readonly events?: 'audit' | 'token';
  /** Removes at most `limit` events from before that time (epoch ms). @returns how many */
  readonly forget: (before: number, limit: number) => Promise<number>;
  readonly retentionSeconds: () => number;
  readonly intervalSeconds: () => number;
  readonly clock: Clock;
}

export function forgetAudit(options: ForgetAuditOptions): Job {
  const { events = 'audit', forget, retentionSeconds, intervalSeconds, clock } = options;
  return {
    name: events === 'audit' ? 'forget_audit' : 'forget_token_events',
    intervalSeconds,
    async run(signal) {
      const before = clock() - retentionSeconds() * 1000;
      return { [`${events}_events_removed`]: await inBatches((limit) => forget(before, limit), signal) };
    },
  };
}
