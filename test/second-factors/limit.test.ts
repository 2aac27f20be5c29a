// Brute force against second factors: over challenges, methods, processes, and in parallel.
import assert from 'node:assert/strict';
import { isSecondFactorOff } from '../../src/second-factors/limit.ts';
import { rates as ratesDefinition } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { withEachStore } from '../accounts/support.ts';
import { createFactors, createFactorWorld, timesOf, totpCode, wrongTotp } from './support.ts';

const WINDOW = 600_000;

withEachStore(
  'attack: guessing within one challenge; five attempts, then no code counts (R094)',
  async (backend) => {
    const { factors, id, enrolTotp } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const guess = (code: string, boundTo = 'one') => factors.totp.verify({ accountId: id, boundTo, code });
    for (let n = 0; n < 5; n += 1) assert.equal(await guess(wrongTotp(secret, backend.now())), 'wrong');
    assert.equal(await guess(totpCode(secret, backend.now())), 'blocked');
    // Waiting does not bring the challenge back; a new sign-in does.
    backend.advance(WINDOW);
    assert.equal(await guess(totpCode(secret, backend.now())), 'blocked');
    assert.equal(await guess(totpCode(secret, backend.now()), 'two'), 'ok');
  },
);

withEachStore('attempt limit: the fifth may succeed, and success resets the challenge', async (backend) => {
  const { factors, id, enrolTotp, current } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  const guess = (code: string) => factors.totp.verify({ accountId: id, boundTo: 'session', code });
  for (let round = 0; round < 3; round += 1) {
    for (let n = 0; n < 4; n += 1) await guess(wrongTotp(secret, backend.now()));
    assert.equal(await guess(totpCode(secret, backend.now())), 'ok');
    assert.equal((await current()).codeFailures, undefined);
    backend.advance(30_000);
  }
});

withEachStore(
  'attack: brute force across challenges; ten per kind in ten minutes (R094)',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { factors, elsewhere, id } = world;
    const secret = await world.enrolTotp();
    await world.enableEmail();
    const [recovery = ''] = await factors.recoveryCodes.generate(id);
    assert.notEqual(typeof (await factors.startEmail(await world.current(), 'mail')), 'string');
    const wrong = () => wrongTotp(secret, backend.now());
    const guesses = {
      totp: (n: number) =>
        (n % 2 ? factors : elsewhere).verify({
          method: 'totp',
          accountId: id,
          boundTo: `t${n}`,
          code: wrong(),
        }),
      recovery: (n: number) =>
        elsewhere.verify({ method: 'recovery', accountId: id, boundTo: `r${n}`, code: 'nope' }),
      email: (n: number) =>
        factors.verify({
          method: 'email',
          accountId: id,
          boundTo: n % 2 ? 'mail' : 'no challenge',
          code: '0',
        }),
    };
    // One kind at a time: the counters of the others are untouched by it.
    for (const guess of Object.values(guesses)) {
      for (const expected of ['wrong', 'blocked'] as const) {
        for (let n = 0; n < 10; n += 1) {
          const verdict = await guess(n);
          assert.equal(verdict === 'expired' ? 'wrong' : verdict, expected, `guess ${n}`);
        }
      }
    }
    for (const process of [factors, elsewhere, createFactors(backend.reopen(), backend.now)]) {
      const code = totpCode(secret, backend.now());
      assert.equal(await process.verify({ method: 'totp', accountId: id, boundTo: 'new', code }), 'blocked');
      const recover = { method: 'recovery', accountId: id, boundTo: 'new', code: recovery } as const;
      assert.equal(await process.verify(recover), 'blocked');
    }
  },
);

withEachStore(
  'attempt limit: the single counter of an older release covers TOTP and mail only',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { factors, id, collection } = world;
    const secret = await world.enrolTotp();
    const [recovery = ''] = await factors.recoveryCodes.generate(id);
    const stored = (await collection.find(id)) ?? assert.fail();
    const older = { inARow: 100, recentAt: Array(10).fill(backend.now()) };
    await collection.replace(id, stored.version, { ...stored.value, secondFactorFailures: older });
    const code = totpCode(secret, backend.now());
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code }), 'blocked');
    assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: recovery }), 'ok');
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'b', code }), 'ok');
  },
);

withEachStore(
  'attack: ten attempts at the end of a window and ten at the start of the next',
  async (backend) => {
    const { factors, id, enrolTotp } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    let challenge = 0;
    const wrong = async () => {
      challenge += 1;
      const code = wrongTotp(secret, backend.now());
      return factors.totp.verify({ accountId: id, boundTo: `c${challenge}`, code });
    };
    assert.equal(await wrong(), 'wrong');
    backend.advance(WINDOW - 1);
    for (let n = 0; n < 9; n += 1) assert.equal(await wrong(), 'wrong');
    assert.equal(await wrong(), 'blocked');
    backend.advance(1);
    // Only the first one is ten minutes ago.
    assert.equal(await wrong(), 'wrong');
    assert.equal(await wrong(), 'blocked');
    backend.advance(WINDOW - 1);
    assert.equal(await wrong(), 'wrong');
  },
);

