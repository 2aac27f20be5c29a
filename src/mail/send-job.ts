// Owns when queued mails are sent: every two seconds, because somebody is waiting for a code. What sending is, and how
// often a failed mail is tried again, is src/mail.
import type { Job } from '../jobs/scheduler.ts';
import type { Mail } from './mail.ts';

const INTERVAL_SECONDS = 2;

export function sendMail({ mail }: { readonly mail: Pick<Mail, 'sendDue'> }): Job {
  return {
    name: 'send_mail',
    intervalSeconds: () => INTERVAL_SECONDS,
    run: (signal) => mail.sendDue(signal),
  };
}
