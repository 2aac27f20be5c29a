// The second step of a sign-in: enrolled factors, whether one is required, and what a reset leaves.
import assert from 'node:assert/strict';
import { AppError } from '../../src/errors.ts';
import { emailChallenges, trustedDevices } from '../../src/store/collections.ts';
import { goodPassword, withEachStore } from '../accounts/support.ts';
import { createFactorWorld, totpCode } from './support.ts';

const modes = ['off', 'optional', 'required'] as const;

withEachStore('second step: chosen by mode and enrolled factors', async (backend) => {
  const { factors, id, current, enrolTotp, enableEmail } = await createFactorWorld(backend);
  const steps = async () => {
    const account = await current();
    return modes.map((mode) => factors.stepOf(account, mode));
  };
  assert.deepEqual(await steps(), ['none', 'none', 'enrol']);
  await enrolTotp();
  assert.deepEqual(await steps(), ['none', 'verify', 'verify']);
  await enableEmail();
  assert.deepEqual(factors.methodsOf(await current()), ['totp', 'email']);
  await factors.recoveryCodes.generate(id);
  assert.deepEqual(factors.methodsOf(await current()), ['totp', 'email', 'recovery']);
  await factors.totp.remove(id);
  assert.deepEqual(factors.methodsOf(await current()), ['email', 'recovery']);
  await factors.setEmailFactor(id, false);
  assert.deepEqual(factors.methodsOf(await current()), []);
  assert.deepEqual(await steps(), ['none', 'none', 'enrol']);
});

withEachStore(
  'factor reset by an administrator: nothing remains, sessions end, then enrolment',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { accounts, factors, id, current } = world;
    const secret = await world.enrolTotp();
    await world.enableEmail();
    const [recovery = ''] = await factors.recoveryCodes.generate(id);
    await factors.totp.verify({ accountId: id, boundTo: 'a', code: 'wrong' });
    const { after: account } = await accounts.changeAccountAsAdmin(id, { totp_verified: false });
    assert.deepEqual(
      [
        account.totpVerified,
        account.totp,
        account.recoveryCodes,
        account.hasEmailCodes,
        account.codeFailures,
      ],
      [false, undefined, undefined, undefined, undefined],
    );
    assert.deepEqual(world.endedSessionsOf, [id]);
    assert.equal(account.authenticatedNotBefore, backend.now());
    assert.deepEqual(
      modes.map((mode) => factors.stepOf(account, mode)),
      ['none', 'enrol', 'enrol'],
    );
    for (const attempt of [
      { method: 'totp', code: totpCode(secret, backend.now()) },
      { method: 'recovery', code: recovery },
    ] as const) {
      assert.equal(await factors.verify({ accountId: id, boundTo: 'b', ...attempt }), 'wrong');
    }
    await world.enrolTotp();
    assert.deepEqual(
      modes.map((mode) => factors.isRequired(account, mode)),
      [false, true, true],
    );
    assert.equal((await current()).mustEnrolSecondFactor, undefined);
  },
);

withEachStore(
  'totp_verified: false forces enrolment even without TOTP; creation does not',
  async (backend) => {
    const { accounts, factors, id, current, endedSessionsOf, enableEmail } = await createFactorWorld(backend);
    const bob = await accounts.create({ username: 'bob', password: goodPassword, totp_verified: false });
    assert.equal(factors.stepOf(bob, 'optional'), 'none');
    await accounts.changeAccountAsAdmin(id, { totp_verified: false });
    assert.equal(factors.stepOf(await current(), 'optional'), 'enrol');
    assert.deepEqual(endedSessionsOf, []);
    await enableEmail();
    assert.equal((await current()).mustEnrolSecondFactor, undefined);
  },
);

withEachStore('attack: the address is removed to avoid the second factor', async (backend) => {
  const { accounts, factors, id, current, enableEmail } = await createFactorWorld(backend);
  await enableEmail();
  for (const changes of [{ is_email_verified: false }, { email: 'x@example.com' }, { email: null }]) {
    await accounts.changeAccountAsAdmin(id, changes);
    const account = await current();
    assert.deepEqual(factors.methodsOf(account), []);
    // Neither skipped nor enrolled anew with the password alone.
    assert.equal(factors.stepOf(account, 'optional'), 'verify');
  }
});

withEachStore('e-mail codes: need a verified address of an active account', async (backend) => {
  const { accounts, factors, id } = await createFactorWorld(backend);
  const bob = await accounts.create({ username: 'bob', password: goodPassword, email: 'bob@example.com' });
  const isRefused = (error: unknown) =>
    error instanceof AppError && error.code === 'request.invalid' && error.fields?.email !== undefined;
  await assert.rejects(factors.setEmailFactor(bob.id, true), isRefused);
  await accounts.changeAccountAsAdmin(id, { is_active: false });
  await assert.rejects(factors.setEmailFactor(id, true), isRefused);
  await assert.rejects(
    factors.setEmailFactor('nobody', true),
    (error) => error instanceof AppError && error.code === 'account.not_found',
  );
});

withEachStore(
  'attack: a reset and an enrolment at the same moment leave whole state (R075)',
  async (backend) => {
    const { accounts, factors, elsewhere, id, current } = await createFactorWorld(backend);
    for (let round = 0; round < 10; round += 1) {
      const { secret, pending } = factors.totp.begin(await current());
      await Promise.all([
        elsewhere.totp.confirm(id, pending, totpCode(secret, backend.now())),
        accounts.changeAccountAsAdmin(id, { totp_verified: false }),
      ]);
      const account = await current();
      assert.deepEqual(
        [account.totp, account.totpVerified, account.mustEnrolSecondFactor],
        [undefined, false, true],
      );
      backend.advance(30_000);
    }
  },
);

withEachStore('account removal: deletes its devices and challenges (R062)', async (backend) => {
  const { factors, id, current, enableEmail } = await createFactorWorld(backend);
  await enableEmail();
  const account = await current();
  await factors.trustedDevices.create({ account, ipAddress: '::1', userAgent: '', label: '' });
  await factors.startEmail(account, 'a');
  await factors.removeAllOf(id);
  assert.deepEqual(await backend.store.collection(trustedDevices).findBy('account', id), []);
  assert.deepEqual(await backend.store.ephemeral(emailChallenges).findBy('account', id), []);
});
