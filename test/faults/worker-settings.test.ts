// A `worker`, which no request reaches, applies settings changed elsewhere. As in production; with LONG=1 on
// MongoDB alone, too, where two-webs.test.ts shows each time that changes arrive.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { start } from '../browser/processes.ts';
import { startMailServer } from '../mail/support.ts';
import { isLong, millisecondsUntil, startDeployment } from './deployment.ts';

for (const kind of ['split', ...(isLong ? (['mongodb'] as const) : [])] as const) {
  test(`${kind}: a running worker sends mails by the mail server set later`, async (t) => {
    const deployment = await startDeployment({ kind });
    t.after(() => deployment.stop());
    const [before, after] = await Promise.all([startMailServer(), startMailServer()]);
    t.after(() => Promise.all([before.close(), after.close()]));
    const worker = await start({
      file: 'src/worker.ts',
      env: { ...deployment.env, LOG_LEVEL: 'info' },
      ready: /("msg":"running background jobs")/,
    });
    t.after(() => worker.stop());
    const [web] = deployment.webs;
    const { id } = await web.createUser('ada', { email: 'ada@example.com' });
    for (const mails of [before, after]) {
      assert.equal((await web.admin('PATCH', '/settings', { smtp_url: mails.url() })).status, 200);
      // On MongoDB alone everyone obeys within a second, not at once.
      await sleep(1_100);
      const asked = await web.admin('POST', `/users/${id}/send-email-verification`);
      assert.ok(asked.status < 300, JSON.stringify(asked.body));
      const ms = await millisecondsUntil(() => mails.received.length > 0, 10_000);
      t.diagnostic(`sent after ${ms} ms`);
      assert.equal(mails.received.length, 1);
    }
  });
}
