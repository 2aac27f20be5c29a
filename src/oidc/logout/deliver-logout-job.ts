import type { Job } from '../../jobs/index.ts';
import type { DeliverLogout } from './deliver-logout.ts';

/** The first attempt is made where the session ended; the job makes the others, and those of processes that are gone. */
const INTERVAL_SECONDS = 5;

export function deliverLogoutTokens({ deliverDue }: Pick<DeliverLogout, 'deliverDue'>): Job {
  return {
    name: 'deliver_logout_tokens',
    intervalSeconds: () => INTERVAL_SECONDS,
    run: (signal) => deliverDue(signal),
  };
}
