// E-mail codes: what they are bound to, single use, and their limits.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { emailChallenges } from '../../src/store/collections.ts';
import { type Backend, goodPassword, withEachStore } from '../accounts/support.ts';
import { createFactors, createFactorWorld, secretKeys, timesOf, wrongCode } from './support.ts';

const COOLDOWN = 60_000;

async function createMailWorld(backend: Backend) {
  const world = await createFactorWorld(backend);
  await world.enableEmail();
  const { factors, id } = world;
  return {
    ...world,
    challenges: backend.store.ephemeral(emailChallenges),
    /** @returns the code as it stands in the mail */
    async mailedCode(boundTo = 'a'): Promise<string> {
      const started = await factors.startEmail(await world.current(), boundTo);
      assert.ok(typeof started === 'object', String(started));
      return started.code;
    },
    verify: (code: string, boundTo = 'a') =>
      factors.verify({ method: 'email', accountId: id, boundTo, code }),
  };
}

withEachStore('e-mail code: signs in once, in any typed form', async (backend) => {
  const { factors, mailedCode, verify, current } = await createMailWorld(backend);
  assert.deepEqual(factors.methodsOf(await current()), ['email']);
  const code = await mailedCode();
  assert.match(code, /^\d{6}$/);
  assert.equal(await verify(wrongCode(code)), 'wrong');
  assert.equal(await verify(` ${code.slice(0, 3)} ${code.slice(3)}\n`), 'ok');
  assert.equal(await verify(code), 'expired');
  // A valid code clears the counter of its kind; a used one is no guess.
  assert.equal((await current()).codeFailures?.email, undefined);
});

withEachStore('attack: an e-mail code after ten minutes, to the millisecond (R093)', async (backend) => {
  const { mailedCode, verify } = await createMailWorld(backend);
  const first = await mailedCode('a');
  backend.advance(600_000 - 1);
  assert.equal(await verify(first, 'a'), 'ok');
  const second = await mailedCode('b');
  backend.advance(600_000);
  assert.equal(await verify(second, 'b'), 'expired');
});

withEachStore(
  'e-mail code: a newer one leaves the old valid until it expires or one is used',
  async (backend) => {
    const { mailedCode, verify } = await createMailWorld(backend);
    const old = await mailedCode();
    backend.advance(COOLDOWN);
    const fresh = await mailedCode();
    assert.equal(await verify(old), 'ok');
    assert.equal(await verify(fresh), 'expired', 'one of them is used: no other counts');
    backend.advance(COOLDOWN);
    const early = await mailedCode();
    backend.advance(600_000 - 1000);
    const late = await mailedCode();
    backend.advance(1000);
    if (early !== late) assert.equal(await verify(early), 'wrong', 'its ten minutes are over');
    assert.equal(await verify(late), 'ok');
  },
);

withEachStore(
  'attack: the code of another interaction, account, purpose or address (R093)',
  async (backend) => {
    const world = await createMailWorld(backend);
    const { factors, id, verify, mailedCode } = world;
    const bob = await world.accounts.create({
      username: 'bob',
      password: goodPassword,
      email: 'bob@example.com',
      is_email_verified: true,
    });
    await factors.setEmailFactor(bob.id, true);
    const code = await mailedCode('hers');
    assert.equal(await verify(code, 'his'), 'expired');
    const attempt = { boundTo: 'hers', code };
    assert.equal(await factors.verify({ method: 'email', accountId: bob.id, ...attempt }), 'expired');
    const change = {
      accountId: id,
      purpose: 'email_change',
      boundTo: 'hers',
      address: 'new@example.com',
    } as const;
    assert.equal(await factors.emailCodes.verify({ ...change, code }), 'expired');
    const started = await factors.emailCodes.start(change);
    assert.ok(typeof started === 'object');
    if (started.code !== code) assert.equal(await verify(started.code, 'hers'), 'wrong');
    // Proves the address it was sent to, not one that was put in its place.
    const swapped = { ...change, address: 'victim@example.com', code: started.code };
    assert.equal(await factors.emailCodes.verify(swapped), 'wrong');
    assert.equal(await factors.emailCodes.verify({ ...change, code: started.code }), 'ok');
    assert.equal(await verify(code, 'hers'), 'ok');
  },
);

