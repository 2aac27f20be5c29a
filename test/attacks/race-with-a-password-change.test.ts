// Attack: signing in with the old password at the moment it is changed, so that a session is written after all sessions
// were ended.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, redeem } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { honestRequest, openSignIn, PASSWORD_GRANT, passwordGrant, VERIFIER } from './sign-in-form.ts';
import { atOnce, RACED, sized } from './sizes.ts';

const ATTACKERS = 12;
const ROUNDS = sized(1, 200);

type Client = { id: string; secret: string };

interface Loot {
  /** '' where it came without a browser. */
  readonly cookies: string;
  readonly tokens: readonly (string | undefined)[];
}

/** Attackers on one account, what they have so far, and when they stop. */
interface Raid {
  readonly client: Client;
  readonly username: string;
  readonly loot: Loot[];
  readonly signal: AbortSignal;
}

/** By the door without a browser. */
async function hammerGrant(app: TestApp, { client, username, loot, signal }: Raid): Promise<void> {
  while (!signal.aborted) {
    const response = await passwordGrant(app, client, username);
    const body: Record<string, string> = JSON.parse(await response.text());
    if (response.status === 200) loot.push({ cookies: '', tokens: [body.access_token, body.refresh_token] });
  }
}

/** The whole way, as often as there is time for. */
async function hammer(app: TestApp, { client, username, loot, signal }: Raid): Promise<void> {
  while (!signal.aborted) {
    const form = await openSignIn(app, client.id);
    const end = await form.browser.follow(await form.attempt(username));
    const code = end.location === undefined ? null : new URL(end.location).searchParams.get('code');
    if (code === null) continue;
    const { body } = await redeem(app, client, { code, verifier: VERIFIER });
    loot.push({ cookies: form.browser.cookiesFor('/'), tokens: [body.access_token, body.refresh_token] });
  }
}

async function isActive(app: TestApp, token: string): Promise<boolean> {
  const response = await fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: new URLSearchParams({ token }),
  });
  return JSON.parse(await response.text()).active;
}

const changes: Readonly<Record<string, (app: TestApp, id: string) => Promise<{ status: number }>>> = {
  'the password is changed': (app, id) =>
    app.admin('PATCH', `/users/${id}`, { password: 'another long password 17' }),
  'the account is switched off and on': async (app, id) => {
    await app.admin('POST', `/users/${id}/deactivate`);
    return app.admin('POST', `/users/${id}/reactivate`);
  },
  'the user is deleted': (app, id) => app.admin('DELETE', `/users/${id}`),
};

for (const store of RACED) {
  for (const [name, change] of Object.entries(changes)) {
    test(`race: ${ATTACKERS} sign-ins while ${name}, ${ROUNDS} rounds, ${store}: no old access survives`, async (t) => {
      const app = await startApp({ store });
      t.after(() => app.stop());
      await liftLimits(app);
      const client = await app.register(PASSWORD_GRANT);
      let taken = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const username = `victim-${round}`;
        const { id } = await app.createUser(username);
        const over = new AbortController();
        const loot: Loot[] = [];
        const raid = { client, username, loot, signal: over.signal };
        const attacks = atOnce(ATTACKERS, (index) => (index % 3 === 0 ? hammerGrant : hammer)(app, raid));
        // However slow the machine is: someone was let in, others are on their way.
        while (loot.length < 2) await sleep(5);
        await sleep(round * 3);
        const { status } = await change(app, id);
        assert.ok([200, 204].includes(status), String(status));
        if (name.includes('off and on')) {
          // The password is the old one still: who comes from now on comes rightly.
          over.abort();
          await attacks;
          taken += loot.length;
          continue;
        }
        await sleep(60);
        over.abort();
        await attacks;
        taken += loot.length;
        const tokens = loot.flatMap((one) => one.tokens).filter((token) => token !== undefined);
        const alive = await Promise.all(tokens.map((token) => isActive(app, token)));
        assert.deepEqual(alive.filter(Boolean), [], `round ${round}: tokens live on`);
        for (const { cookies } of loot) {
          const thief = new Agent(app);
          thief.plant(cookies);
          const silent = await thief.authorize({ ...honestRequest(client.id), prompt: 'none' });
          assert.match(
            silent.location ?? '',
            /error=login_required/,
            `round ${round}: a browser is signed in`,
          );
        }
        const { body } = await app.admin('GET', `/sessions?is_active=true&user_id=${id}`);
        assert.equal(body.data.total, 0, `round ${round}: sessions live on`);
      }
      assert.ok(taken > ROUNDS, `${taken} sign-ins only: there was no race`);
    });
  }
}
