// Owns the attack: telling from the time of the answer whether an address that "forgot its password" has an account
// (checklist R085; keycloak #26625). The jobs run meanwhile, since they are where the difference is made.
//
// Statistic: both kinds in random order, one after the other, so that whatever slows the machine slows both alike. The
// medians may differ by 5 %, unless ranks show that it is chance: an area under the ROC curve of a distinguisher by time
// alone within 2 standard errors of 0.5. In any case the area stays below 0.5 + 4 standard errors + 0.02.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as model from '../../src/store/collections.ts';
import { Agent, hiddenFields } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { sized } from './sizes.ts';
import { areaUnderCurve, quantile, seeded, shuffled } from './statistics.ts';

const TRIES = sized(200, 2000);
const WARM_UP = 20;
const PAUSE_MS = 15;
const MAX_SHIFT = 0.05;

// Standard error of the area when there is nothing to tell: sqrt((2n + 1) / (12 n²)).
const STANDARD_ERROR = Math.sqrt((2 * TRIES + 1) / (12 * TRIES * TRIES));
const MAX_AREA = 0.5 + 4 * STANDARD_ERROR + 0.02;

const KINDS = ['known', 'ghost'] as const;
type Kind = (typeof KINDS)[number];

let app: TestApp;
let accountId: string;

before(async () => {
  app = await startApp({ store: 'sqlite' });
  await liftLimits(app);
  const known = await app.createUser('known', { email: 'known@example.com', is_email_verified: true });
  accountId = known.id;
  app.app.jobs.start();
});
after(() => app.stop());

test(`${TRIES} interleaved tries of a known and an unknown address take the same time`, async (t) => {
  const agent = new Agent(app);
  const { csrf = '' } = hiddenFields((await agent.get('/oauth2/forgot-password')).body);
  const random = seeded(97);
  const times: Record<Kind, number[]> = { known: [], ghost: [] };
  for (let attempt = 0; attempt < TRIES + WARM_UP; attempt += 1) {
    // Spread over several rounds of the job, however fast the machine is.
    await sleep(PAUSE_MS);
    for (const kind of shuffled(KINDS, random)) {
      const startedAt = performance.now();
      const page = await agent.post('/oauth2/forgot-password', { csrf, email: `${kind}@example.com` });
      const elapsed = performance.now() - startedAt;
      assert.equal(page.status, 200);
      if (attempt >= WARM_UP) times[kind].push(elapsed);
    }
  }
  const base = quantile(times.known, 0.5);
  const shift = quantile(times.ghost, 0.5) - base;
  const area = areaUnderCurve(times.known, times.ghost);
  const finding = `median ${shift.toFixed(3)} ms from ${base.toFixed(3)} ms, area ${area.toFixed(3)}`;
  t.diagnostic(finding);
  assert.ok(Math.abs(shift) <= base * MAX_SHIFT || area <= 0.5 + 2 * STANDARD_ERROR, finding);
  assert.ok(area <= MAX_AREA, finding);

  // The two kinds were not alike: to the one, links were sent meanwhile.
  const sent = await app.store.collection(model.links).findBy('account', accountId);
  assert.ok(sent.length > 0);
});