withEachStore(
  'attack: a code from before a change of password, address or factor (R063)',
  async (backend) => {
    const { accounts, factors, id, mailedCode, verify, enrolTotp } = await createMailWorld(backend);
    const changes = [
      () => accounts.changeAccountAsAdmin(id, { password: 'nine low bridges' }),
      () => accounts.changeAccountAsAdmin(id, { email: 'other@example.com', is_email_verified: true }),
      () => enrolTotp(),
      () => factors.totp.remove(id),
    ];
    for (const [n, change] of changes.entries()) {
      backend.advance(600_000);
      const code = await mailedCode(`c${n}`);
      await change();
      assert.equal(await verify(code, `c${n}`), 'wrong');
    }
    const last = await mailedCode('last');
    await accounts.changeAccountAsAdmin(id, { totp_verified: false });
    assert.equal(await verify(last, 'last'), 'wrong');
  },
);

withEachStore('attack: five wrong codes end the challenge, also in parallel (R094)', async (backend) => {
  const { factors, elsewhere, id, mailedCode, verify } = await createMailWorld(backend);
  const code = await mailedCode();
  const wrong = wrongCode(code);
  const verdicts = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      (n % 2 === 0 ? factors : elsewhere).verify({
        method: 'email',
        accountId: id,
        boundTo: 'a',
        code: wrong,
      }),
    ),
  );
  assert.deepEqual([timesOf(verdicts, 'wrong'), timesOf(verdicts, 'blocked')], [5, 195]);
  backend.advance(599_999);
  assert.equal(await verify(code), 'blocked');
  // A new code has new tries.
  backend.advance(1);
  assert.equal(await verify(await mailedCode()), 'ok');
});

withEachStore(
  'attack: one e-mail code in parallel, in two processes: one succeeds (R072)',
  async (backend) => {
    const { factors, elsewhere, id, mailedCode } = await createMailWorld(backend);
    for (let round = 0; round < 5; round += 1) {
      backend.advance(600_000);
      const code = await mailedCode();
      const verdicts = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? factors : elsewhere).verify({ method: 'email', accountId: id, boundTo: 'a', code }),
        ),
      );
      assert.equal(timesOf(verdicts, 'ok'), 1);
    }
  },
);

withEachStore('attack: a flood of mails; a pause per challenge, five in an hour (R095)', async (backend) => {
  const { factors, elsewhere, mailedCode, current } = await createMailWorld(backend);
  const account = await current();
  await mailedCode('a');
  assert.equal(await factors.startEmail(account, 'a'), 'cooldown');
  backend.advance(COOLDOWN - 1);
  assert.equal(await elsewhere.startEmail(account, 'a'), 'cooldown');
  for (const challenge of ['b', 'c', 'd', 'e']) await mailedCode(challenge);
  assert.equal(await elsewhere.startEmail(account, 'f'), 'limited');
  backend.advance(3_600_000 - COOLDOWN);
  assert.equal(await factors.startEmail(account, 'f'), 'limited');
  backend.advance(1);
  // Only the first mail is an hour ago.
  await mailedCode('f');
  assert.equal(await factors.startEmail(account, 'g'), 'limited');
});

withEachStore(
  'attack: who knows the password spends the mails; a known browser has its own',
  async (backend) => {
    const { factors, mailedCode, current, verify } = await createMailWorld(backend);
    const account = await current();
    const mails = ['a', 'b', 'c', 'd', 'e'];
    for (const challenge of mails) await mailedCode(challenge);
    assert.equal(await factors.startEmail(account, 'f'), 'limited');
    for (const challenge of mails)
      assert.equal(typeof (await factors.startEmail(account, `known ${challenge}`, 'one')), 'object');
    assert.equal(await factors.startEmail(account, 'known f', 'one'), 'limited');
    assert.equal(typeof (await factors.startEmail(account, 'other', 'two')), 'object');
    assert.equal(await verify('000000', 'none'), 'expired');
  },
);

