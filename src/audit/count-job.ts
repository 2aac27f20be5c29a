// Counting the hours of the audit log that are over (src/audit/statistics.ts).
import type { Job } from '../jobs/scheduler.ts';

export interface CountEventsOptions {
  readonly rollUp: (isAborted: () => boolean) => Promise<number>;
}

// An hour is counted two minutes after its end, when its last events have settled in the log (statistics.ts).
const EVERY_FIVE_MINUTES = '2-57/5 * * * *';
// Shorter than the schedule, so that a run never waits for the one before.
const INTERVAL_SECONDS = 240;

export const countEvents = ({ rollUp }: CountEventsOptions): Job => ({
  name: 'count_events',
  schedule: EVERY_FIVE_MINUTES,
  intervalSeconds: () => INTERVAL_SECONDS,
  async run(signal) {
    return { hours_counted: await rollUp(() => signal.aborted) };
  },
});
