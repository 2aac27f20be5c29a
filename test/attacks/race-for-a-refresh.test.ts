// Attack: one refresh token used many times at once (Keycloak CVE-2026-1035, better-auth
// GHSA-392p-2q2v-4372). However the race ends, at most one chain stays valid.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Agent, redeem, refresh, type Tokens } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp, type TestApp } from '../support/app.ts';
import { atOnce, RACED, sized } from './sizes.ts';

const PARALLEL = sized(50, 100);
const ROUNDS = sized(1, 200);

async function isActive(app: TestApp, token: string): Promise<boolean> {
  const response = await fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: new URLSearchParams({ token }),
  });
  const { active }: { active: boolean } = JSON.parse(await response.text());
  return active;
}

const successors = (answers: readonly Tokens[]): string[] => [
  ...new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.refresh_token)),
];

for (const store of RACED) {
  suite(`race for one refresh token, ${store}`, () => {
    let app: TestApp;
    let client: { id: string; secret: string };
    let browser: Agent;
    const firstToken = async (): Promise<string> =>
      (await redeem(app, client, await browser.signIn(client.id, { username: 'alice' }))).body.refresh_token;
    const setGrace = async (seconds: number): Promise<void> => {
      const { status } = await app.admin('PATCH', '/settings', { refresh_token_grace_seconds: seconds });
      assert.equal(status, 200);
    };

    before(async () => {
      app = await startApp({ store });
      client = await app.register({ rotate_refresh_tokens: 'always' });
      await app.createUser('alice');
      browser = new Agent(app);
    });
    after(() => app.stop());

    test(`grace 0: ${PARALLEL} at once, ${ROUNDS} rounds, no two live chains`, async () => {
      await setGrace(0);
      for (let round = 0; round < ROUNDS; round += 1) {
        const token = await firstToken();
        const answers = await atOnce(PARALLEL, () => refresh(app, client, token));
        const won = answers.filter(({ status }) => status === 200);
        assert.ok(won.length <= 1, `round ${round}: ${won.length} refreshes succeeded`);
        for (const { status, body } of answers) {
          if (status !== 200) assert.deepEqual([status, body.error], [400, 'invalid_grant']);
        }
        assert.equal(await isActive(app, token), false);
        const alive = await Promise.all(successors(answers).map((value) => isActive(app, value)));
        assert.ok(alive.filter(Boolean).length <= 1);
        // Whoever used it later is a thief or was robbed: nothing of the family is left (RFC 9700 §4.14.2).
        const again = await Promise.all(successors(answers).map((value) => refresh(app, client, value)));
        assert.deepEqual(
          again.map(({ status }) => status),
          again.map(() => 400),
        );
      }
    });

    test(`grace 10: ${PARALLEL} at once, ${ROUNDS} rounds, all share one successor`, async () => {
      await setGrace(10);
      for (let round = 0; round < ROUNDS; round += 1) {
        const token = await firstToken();
        const answers = await atOnce(PARALLEL, () => refresh(app, client, token));
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
        const [successor = '', ...others] = successors(answers);
        assert.deepEqual(others, [], 'the racing tabs got different refresh tokens');
        assert.notEqual(successor, token);
        const next = await refresh(app, client, successor);
        assert.equal(next.status, 200);
        assert.equal(await isActive(app, next.body.refresh_token), true);
      }
    });

    test('grace 10: a used token after the grace revokes the whole family', async () => {
      await setGrace(10);
      const token = await firstToken();
      const { body } = await refresh(app, client, token);
      app.advance(12_000);
      assert.equal((await refresh(app, client, token)).status, 400);
      assert.equal(await isActive(app, body.refresh_token), false);
      assert.equal(await isActive(app, body.access_token), false);
      assert.equal((await refresh(app, client, body.refresh_token)).status, 400);
    });

    test('grace 10: a successor already used is not issued again', async () => {
      await setGrace(10);
      const token = await firstToken();
      const second = (await refresh(app, client, token)).body.refresh_token;
      const third = (await refresh(app, client, second)).body.refresh_token;
      const late = await refresh(app, client, token);
      // Either it is refused, or it gives nothing that lives beside the third.
      const found = [second, third, ...(late.status === 200 ? [late.body.refresh_token] : [])];
      const states = await Promise.all([...new Set(found)].map((value) => isActive(app, value)));
      assert.ok(states.filter(Boolean).length <= 1);
    });
  });
}