withEachStore(
  'e-mail code: a used one gives its mail back, so that one may sign in all day',
  async (backend) => {
    const { mailedCode, verify } = await createMailWorld(backend);
    for (let time = 0; time < 12; time += 1)
      assert.equal(await verify(await mailedCode(`s${time}`), `s${time}`), 'ok');
  },
);

withEachStore('attack: codes requested in parallel; one mail per challenge, five in all', async (backend) => {
  const { factors, elsewhere, current, verify } = await createMailWorld(backend);
  const account = await current();
  const inParallel = (boundTo: (n: number) => string) =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? factors : elsewhere).startEmail(account, boundTo(n)),
      ),
    );
  const one = (await inParallel(() => 'one')).filter((started) => typeof started === 'object');
  assert.equal(one.length, 1);
  assert.equal(await verify(one[0]?.code ?? '', 'one'), 'ok');
  const many = (await inParallel((n) => `many ${n}`)).filter((started) => typeof started === 'object');
  assert.equal(many.length, 5);
});

withEachStore(
  'attack: an e-mail code for an account that does not use it, or another address',
  async (backend) => {
    const { accounts, factors, id, enrolTotp, current } = await createFactorWorld(backend);
    await enrolTotp();
    assert.equal(await factors.startEmail(await current(), 'a'), 'limited');
    await factors.setEmailFactor(id, true);
    await accounts.changeAccountAsAdmin(id, { email: 'unproven@example.com' });
    assert.equal(await factors.startEmail(await current(), 'a'), 'limited');
    assert.equal((await current()).hasEmailCodes, true);
    assert.deepEqual(factors.methodsOf(await current()), ['totp']);
  },
);

withEachStore('attack: a copied database; codes cannot be searched without SECRET_KEY', async (backend) => {
  const { challenges, id, mailedCode, verify } = await createMailWorld(backend);
  const code = await mailedCode();
  const [stored] = await challenges.findBy('account', id);
  assert.ok(stored);
  const { digest } = stored.value;
  assert.equal(JSON.stringify(stored).includes(code), false);
  for (const text of [code, `${id}${code}`, `${stored.id}${code}`]) {
    const guess = createHash('sha256').update(text);
    assert.notEqual(guess.digest('base64url'), digest);
  }
  assert.equal(await verify(digest), 'wrong');
  // With another key no one knows what the digest is of: the key takes part.
  const others = createFactors(backend.store, backend.now, { secretKeys: ['f'.repeat(32)] });
  assert.equal(await others.verify({ method: 'email', accountId: id, boundTo: 'a', code }), 'wrong');
  const rotated = createFactors(backend.store, backend.now, {
    secretKeys: ['f'.repeat(32), ...secretKeys],
  });
  assert.equal(await rotated.verify({ method: 'email', accountId: id, boundTo: 'a', code }), 'ok');
});

withEachStore('attack: a used e-mail code leaves nothing reusable', async (backend) => {
  const { challenges, id, mailedCode, verify } = await createMailWorld(backend);
  assert.equal(await verify(await mailedCode()), 'ok');
  const [stored] = await challenges.findBy('account', id);
  assert.deepEqual([stored?.value.digest, stored?.value.triesLeft], ['', 0]);
  for (const empty of ['', ' ', '000000']) assert.equal(await verify(empty), 'expired');
});

withEachStore(
  'e-mail code: none for an inactive account; removal deletes its challenges',
  async (backend) => {
    const { accounts, factors, challenges, id, mailedCode, verify, current } = await createMailWorld(backend);
    const code = await mailedCode();
    await accounts.changeAccountAsAdmin(id, { is_active: false });
    assert.equal(await factors.startEmail(await current(), 'b'), 'limited');
    assert.equal(await verify(code), 'blocked');
    await factors.removeAllOf(id);
    assert.deepEqual(await challenges.findBy('account', id), []);
    const change = { accountId: 'nobody', purpose: 'sign_in', boundTo: 'a' } as const;
    assert.equal(await factors.emailCodes.start(change), 'limited');
    assert.equal(await factors.emailCodes.verify({ ...change, code }), 'expired');
  },
);
