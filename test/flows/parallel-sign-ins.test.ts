// One person signs in many times at once (a shared account of a load test, a wall of screens after a power cut): each sign-in
// waits its turn and none is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { liftLimits } from '../attacks/limits.ts';
import { Agent, redeem } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const PARALLEL = 64;

test(`${PARALLEL} parallel sign-ins of one person: each gets its code and tokens`, async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  await liftLimits(app);
  const client = await app.register();
  await app.createUser('ada');
  const statuses = await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      const authorization = await new Agent(app).signIn(client.id, { username: 'ada' });
      return (await redeem(app, client, authorization)).status;
    }),
  );
  assert.deepEqual([...new Set(statuses)], [200]);
});
