// Recovery codes: strength, single use, and what the database reveals.
import assert from 'node:assert/strict';
import { AppError } from '../../src/errors.ts';
import { goodPassword, withEachStore } from '../accounts/support.ts';
import { createFactorWorld, timesOf } from './support.ts';

const isNoUser = (error: unknown): boolean => error instanceof AppError && error.code === 'account.not_found';
const isNoFactor = (error: unknown): boolean => error instanceof AppError && error.code === 'mfa.none';

withEachStore(
  'recovery codes: ten of 80 bits, stored as digests, forgiving about typing (R102)',
  async (backend) => {
    const { factors, id, enrolTotp, collection } = await createFactorWorld(backend);
    await enrolTotp();
    const codes = await factors.recoveryCodes.generate(id);
    assert.equal(new Set(codes).size, 10);
    for (const code of codes) assert.match(code, /^(?:[0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    const stored = JSON.stringify(await collection.find(id));
    for (const code of codes) {
      assert.equal(stored.includes(code) || stored.includes(code.replaceAll('-', '')), false);
    }
    const spellings = [
      (code: string) => code,
      (code: string) => code.toUpperCase(),
      (code: string) => code.replaceAll('-', ''),
      (code: string) => ` ${code.replaceAll('-', ' \u2013 ')}\r\n`,
      (code: string) => code.replaceAll('0', 'O').replaceAll('1', 'l'),
      (code: string) => code.replace(/[!-~]/g, (c) => String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0)),
    ];
    for (const [n, spell] of spellings.entries()) {
      const code = spell(codes[n] ?? '');
      assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code }), 'ok', code);
    }
  },
);

withEachStore('attack: a recovery code twice, sequentially and in another process', async (backend) => {
  const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
  await enrolTotp();
  const [code = ''] = await factors.recoveryCodes.generate(id);
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code }), 'ok');
  assert.equal((await current()).recoveryCodes?.length, 9);
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code }), 'wrong');
  assert.equal(await elsewhere.recoveryCodes.verify({ accountId: id, boundTo: 'b', code }), 'wrong');
});

withEachStore('attack: a recovery code in parallel; exactly one succeeds (R072)', async (backend) => {
  const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
  await enrolTotp();
  const codes = await factors.recoveryCodes.generate(id);
  for (const code of codes.slice(0, 5)) {
    backend.advance(600_000);
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? factors : elsewhere).recoveryCodes.verify({ accountId: id, boundTo: `t${n}`, code }),
      ),
    );
    assert.equal(timesOf(verdicts, 'ok'), 1);
  }
  assert.equal((await current()).recoveryCodes?.length, 5);
});

withEachStore('attack: two recovery codes at the same moment; both are used up', async (backend) => {
  const { factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
  await enrolTotp();
  const [one = '', two = ''] = await factors.recoveryCodes.generate(id);
  const verdicts = await Promise.all([
    factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: one }),
    elsewhere.recoveryCodes.verify({ accountId: id, boundTo: 'b', code: two }),
  ]);
  assert.deepEqual(verdicts, ['ok', 'ok']);
  assert.equal((await current()).recoveryCodes?.length, 8);
});

withEachStore('attack: codes from before new ones were generated', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  await enrolTotp();
  const [old = ''] = await factors.recoveryCodes.generate(id);
  const [fresh = ''] = await factors.recoveryCodes.generate(id);
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: old }), 'wrong');
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: fresh }), 'ok');
});

withEachStore('attack: the code of another account, and its digest copied over', async (backend) => {
  const world = await createFactorWorld(backend);
  const { factors, id, collection } = world;
  await world.enrolTotp();
  await factors.recoveryCodes.generate(id);
  const bob = await world.accounts.create({ username: 'bob', password: goodPassword });
  await world.enrolTotp(bob.id);
  const [bobs = ''] = await factors.recoveryCodes.generate(bob.id);
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: bobs }), 'wrong');
  const stored = await collection.find(id);
  const bobsDigests = (await collection.find(bob.id))?.value.recoveryCodes;
  assert.ok(stored && bobsDigests);
  await collection.put(id, { ...stored.value, recoveryCodes: bobsDigests });
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: bobs }), 'wrong');
});

withEachStore('attack: digests of a copied database as codes', async (backend) => {
  const { factors, id, enrolTotp, current } = await createFactorWorld(backend);
  await enrolTotp();
  await factors.recoveryCodes.generate(id);
  for (const code of ((await current()).recoveryCodes ?? []).slice(0, 5)) {
    assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code }), 'wrong');
  }
});

withEachStore('attack: codes generated before a factor exists, kept for later', async (backend) => {
  const { accounts, factors, id, enrolTotp, enableEmail, current } = await createFactorWorld(backend);
  await assert.rejects(factors.recoveryCodes.generate(id), isNoFactor);
  await assert.rejects(factors.recoveryCodes.generate('nobody'), isNoUser);
  await enrolTotp();
  const [old = ''] = await factors.recoveryCodes.generate(id);
  await accounts.changeAccountAsAdmin(id, { totp_verified: false });
  await assert.rejects(factors.recoveryCodes.generate(id), isNoFactor);
  await enableEmail();
  assert.deepEqual(factors.methodsOf(await current()), ['email']);
  assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: 'a', code: old }), 'wrong');
});

withEachStore(
  'attack: codes generated during a reset by an administrator; they are gone',
  async (backend) => {
    const { accounts, factors, elsewhere, id, enrolTotp, current } = await createFactorWorld(backend);
    for (let round = 0; round < 5; round += 1) {
      await enrolTotp();
      await Promise.allSettled([
        accounts.changeAccountAsAdmin(id, { totp_verified: false }),
        elsewhere.recoveryCodes.generate(id),
        factors.recoveryCodes.generate(id),
      ]);
      assert.equal((await current()).recoveryCodes, undefined);
    }
  },
);

withEachStore('recovery code: malformed input is wrong', async (backend) => {
  const { factors, id, enrolTotp } = await createFactorWorld(backend);
  await enrolTotp();
  await factors.recoveryCodes.generate(id);
  for (const [n, code] of ['', '-', '\0', 'x'.repeat(1_000_000), '0000-0000-0000-0000'].entries()) {
    assert.equal(await factors.recoveryCodes.verify({ accountId: id, boundTo: `${n}`, code }), 'wrong');
  }
});
