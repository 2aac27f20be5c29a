// A clock that is set back by an hour (NTP after a bad start, a virtual machine that woke): no stored time keeps anybody waiting
// for the length of that step.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countFailure, isLocked } from '../../src/accounts/lockout.ts';
import { isAhead } from '../../src/clock.ts';
import { Undelivered } from '../../src/mail/undelivered.ts';
import { createLogoutOutbox } from '../../src/oidc/logout/logout-outbox.ts';
import { createLocalCounter, createStoredCounter, type RateCounter } from '../../src/rate-limits/counter.ts';
import { createPointLeases } from '../../src/rate-limits/lease.ts';
import { createWideCounts } from '../../src/rate-limits/wide.ts';
import { logoutDeliveries, rates } from '../../src/store/collections.ts';
import { testMail } from '../mail/support.ts';
import { createFactorWorld } from '../second-factors/support.ts';
import { createWorld, goodPassword, withEachStore } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('set back: a stored time beyond its window and the skew is past', () => {
  const cases = [
    [-1, false],
    [0, false],
    [1, true],
    [15 * MINUTE, true],
    [16 * MINUTE, true],
    [16 * MINUTE + 1, false],
    [HOUR, false],
  ] as const;
  for (const [ahead, expected] of cases)
    assert.equal(isAhead(HOUR + ahead, HOUR, 15 * MINUTE), expected, String(ahead));
});

const counted = (counter: RateCounter) => async (points: number) => {
  const { points: sum, expiresAt } = await counter.add('k:a', points, 1, 10 * MINUTE);
  return { isGranted: sum <= 1, isInsured: false, until: expiresAt };
};

withEachStore('set back: limits of a network, in the store, in a process and leased', async (backend) => {
  const clock = backend.now;
  const stored = createStoredCounter({ collection: backend.store.ephemeral(rates), clock });
  const takes = { stored: counted(stored), local: counted(createLocalCounter({ clock })) };
  for (const [name, take] of Object.entries(takes)) {
    const leases = createPointLeases({ clock });
    const wide = createWideCounts({ clock });
    const ask = async () => [
      'charge' in (await leases.takeOne('k:a', 1, take)),
      'charge' in (await wide.takeOne('w', { points: 1, windowMs: 10 * MINUTE }, take)),
    ];
    const [first] = await ask();
    assert.deepEqual([first, (await ask())[0]], [true, false], name);
    backend.advance(-HOUR);
    assert.equal((await ask())[0], true, `${name}: an hour back`);
    assert.equal((await ask())[0], false, `${name}: and counted from there`);
    backend.advance(HOUR);
  }
});

withEachStore('set back: the lock after wrong passwords', async (backend) => {
  const { accounts, collection } = createWorld(backend);
  const { id } = await accounts.create({ username: 'ann', password: goodPassword });
  const { value } = (await collection.find(id)) ?? assert.fail();
  const limits = { lockout_threshold: 1, lockout_seconds: 900 };
  const locked = countFailure(value, limits, backend.now());
  for (const [ms, expected] of [
    [0, true],
    [-MINUTE, true],
    [-HOUR, false],
  ] as const)
    assert.equal(isLocked(locked, backend.now() + ms), expected, String(ms));
  const again = countFailure({ ...locked, lockCount: 0 }, limits, backend.now() - HOUR);
  assert.equal(again.guessNoticeAt, backend.now() - HOUR, 'the owner is told');
});

withEachStore('set back: mailed codes, between two and the five of an hour', async (backend) => {
  const { factors, enableEmail, current } = await createFactorWorld(backend);
  await enableEmail();
  const start = async (boundTo: string) => typeof (await factors.startEmail(await current(), boundTo));
  for (let n = 0; n < 5; n += 1) assert.equal(await start(`tab ${n}`), 'object');
  assert.equal(await start('tab 0'), 'string', 'a minute between two');
  assert.equal(await start('another'), 'string', 'five an hour');
  backend.advance(-HOUR);
  assert.equal(await start('tab 0'), 'object');
});

withEachStore('set back: a logout token that waits is due', async (backend) => {
  const outbox = createLogoutOutbox({
    collection: backend.store.collection(logoutDeliveries),
    clock: backend.now,
    newId: () => 'id',
  });
  await outbox.add('one', { clientId: 'app', sub: 'ann', sid: 'sid' });
  const due = async () => (await Array.fromAsync(outbox.due())).length;
  assert.equal(await due(), 0, 'its head start');
  backend.advance(-HOUR);
  assert.equal(await due(), 1);
});

test('set back: a mail that waits, by itself or for its server, is sent', async () => {
  for (const consequence of ['later', 'server'] as const) {
    let isUp = false;
    const { queueCode, run, time } = testMail({
      smtpUrl: 'smtp://mail.example.com',
      transport: async () => ({
        async send() {
          if (!isUp) throw new Undelivered(consequence, 'Not now.');
        },
        close() {},
      }),
    });
    await queueCode('ann@example.com');
    assert.equal((await run()).postponed, 1, consequence);
    isUp = true;
    assert.equal((await run()).sent, 0, `${consequence}: it waits`);
    time.now -= HOUR;
    assert.equal((await run()).sent, 1, consequence);
  }
});
