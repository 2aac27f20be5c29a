// Counts the hours of the audit log that have passed (src/audit/statistics.ts).
import type { Job } from '../jobs/index.ts';

export interface CountEventsOptions {
  readonly rollUp: (isAborted: () => boolean) => Promise<number>;
}

// Two minutes after the end of an hour, its last events have reached the log (statistics.ts).
const EVERY_FIVE_MINUTES = '2-57/5 * * * *';
// Shorter than the schedule, so that no run waits for the previous one.
const INTERVAL_SECONDS = 240;

export const countEvents = ({ rollUp }: CountEventsOptions): Job => ({
  name: 'count_events',
  schedule: EVERY_FIVE_MINUTES,
  intervalSeconds: () => INTERVAL_SECONDS,
  async run(signal) {
    return { hours_counted: await rollUp(() => signal.aborted) };
  },
});
