// TOTP: enrolment, window, replay, and what the database reveals.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretDigest } from '../../src/ids.ts';
import { goodPassword, withEachStore } from '../accounts/support.ts';
import { createFactors, createFactorWorld, secretKeys, timesOf, totpCode, wrongTotp } from './support.ts';

const STEP = 30_000;

test('test authenticator: agrees with RFC 6238, appendix B', () => {
  const key = Buffer.from('12345678901234567890');
  assert.equal(totpCode(key, 59_000, 8), '94287082');
  assert.equal(totpCode(key, 1_111_111_109_000, 8), '07081804');
  assert.equal(totpCode(key, 20_000_000_000_000, 8), '65353130');
});

withEachStore('TOTP enrolment: counts only after a valid code, and says so (R099)', async (backend) => {
  const { factors, id, current } = await createFactorWorld(backend);
  const { secret, uri, pending } = factors.totp.begin(await current());
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.equal(uri, `otpauth://totp/Latchkey:alice?secret=${secret}&issuer=Latchkey`);
  assert.equal(await factors.totp.confirm(id, pending, wrongTotp(secret, backend.now())), 'wrong');
  assert.equal(await factors.totp.confirm(id, pending, ''), 'wrong');
  assert.deepEqual([(await current()).totp, (await current()).totpVerified], [undefined, false]);
  assert.equal(factors.totp.reopen(await current(), pending)?.secret, secret);
  assert.equal(await factors.totp.confirm(id, pending, totpCode(secret, backend.now())), 'ok');
  const account = await current();
  assert.equal(account.totpVerified, true);
  assert.equal(account.totp?.enrolledAt, backend.now());
  assert.deepEqual(factors.methodsOf(account), ['totp']);
  assert.equal(factors.totp.reopen(account, pending), undefined);
});

withEachStore('TOTP secret: stored sealed, for its own account (R099)', async (backend) => {
  const world = await createFactorWorld(backend);
  const secret = await world.enrolTotp();
  const bob = await world.accounts.create({ username: 'bob', password: goodPassword });
  const stored = await world.collection.find(world.id);
  assert.ok(stored?.value.totp);
  assert.equal(JSON.stringify(stored.value).includes(secret), false);
  // Attack: someone who can write to the database gives Bob the secret of an account he knows.
  const bobStored = await world.collection.find(bob.id);
  assert.ok(bobStored);
  await world.collection.put(bob.id, { ...bobStored.value, totp: stored.value.totp });
  const code = totpCode(secret, backend.now());
  await assert.rejects(world.factors.totp.verify({ accountId: bob.id, boundTo: 'b', code }));
});

withEachStore('TOTP window: one step early or late is accepted, two are not', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  backend.advance(10 * STEP);
  const verifyAt = (ms: number, boundTo: string) =>
    factors.totp.verify({ accountId: id, boundTo, code: totpCode(secret, backend.now() + ms) });
  assert.equal(await verifyAt(-2 * STEP, 'a'), 'wrong');
  assert.equal(await verifyAt(2 * STEP, 'a'), 'wrong');
  assert.equal(await verifyAt(-STEP, 'a'), 'ok');
  assert.equal(await verifyAt(0, 'a'), 'ok');
  assert.equal(await verifyAt(STEP, 'a'), 'ok');
});

withEachStore('TOTP code: accepted in any typed form', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  const fullWidth = (code: string) => code.replace(/\d/g, (d) => String.fromCodePoint(0xff10 + Number(d)));
  const arabic = (code: string) => code.replace(/\d/g, (d) => String.fromCodePoint(0x660 + Number(d)));
  const spellings = [
    (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`,
    (code: string) => ` ${code.slice(0, 3)}\u00a0${code.slice(3)}\r\n`,
    (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`,
    fullWidth,
    arabic,
  ];
  for (const spell of spellings) {
    backend.advance(STEP);
    const code = spell(totpCode(secret, backend.now()));
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code }), 'ok', code);
  }
});

withEachStore('attack: malformed TOTP codes are wrong (R096)', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  await enrolTotp();
  const hostile = [
    '',
    ' ',
    '0',
    '12345',
    '1234567',
    'abcdef',
    '１２３４５',
    '12345６７',
    '-12345',
    '1e5',
    '0x1234',
  ];
  hostile.push('\0\0\0\0\0\0', '12345\u0000', '𝟙', '9'.repeat(1_000_000), '[object Object]');
  for (const [n, code] of hostile.entries()) {
    if (n % 5 === 0) backend.advance(600_000);
    assert.equal(
      await factors.totp.verify({ accountId: id, boundTo: String(n), code }),
      'wrong',
      code.slice(0, 20),
    );
  }
});