withEachStore('attempt limit: refused attempts cost no write and extend no wait', async (backend) => {
  const { factors, id, enrolTotp, collection } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  for (let n = 0; n < 10; n += 1) {
    const code = wrongTotp(secret, backend.now());
    await factors.totp.verify({ accountId: id, boundTo: `c${n}`, code });
  }
  const before = await collection.find(id);
  backend.advance(WINDOW / 2);
  for (let n = 0; n < 20; n += 1) {
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'late', code: '000000' }), 'blocked');
  }
  assert.deepEqual(await collection.find(id), before);
  backend.advance(WINDOW / 2);
  const code = totpCode(secret, backend.now());
  assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'late', code }), 'ok');
});

withEachStore(
  'attack: 200 parallel guesses in two processes; ten evaluated, none lost (R075)',
  async (backend) => {
    const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const wrong = wrongTotp(secret, backend.now());
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        (n % 2 === 0 ? factors : elsewhere).totp.verify({ accountId: id, boundTo: `c${n}`, code: wrong }),
      ),
    );
    assert.deepEqual([timesOf(verdicts, 'wrong'), timesOf(verdicts, 'blocked')], [10, 190]);
    const failures = (await current()).codeFailures?.totp;
    assert.deepEqual([failures?.inARow, failures?.recentAt.length], [10, 10]);
  },
);

withEachStore('attack: 200 parallel guesses in one challenge; five evaluated', async (backend) => {
  const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  const wrong = wrongTotp(secret, backend.now());
  const verdicts = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      (n % 2 === 0 ? factors : elsewhere).totp.verify({ accountId: id, boundTo: 'one', code: wrong }),
    ),
  );
  assert.deepEqual([timesOf(verdicts, 'wrong'), timesOf(verdicts, 'blocked')], [5, 195]);
  assert.equal((await current()).codeFailures?.totp?.inARow, 5);
});

withEachStore(
  'attack: the correct code after a flood of wrong ones is not evaluated (R088)',
  async (backend) => {
    const { factors, id, enrolTotp, current } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const wrong = wrongTotp(secret, backend.now());
    const before = (await current()).totp?.lastStep;
    const flood = Array.from({ length: 10 }, (_, n) =>
      factors.totp.verify({ accountId: id, boundTo: `c${n}`, code: wrong }),
    );
    await Promise.all(flood);
    const code = totpCode(secret, backend.now());
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'last', code }), 'blocked');
    assert.equal((await current()).totp?.lastStep, before);
  },
);

withEachStore(
  'attack: a hundred wrong codes in a row disable factors until recovery or reset',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { factors, id, current } = world;
    const secret = await world.enrolTotp();
    await world.enableEmail();
    const [recovery = '', second = ''] = await factors.recoveryCodes.generate(id);
    async function exhaust(): Promise<number> {
      for (let evaluated = 0; evaluated < 150; evaluated += 1) {
        if (evaluated % 10 === 0) backend.advance(WINDOW);
        const code = wrongTotp(secret, backend.now());
        const attempt = { accountId: id, boundTo: `${backend.now()} ${evaluated}`, code };
        if ((await factors.totp.verify(attempt)) === 'blocked') return evaluated;
      }
      return Number.POSITIVE_INFINITY;
    }
    assert.equal(isSecondFactorOff(await current(), 'totp'), false);
    assert.equal(await exhaust(), 100);
    assert.equal(isSecondFactorOff(await current(), 'totp'), true);
    // Still asked for, never skipped, and the right code does not help, however long one waits.
    backend.advance(365 * 86_400_000);
    assert.equal(factors.stepOf(await current(), 'optional'), 'verify');
    const right = () => totpCode(secret, backend.now());
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'x', code: right() }), 'blocked');
    // A recovery code may still be guessed as little as any.
    for (let n = 0; n < 10; n += 1) {
      assert.equal(
        await factors.recoveryCodes.verify({ accountId: id, boundTo: `r${n}`, code: 'no' }),
        'wrong',
      );
    }
    const recover = (code: string) => factors.recoveryCodes.verify({ accountId: id, boundTo: 'y', code });
    assert.equal(await recover(recovery), 'blocked');
    backend.advance(WINDOW);
    assert.equal(await recover(recovery), 'ok');
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'z', code: right() }), 'ok');
    // And again, with the other way out.
    assert.equal(await exhaust(), 100);
    await world.accounts.changeAccountAsAdmin(id, { totpVerified: false });
    assert.equal(isSecondFactorOff(await current(), 'totp'), false);
    assert.equal(factors.stepOf(await current(), 'optional'), 'enrol');
    backend.advance(WINDOW);
    assert.equal(await recover(second), 'wrong');
  },
);

withEachStore('attempt limit: when the counter store is down no one gets in', async (backend) => {
  const { id, enrolTotp, current } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  const { store } = backend;
  const broken = createFactors(
    {
      ...store,
      collection: (definition) => store.collection(definition),
      ephemeral: (definition) => ({
        ...store.ephemeral(definition),
        find: async (key) => {
          if (definition.name === ratesDefinition.name) throw new StoreUnavailable('down');
          return store.ephemeral(definition).find(key);
        },
      }),
    },
    backend.now,
  );
  const before = (await current()).totp?.lastStep;
  const code = totpCode(secret, backend.now());
  await assert.rejects(broken.totp.verify({ accountId: id, boundTo: 'a', code }), StoreUnavailable);
  assert.equal((await current()).totp?.lastStep, before);
});
