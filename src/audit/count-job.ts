// Owns counting the hours of the audit log that are over (src/audit/statistics.ts).
import type { Job } from '../jobs/scheduler.ts';

export interface CountEventsOptions {
  readonly rollUp: (isAborted: () => boolean) => Promise<number>;
}

const INTERVAL_SECONDS = 300;

export const countEvents = ({ rollUp }: CountEventsOptions): Job => ({
  name: 'count_events',
  intervalSeconds: () => INTERVAL_SECONDS,
  async run(signal) {
    return { hours_counted: await rollUp(() => signal.aborted) };
  },
});
