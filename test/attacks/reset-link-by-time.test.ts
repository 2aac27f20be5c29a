// Attack: user enumeration by the response time of password reset requests (keycloak #26625). The jobs run
// meanwhile, since they are where the difference is made.
//
// Both kinds in random order, one after the other, so that whatever slows the machine slows both alike; timing.ts evaluates
// them.
// A process of its own: its times are compared.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as model from '../../src/store/collections.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { sized } from './sizes.ts';
import { seeded, shuffled } from './statistics.ts';
import { assertSameTime } from './timing.ts';

const TRIES = sized(100, 2000);
const WARM_UP = 20;
const PAUSE_MS = 15;
const MAX_SHIFT = 0.05;

const KINDS = ['known', 'ghost'] as const;
type Kind = (typeof KINDS)[number];

let app: TestApp;
let accountId: string;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await liftLimits(app);
  // Without a mail server there is no form.
  await app.admin('PATCH', '/settings', { smtp_url: 'smtp://127.0.0.1:9' });
  const known = await app.createUser('known', { email: 'known@example.com', is_email_verified: true });
  accountId = known.id;
  app.app.jobs.start();
});
after(() => app.stop());

test(`attack: user enumeration by time; ${TRIES} interleaved reset requests take equal time`, async (t) => {
  const agent = new Agent(app);
  const { csrf = '' } = hiddenFields((await agent.get('/oauth2/forgot-password')).body);
  await assertSameTime(t, {
    kinds: KINDS,
    tries: TRIES,
    maxShift: MAX_SHIFT,
    async measure(tries, seed) {
      const random = seeded(96 + seed);
      const times: Record<Kind, number[]> = { known: [], ghost: [] };
      for (let attempt = 0; attempt < tries + WARM_UP; attempt += 1) {
        // Spread over several rounds of the job, however fast the machine is.
        await sleep(PAUSE_MS);
        for (const kind of shuffled(KINDS, random)) {
          const startedAt = performance.now();
          const page = await agent.post('/oauth2/forgot-password', { csrf, email: `${kind}@example.com` });
          const elapsed = performance.now() - startedAt;
          assert.equal(page.status, 303);
          if (attempt >= WARM_UP) times[kind].push(elapsed);
        }
      }
      return times;
    },
  });

  // The two kinds were not alike: to the one, links were sent meanwhile.
  const sent = await app.store.collection(model.links).findBy('account', accountId);
  assert.ok(sent.length > 0);
});
