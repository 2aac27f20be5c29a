// Requested mails are answered outside of the HTTP requests, so that no response time reveals whether there is an account.
import type { Job } from '../jobs/index.ts';

/** Short: a user is waiting for the mail. */
const INTERVAL_SECONDS = 1;

export function answerMailRequests({ process }: { process: (signal: AbortSignal) => Promise<number> }): Job {
  return {
    name: 'answer_mail_requests',
    intervalSeconds: () => INTERVAL_SECONDS,
    run: async (signal) => ({ mail_requests_answered: await process(signal) }),
  };
}
