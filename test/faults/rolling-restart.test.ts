// A deployment of a new version: web processes are stopped and replaced one by one behind a balancer while users sign in, and
// no request fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liftLimits } from '../attacks/limits.ts';
import { Agent, type Page, redeem, refresh } from '../support/agent.ts';
import { freePort } from '../support/free-port.ts';
import { startBalancer } from './balancer.ts';
import { isLong, millisecondsUntil, spread, startDeployment } from './deployment.ts';

const ROLLS = isLong ? 10 : 1;
const WORKERS = 4;

test(`rolling restart of both web processes, ${ROLLS} times under load: no request fails`, async (t) => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const deployment = await startDeployment({ kind: 'split', publicUrl });
  t.after(() => deployment.stop());
  const { webs } = deployment;
  const balancer = await startBalancer(
    port,
    webs.map((web) => web.port),
  );
  t.after(() => balancer.stop());
  const site = { url: publicUrl };
  await liftLimits(webs[0]);
  const client = await webs[0].register();
  await webs[0].createUser('ada');

  let isOver = false;
  let done = 0;
  const statuses = new Map<number, number>();
  const note = ({ status }: Pick<Page, 'status'>): void => {
    done += 1;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const work = async (): Promise<void> => {
    const browser = new Agent(site);
    while (!isOver) {
      const authorization = await browser.signIn(client.id, { username: 'ada' });
      note({ status: authorization.code === '' ? 500 : 200 });
      const first = await redeem(site, client, authorization);
      note(first);
      note(await refresh(site, client, first.body.refresh_token));
      note(await browser.get('/account'));
      note(await browser.get('/oauth2/.well-known/openid-configuration'));
    }
  };
  const working = Promise.all(Array.from({ length: WORKERS }, work)).catch((error: unknown) => {
    isOver = true;
    throw error;
  });
  working.catch(() => undefined);

  const stops: number[] = [];
  for (let roll = 0; roll < ROLLS; roll += 1) {
    for (const web of webs) {
      const before = done;
      await Promise.race([working, millisecondsUntil(() => done > before + 25)]);
      const startedAt = performance.now();
      assert.deepEqual(await web.process.stop('SIGTERM'), { code: 0, signal: null });
      stops.push(performance.now() - startedAt);
      await web.start();
      await millisecondsUntil(() => web.isReady());
    }
  }
  isOver = true;
  await working;
  t.diagnostic(
    `${done} requests, ${2 * ROLLS} replacements, statuses ${JSON.stringify(Object.fromEntries(statuses))}, ` +
      `${balancer.moved} sent to the other one; stopping: ${spread(stops)}`,
  );
  assert.deepEqual(balancer.failures, []);
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status >= 400),
    [],
  );
  assert.ok(done >= 50 * ROLLS);
});
