// Attack: user enumeration by response time (keycloak #48888 had 15 ms against 36 ms). The hashes are the
// shipped ones: their time is what is tested.
//
// Two lanes (as many as cores hash at once on a small machine) each try the four kinds in random order, so that whatever
// slows the machine slows all alike; timing.ts evaluates them.
// A process of its own: its times are compared.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { liftLimits } from './limits.ts';
import { openSignIn, type SignInForm } from './sign-in-form.ts';
import { sized } from './sizes.ts';
import { seeded, shuffled } from './statistics.ts';
import { assertSameTime } from './timing.ts';

const TRIES = sized(60, 2000);
const WARM_UP = 10;
const LANES = [0, 1] as const;
const MAX_SHIFT = 0.1;
const MAX_SHIFT_MS = 3;
const THRESHOLD = 100;

const KINDS = ['wrong', 'unknown', 'locked', 'inactive'] as const;
type Kind = (typeof KINDS)[number];

let app: TestApp;
let form: SignInForm;
// Of each lane; enough that none is locked by the test itself, which may measure twice, the second time three times as often.
const CANDIDATES = Math.ceil((4 * TRIES + 2 * WARM_UP) / LANES.length / (THRESHOLD - 1)) + 1;

before(async () => {
  app = await startApp({ hashes: 'shipped', store: 'sqlite' });
  await liftLimits(app);
  const client = await app.register();
  for (const lane of LANES) {
    for (let index = 0; index < CANDIDATES; index += 1) await app.createUser(`wrong-${lane}-${index}`);
    await app.createUser(`locked-${lane}-0`);
    await app.createUser(`inactive-${lane}-0`, { is_active: false });
  }
  form = await openSignIn(app, client.id);
  await app.admin('PATCH', '/settings', { lockout_threshold: 1 });
  for (const lane of LANES) await form.attempt(`locked-${lane}-0`, 'not the password');
  await app.admin('PATCH', '/settings', { lockout_threshold: THRESHOLD });
});
after(() => app.stop());

async function millisecondsOf(kind: Kind, lane: number, attempt: number): Promise<number> {
  const name = `${kind}-${lane}-${kind === 'wrong' ? attempt % CANDIDATES : 0}`;
  const startedAt = performance.now();
  const page = await form.attempt(name, 'not the password');
  const elapsed = performance.now() - startedAt;
  assert.equal(page.status, 401, kind);
  return elapsed;
}

async function measure(tries: number, seed: number): Promise<Record<Kind, number[]>> {
  const times: Record<Kind, number[]> = { wrong: [], unknown: [], locked: [], inactive: [] };
  const tryAll = async (lane: number): Promise<void> => {
    const random = seeded(85 * seed + lane);
    for (let attempt = 0; attempt < (tries + WARM_UP) / LANES.length; attempt += 1) {
      for (const kind of shuffled(KINDS, random)) {
        const elapsed = await millisecondsOf(kind, lane, attempt);
        if (attempt >= WARM_UP / LANES.length) times[kind].push(elapsed);
      }
    }
  };
  await Promise.all(LANES.map(tryAll));
  return times;
}

test(`attack: user enumeration by time; ${TRIES} interleaved attempts of each kind take equal time`, (t) =>
  assertSameTime(t, {
    kinds: KINDS,
    tries: TRIES,
    maxShift: MAX_SHIFT,
    maxShiftMs: MAX_SHIFT_MS,
    measure,
  }));