withEachStore(
  'attack: a TOTP code replayed in its window, in every flow and process (R092)',
  async (backend) => {
    const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const now = totpCode(secret, backend.now());
    const before = totpCode(secret, backend.now() - STEP);
    // The code that enrolled it is one step old and within the window.
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'sign-in', code: before }), 'wrong');
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'sign-in', code: now }), 'ok');
    for (const [process, boundTo] of [
      [factors, 'sign-in'],
      [factors, 'step-up'],
      [elsewhere, 'other tab'],
      [createFactors(backend.reopen(), backend.now), 'after a restart'],
    ] as const) {
      assert.equal(await process.totp.verify({ accountId: id, boundTo, code: now }), 'wrong', boundTo);
    }
    backend.advance(STEP);
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'sign-in', code: now }), 'wrong');
    const { lastStep } = (await current()).totp ?? {};
    assert.equal(lastStep, Math.floor((backend.now() - STEP) / STEP));
  },
);

withEachStore('attack: an earlier TOTP code after a later one (R092)', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  backend.advance(STEP);
  const late = totpCode(secret, backend.now() + STEP);
  assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code: late }), 'ok');
  for (const ms of [STEP, 0, -STEP]) {
    const code = totpCode(secret, backend.now() + ms);
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code }), 'wrong');
  }
});

withEachStore('attack: the clock is set back to revalidate used codes', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  backend.advance(-100 * STEP);
  const code = totpCode(secret, backend.now());
  assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code }), 'wrong');
});

withEachStore('attack: one TOTP code in parallel, in two processes; one succeeds (R072)', async (backend) => {
  const { factors, elsewhere, id, enrolTotp } = await createFactorWorld(backend);
  const secret = await enrolTotp();
  for (let round = 0; round < 5; round += 1) {
    backend.advance(600_000);
    const code = totpCode(secret, backend.now());
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? factors : elsewhere).totp.verify({ accountId: id, boundTo: `tab ${n}`, code }),
      ),
    );
    assert.equal(timesOf(verdicts, 'ok'), 1);
  }
});

withEachStore('attack: the TOTP code of another account', async (backend) => {
  const world = await createFactorWorld(backend);
  await world.enrolTotp();
  const bob = await world.accounts.create({ username: 'bob', password: goodPassword });
  const bobs = await world.enrolTotp(bob.id);
  const code = totpCode(bobs, backend.now());
  assert.equal(await world.factors.totp.verify({ accountId: world.id, boundTo: 'a', code }), 'wrong');
  assert.equal(await world.factors.totp.verify({ accountId: bob.id, boundTo: 'a', code }), 'ok');
});

withEachStore(
  'attack: a pending enrolment of another account, altered, expired or invented',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { factors, id, current } = world;
    const bob = await world.accounts.create({ username: 'bob', password: goodPassword });
    const { secret, pending } = factors.totp.begin(await current());
    const code = () => totpCode(secret, backend.now());
    assert.equal(await factors.totp.confirm(bob.id, pending, code()), 'expired');
    assert.equal(await factors.totp.confirm('nobody', pending, code()), 'expired');
    for (const made of [
      '',
      'x',
      `${pending.slice(0, -8)}AAAAAAAA`,
      pending.slice(0, -4),
      secretDigest(pending),
    ]) {
      assert.equal(await factors.totp.confirm(id, made, code()), 'expired');
    }
    backend.advance(3_600_000 - 1);
    assert.notEqual(factors.totp.reopen(await current(), pending), undefined);
    backend.advance(1);
    assert.equal(factors.totp.reopen(await current(), pending), undefined);
    assert.equal(await factors.totp.confirm(id, pending, code()), 'expired');
    assert.equal((await current()).totp, undefined);
  },
);

withEachStore('attack: a password thief completes an enrolment after the owner’s', async (backend) => {
  const { factors, id, current, enrolTotp } = await createFactorWorld(backend);
  const thief = factors.totp.begin(await current());
  const secret = await enrolTotp();
  const code = totpCode(thief.secret, backend.now());
  assert.equal(await factors.totp.confirm(id, thief.pending, code), 'expired');
  const right = totpCode(secret, backend.now());
  assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code: right }), 'ok');
});

