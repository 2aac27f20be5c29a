import type { Job } from '../jobs/index.ts';
import type { OutboundMail } from './mail.ts';

/** Short: a user is waiting for the code. */
const INTERVAL_SECONDS = 2;

export function sendMail({ mail }: { readonly mail: Pick<OutboundMail, 'sendDue'> }): Job {
  return {
    name: 'send_mail',
    intervalSeconds: () => INTERVAL_SECONDS,
    run: (signal) => mail.sendDue(signal),
  };
}
