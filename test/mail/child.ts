// The child process of the mail tests: runs the job that sends mails, as a worker does, until it is killed. Arguments: the
// database file, the mail server's address.
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { newId } from '../../src/ids.ts';
import { createScheduler } from '../../src/jobs/scheduler.ts';
import { createLogger } from '../../src/log.ts';
import { sendMail } from '../../src/mail/send-job.ts';
import { leases, mails } from '../../src/store/collections.ts';
import { testMail } from './support.ts';

const [file = '', smtpUrl = ''] = process.argv.slice(2);
const store = createSqliteStore({ file, clock: Date.now });
const { mail, time } = testMail({ smtpUrl, collection: () => store.collection(mails) });
setInterval(() => {
  time.now = Date.now();
}, 10);
time.now = Date.now();
const scheduler = createScheduler({
  jobs: [sendMail({ mail })],
  leases: store.ephemeral(leases),
  clock: Date.now,
  newId,
  log: createLogger({ level: 'warn' }),
});
scheduler.start();
