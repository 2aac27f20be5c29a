// Brute force against second factors: over challenges, methods, processes, and in parallel.
import assert from 'node:assert/strict';
import { isSecondFactorOff } from '../../src/second-factors/limit.ts';
import { rates as ratesDefinition } from '../../src/store/collections.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { withEachStore } from '../accounts/support.ts';
import { createFactors, createFactorWorld, timesOf, totpCode, wrongTotp } from './support.ts';

const WINDOW = 86_400_000;

withEachStore(
  'attack: guessing within one challenge; five attempts, then no code counts (R094)',
  async (backend) => {
    const { factors, id, enrolTotp } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const guess = (code: string, boundTo = 'one') => factors.totp.verify({ accountId: id, boundTo, code });
    for (let n = 0; n < 5; n += 1) assert.equal(await guess(wrongTotp(secret, backend.now())), 'wrong');
    assert.equal(await guess(totpCode(secret, backend.now())), 'blocked');
    // Waiting does not bring the challenge back; a new sign-in does.
    backend.advance(WINDOW / 2);
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
  'attack: brute force across challenges; twenty in a day, no recovery code counted',
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
    // Recovery codes first: with 80 random bits they need no count, and whoever counts them keeps their owner out.
    for (let n = 0; n < 30; n += 1) assert.equal(await guesses.recovery(n), 'wrong');
    for (let n = 0; n < 3; n += 1) assert.equal(await guesses.email(2 * n + 1), 'wrong');
    for (let n = 0; n < 20; n += 2) assert.equal(await guesses.email(n), 'expired', 'none was issued there');
    // Authenticator app and mail count together.
    for (let n = 0; n < 17; n += 1) assert.equal(await guesses.totp(n), 'wrong');
    for (let n = 17; n < 20; n += 1) assert.equal(await guesses.totp(n), 'blocked');
    assert.equal(await guesses.email(1), 'blocked');
    for (const process of [factors, elsewhere, createFactors(backend.reopen(), backend.now)]) {
      const code = totpCode(secret, backend.now());
      assert.equal(await process.verify({ method: 'totp', accountId: id, boundTo: 'new', code }), 'blocked');
    }
    const recover = { method: 'recovery', accountId: id, boundTo: 'new', code: recovery } as const;
    assert.equal(await factors.verify(recover), 'ok');
    const code = totpCode(secret, backend.now());
    assert.equal(await factors.verify({ method: 'totp', accountId: id, boundTo: 'new', code }), 'ok');
  },
);

withEachStore(
  'attack: who knows the password guesses codes; a known browser has ten of its own',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { factors, id, collection, current } = world;
    const secret = await world.enrolTotp();
    const stored = (await collection.find(id)) ?? assert.fail();
    const expiresAt = backend.now() + 90 * 86_400_000;
    const browsers = ['desk', 'phone'].map((digest) => ({ digest, expiresAt, failures: 0 }));
    await collection.replace(id, stored.version, { ...stored.value, knownBrowsers: browsers });
    const guess = (boundTo: string, code: string, browser?: string) =>
      factors.verify({ method: 'totp', accountId: id, boundTo, code, browser });
    const wrong = () => wrongTotp(secret, backend.now());
    for (let n = 0; n < 20; n += 1) assert.equal(await guess(`c${n}`, wrong()), 'wrong');
    assert.equal(await guess('c', totpCode(secret, backend.now())), 'blocked');
    // All in one challenge: the five of a challenge are those of strangers.
    for (let n = 0; n < 9; n += 1) assert.equal(await guess('own', wrong(), 'desk'), 'wrong');
    assert.equal((await current()).codeFailures?.totp?.inARow, 20, 'not among those of the account');
    assert.equal(await guess('own', wrong(), 'desk'), 'wrong');
    assert.equal(
      await guess('own', totpCode(secret, backend.now()), 'desk'),
      'blocked',
      'unknown from now on',
    );
    assert.equal(await guess('own', totpCode(secret, backend.now()), 'never known'), 'blocked');
    assert.equal(await guess('other', totpCode(secret, backend.now()), 'phone'), 'ok');
  },
);

withEachStore('attempt limit: wrong codes of a clock that was set back count as past', async (backend) => {
  const { factors, id, enrolTotp, collection } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  const stored = (await collection.find(id)) ?? assert.fail();
  const ahead = backend.now() + 400 * 86_400_000;
  const codeFailures = { totp: { inARow: 20, recentAt: Array(20).fill(ahead) } };
  await collection.replace(id, stored.version, { ...stored.value, codeFailures });
  const code = totpCode(secret, backend.now());
  assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code }), 'ok');
});

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
  'attack: twenty attempts at the end of a day and twenty at the start of the next',
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
    for (let n = 0; n < 19; n += 1) assert.equal(await wrong(), 'wrong');
    assert.equal(await wrong(), 'blocked');
    backend.advance(1);
    // Only the first one is a day ago.
    assert.equal(await wrong(), 'wrong');
    assert.equal(await wrong(), 'blocked');
    backend.advance(WINDOW - 1);
    assert.equal(await wrong(), 'wrong');
  },
);

withEachStore('attempt limit: refused attempts cost no write and extend no wait', async (backend) => {
  const { factors, id, enrolTotp, collection } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  for (let n = 0; n < 20; n += 1) {
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
  'attack: 200 parallel guesses in two processes; twenty evaluated, none lost (R075)',
  async (backend) => {
    const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const wrong = wrongTotp(secret, backend.now());
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        (n % 2 === 0 ? factors : elsewhere).totp.verify({ accountId: id, boundTo: `c${n}`, code: wrong }),
      ),
    );
    assert.deepEqual([timesOf(verdicts, 'wrong'), timesOf(verdicts, 'blocked')], [20, 180]);
    const failures = (await current()).codeFailures?.totp;
    assert.deepEqual([failures?.inARow, failures?.recentAt.length], [20, 20]);
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
    const flood = Array.from({ length: 20 }, (_, n) =>
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
        if (evaluated % 20 === 0) backend.advance(WINDOW);
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
    // Guesses at a recovery code keep nobody from using one.
    for (let n = 0; n < 30; n += 1) {
      assert.equal(
        await factors.recoveryCodes.verify({ accountId: id, boundTo: `r${n}`, code: 'no' }),
        'wrong',
      );
    }
    const recover = (code: string) => factors.recoveryCodes.verify({ accountId: id, boundTo: 'y', code });
    assert.equal(await recover(recovery), 'ok');
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'z', code: right() }), 'ok');
    // And again, with the other way out.
    assert.equal(await exhaust(), 100);
    await world.accounts.changeAccountAsAdmin(id, { totp_verified: false });
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