withEachStore('attack: two enrolments confirmed at once; one succeeds', async (backend) => {
  const { factors, elsewhere, id, current } = await createFactorWorld(backend);
  const [a, b] = [factors.totp.begin(await current()), factors.totp.begin(await current())];
  const outcomes = await Promise.all([
    factors.totp.confirm(id, a.pending, totpCode(a.secret, backend.now())),
    elsewhere.totp.confirm(id, b.pending, totpCode(b.secret, backend.now())),
    elsewhere.totp.confirm(id, a.pending, totpCode(a.secret, backend.now())),
  ]);
  assert.deepEqual([timesOf(outcomes, 'ok'), timesOf(outcomes, 'expired')], [1, 2]);
});

withEachStore('attack: a pending enrolment from before a reset by an administrator', async (backend) => {
  const { accounts, factors, id, current, enrolTotp } = await createFactorWorld(backend);
  const old = factors.totp.begin(await current());
  await enrolTotp();
  await accounts.changeAccountAsAdmin(id, { totp_verified: false });
  const code = totpCode(old.secret, backend.now());
  assert.equal(await factors.totp.confirm(id, old.pending, code), 'expired');
});

withEachStore(
  'TOTP: deactivation stops verifying and enrolling, a password lock neither (R089)',
  async (backend) => {
    const world = await createFactorWorld(backend);
    const { accounts, factors, id, current, enrolTotp } = world;
    const secret = await enrolTotp();
    const pending = factors.totp.begin(await current()).pending;
    for (let n = 0; n < 5; n += 1) await world.authenticate('alice', 'wrong');
    const code = () => totpCode(secret, backend.now());
    backend.advance(30_000);
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code: code() }), 'ok');
    await accounts.changeAccountAsAdmin(id, { is_active: false });
    backend.advance(30_000);
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code: code() }), 'blocked');
    assert.equal(await factors.totp.confirm(id, pending, code()), 'expired');
    await accounts.changeAccountAsAdmin(id, { is_active: true });
    assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code: code() }), 'ok');
  },
);

withEachStore(
  'SECRET_KEY rotation: the TOTP secret opens with the old, is sealed with the new',
  async (backend) => {
    const { id, enrolTotp, current } = await createFactorWorld(backend);
    const secret = await enrolTotp();
    const newKey = 'fedcba9876543210fedcba9876543210';
    const verifyWith = (keys: string[]) =>
      createFactors(backend.store, backend.now, { secretKeys: keys }).totp.verify({
        accountId: id,
        boundTo: 'a',
        code: totpCode(secret, backend.now()),
      });
    const before = (await current()).totp?.sealedSecret;
    assert.equal(await verifyWith([newKey, ...secretKeys]), 'ok');
    assert.notEqual((await current()).totp?.sealedSecret, before);
    backend.advance(STEP);
    assert.equal(await verifyWith([newKey]), 'ok');
  },
);

withEachStore('TOTP: an account without it answers as for a wrong code', async (backend) => {
  const { factors, id } = await createFactorWorld(backend);
  assert.equal(await factors.totp.verify({ accountId: id, boundTo: 'a', code: '123456' }), 'wrong');
  assert.equal(await factors.totp.verify({ accountId: 'nobody', boundTo: 'a', code: '123456' }), 'blocked');
});

withEachStore('TOTP removal: recovery codes go too, unless another factor remains', async (backend) => {
  const { factors, id, current, enrolTotp, enableEmail } = await createFactorWorld(backend);
  await enrolTotp();
  await factors.recoveryCodes.generate(id);
  assert.equal(await factors.totp.remove(id), true);
  const bare = await current();
  assert.deepEqual([bare.totp, bare.totpVerified, bare.recoveryCodes], [undefined, false, undefined]);
  assert.equal(await factors.totp.remove(id), false);
  await enrolTotp();
  await enableEmail();
  await factors.recoveryCodes.generate(id);
  await factors.totp.remove(id);
  assert.equal((await current()).recoveryCodes?.length, 10);
  assert.equal(factors.isRequired(await current(), 'optional'), true);
});

withEachStore('attack: the product name breaks out of the otpauth address', async (backend) => {
  const { current } = await createFactorWorld(backend);
  const issuer = 'A: B & C/?#';
  const factors = createFactors(backend.store, backend.now, { issuer });
  const url = new URL(factors.totp.begin(await current()).uri);
  assert.equal(decodeURIComponent(url.pathname), '/A  B & C/?#:alice');
  assert.equal(url.searchParams.get('issuer'), 'A  B & C/?#');
  assert.equal(url.hash, '');
});
