// E-mail codes while Redis, which stores them, is killed and restarted: a code that was, or may have been, accepted is never
// accepted again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { liftLimits } from '../attacks/limits.ts';
import { start } from '../browser/processes.ts';
import { startMailServer } from '../mail/support.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD } from '../support/app.ts';
import { jitter, millisecondsUntil, ROUNDS, startDeployment } from './deployment.ts';

const AT_ONCE = 4;
const arrivedAt = (page: Page): string =>
  new URL(page.location ?? 'about:blank').searchParams.get('code') ?? '';

test(`Redis killed ${ROUNDS} times while a mailed code is used: never accepted twice`, async (t) => {
  const deployment = await startDeployment({ kind: 'split' });
  t.after(() => deployment.stop());
  const mails = await startMailServer();
  t.after(() => mails.close());
  const { webs, redis, url: publicUrl } = deployment;
  assert.ok(redis);
  await liftLimits(webs[0]);
  await webs[0].admin('PATCH', '/settings', { smtp_url: mails.url(), mfa_mode: 'required' });
  const client = await webs[0].register();
  const worker = await start({
    file: 'src/worker.ts',
    env: { ...deployment.env, LOG_LEVEL: 'info' },
    ready: /("msg":"running background jobs")/,
  });
  t.after(() => worker.stop());

  const asked: { browsers: Agent[]; page: Page; code: string }[] = [];
  const names = Array.from({ length: ROUNDS }, (_, round) => `person-${round}`);
  const askOne = async (username: string): Promise<void> => {
    const address = `${username}@example.com`;
    await webs[0].createUser(username, { email: address, is_email_verified: true });
    const browser = new Agent(webs[0], { publicUrl });
    const form = await browser.authorize(codeRequest(client.id));
    const enrolment = await browser.submit(form, { username, password: PASSWORD });
    const page = await browser.submit(enrolment, { action: 'email' });
    let code = '';
    await millisecondsUntil(() => {
      const mail = mails.received.findLast(({ to }) => to.includes(address))?.mail;
      code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
      return code !== '';
    });
    // The same browser, by way of the other process.
    const other = new Agent(webs[1], { publicUrl });
    other.plant(browser.cookiesFor(new URL(page.url).pathname));
    asked.push({ browsers: [browser, other], page, code });
  };
  const rest = names.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const name of rest) await askOne(name);
    }),
  );

  let [accepted, afterwards, refused, unanswered] = [0, 0, 0, 0];
  for (const [round, { browsers, page, code }] of asked.entries()) {
    const given = new Set<string>();
    const attempt = async (browser: Agent | undefined): Promise<void> => {
      const answer = await browser?.submit(page, { method: 'email', code }).catch(() => undefined);
      if (answer === undefined || answer.status >= 500) unanswered += 1;
      else if (arrivedAt(answer) === '') refused += 1;
      else given.add(arrivedAt(answer));
    };
    const first = browsers.map(attempt);
    // Once it is taken for certain before the kill; from then on the kill comes at any moment of it.
    if (round === 0) await Promise.all(first);
    else await sleep(jitter(round, 250));
    await redis.kill();
    await Promise.all(first);
    const before = given.size;
    await redis.start();
    for (const web of webs) await millisecondsUntil(() => web.isReady());
    for (let turn = 0; turn < 2; turn += 1) await Promise.all(browsers.map(attempt));
    assert.ok(given.size <= 1, `round ${round}: ${given.size} sign-ins with one code`);
    accepted += before;
    afterwards += given.size - before;
  }
  t.diagnostic(
    `${asked.length} codes: ${accepted} accepted before the kill, ${afterwards} after it; ${refused} uses refused, ${unanswered} told 503`,
  );
  assert.ok(accepted >= 1 && refused >= ROUNDS);
});
