// Attack: one authorization code redeemed many times at once (the class of better-auth
// GHSA-7w99-5wm4-3g79). Exactly one redemption succeeds, in every store and round.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, redeem } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { atOnce, RACED, sized } from './sizes.ts';

const PARALLEL = sized(50, 100);
const ROUNDS = sized(1, 200);

for (const store of RACED) {
  test(`race: one code, ${PARALLEL} redemptions, ${ROUNDS} rounds, ${store}: one succeeds`, async (t) => {
    const app = await startApp({ store });
    t.after(() => app.stop());
    const client = await app.register();
    await app.createUser('alice');
    const browser = new Agent(app);

    for (let round = 0; round < ROUNDS; round += 1) {
      const authorization = await browser.signIn(client.id, { username: 'alice' });
      const answers = await atOnce(PARALLEL, () => redeem(app, client, authorization));
      const winners = answers.filter(({ status }) => status === 200);
      assert.equal(winners.length, 1, `round ${round}: ${winners.length} redemptions succeeded`);
      for (const { status, body } of answers) {
        if (status !== 200) assert.deepEqual([status, body.error], [400, 'invalid_grant']);
      }
    }
  });
}

test('race: a redemption with a wrong verifier neither wins nor uses up the code (R026)', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const client = await app.register();
  await app.createUser('alice');
  const authorization = await new Agent(app).signIn(client.id, { username: 'alice' });
  const wrong = { ...authorization, verifier: 'w'.repeat(43) };

  const refused = await atOnce(20, () => redeem(app, client, wrong));
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set([400]));
  assert.equal((await redeem(app, client, authorization)).status, 200);
});
