// Accounts on every store: creation, changes, uniqueness of sign-in names, lists.
import assert from 'node:assert/strict';
import type { NewAccount } from '../../src/accounts/contract.ts';
import { AppError, type ErrorCode } from '../../src/errors.ts';
import { createWorld, goodPassword, withEachStore } from './support.ts';

const refusedWith =
  (code: ErrorCode, ...fields: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    if (fields.length > 0) assert.deepEqual(Object.keys(error.fields ?? {}).sort(), fields.sort());
    return true;
  };

const alice: NewAccount = { username: 'Alice', password: goodPassword, email: 'alice@example.com' };

withEachStore(
  'account: creation sets safe defaults; every spelling of the name finds it',
  async (backend) => {
    const { accounts } = createWorld(backend);
    const created = await accounts.create(alice);
    assert.equal(created.role, 'user');
    assert.equal(created.isActive, true);
    assert.equal(created.isEmailVerified, false);
    assert.equal(created.createdAt, backend.now());
    assert.match(created.passwordHash ?? '', /^\$argon2id\$/);
    assert.deepEqual(await accounts.find(created.id), created);
    for (const spelling of ['alice', ' ALICE ', 'Ａｌｉｃｅ', 'alıce', 'alİce']) {
      assert.equal((await accounts.findByLogin(spelling))?.id, created.id, spelling);
    }
    assert.equal(await accounts.findByLogin('alicia'), undefined);
  },
);

withEachStore('sign-in name: an e-mail address counts only once it is verified (R129)', async (backend) => {
  const { accounts } = createWorld(backend);
  const { id } = await accounts.create(alice);
  assert.equal(await accounts.findByLogin('alice@example.com'), undefined);
  await accounts.changeAccountAsAdmin(id, { is_email_verified: true });
  assert.equal((await accounts.findByLogin('ALICE@Example.com'))?.id, id);
  await accounts.changeAccountAsAdmin(id, { email: 'other@example.com' });
  assert.equal(await accounts.findByLogin('other@example.com'), undefined);
  assert.equal(await accounts.findByLogin('alice@example.com'), undefined);
});

withEachStore(
  'account: every validation error is reported at once and nothing is written',
  async (backend) => {
    const { accounts } = createWorld(backend);
    await assert.rejects(
      accounts.create({
        username: 'a',
        password: 'short',
        email: 'nonsense',
        website: 'javascript:alert(1)',
        birthdate: '31.12.1999',
        zoneinfo: 'Mars/Olympus',
        name: 'a\nb',
        address: { locality: 'x'.repeat(300) },
        phone_number: 'call me',
      }),
      refusedWith(
        'request.invalid',
        'username',
        'password',
        'email',
        'website',
        'birthdate',
        'zoneinfo',
        'name',
        'address.locality',
        'phone_number',
      ),
    );
    assert.equal((await accounts.query({ sort: 'id', order: 'asc', limit: 10 })).total, 0);
  },
);

withEachStore('account update: changes the given fields and no others', async (backend) => {
  const { accounts, endedSessionsOf } = createWorld(backend);
  const before = await accounts.create({
    ...alice,
    given_name: 'Alice',
    locale: 'de-CH',
    picture: 'https://example.com/a.png',
    address: { locality: 'Zürich' },
  });
  backend.advance(5000);
  const { after } = await accounts.changeAccountAsAdmin(before.id, { nickname: 'Al', locale: null });
  assert.deepEqual(after, {
    ...before,
    version: before.version + 1,
    profile: { given_name: 'Alice', picture: 'https://example.com/a.png', nickname: 'Al' },
    updatedAt: backend.now(),
  });
  assert.equal((await accounts.changeAccountAsAdmin(before.id, { address: null })).after.address, undefined);
  assert.deepEqual(endedSessionsOf, []);
});

withEachStore(
  'account update: a new e-mail address ends sessions, the same one does not (R063)',
  async (backend) => {
    const { accounts, endedSessionsOf } = createWorld(backend);
    const { id, email = '' } = await accounts.create(alice);
    await accounts.changeAccountAsAdmin(id, { email: email.toUpperCase() });
    assert.deepEqual(endedSessionsOf, []);
    assert.equal((await accounts.changeAccountAsAdmin(id, { email: null })).after.email, undefined);
    await accounts.changeAccountAsAdmin(id, { email: 'alice@elsewhere.example' });
    assert.deepEqual(endedSessionsOf, [id, id]);
  },
);

withEachStore(
  'account update: new password, role or deactivation ends sessions, same role not',
  async (backend) => {
    const { accounts, endedSessionsOf } = createWorld(backend);
    await accounts.create({ username: 'root', password: goodPassword, role: 'admin' });
    const { id } = await accounts.create(alice);
    await accounts.changeAccountAsAdmin(id, { role: 'user', is_active: true, totp_verified: true });
    assert.deepEqual(endedSessionsOf, []);
    backend.advance(1000);
    const { after: changed } = await accounts.changeAccountAsAdmin(id, { password: 'nine low bridges' });
    assert.equal(changed.passwordChangedAt, backend.now());
    await accounts.changeAccountAsAdmin(id, { role: 'admin' });
    await accounts.changeAccountAsAdmin(id, { is_active: false });
    await accounts.changeAccountAsAdmin(id, { is_active: true });
    assert.deepEqual(endedSessionsOf, [id, id, id]);
  },
);

withEachStore('account update: a new e-mail address is unverified unless vouched for', async (backend) => {
  const { accounts } = createWorld(backend);
  const { id } = await accounts.create({ ...alice, is_email_verified: true });
  assert.equal(
    (await accounts.changeAccountAsAdmin(id, { email: 'Alice@EXAMPLE.com' })).after.isEmailVerified,
    true,
  );
  assert.equal(
    (await accounts.changeAccountAsAdmin(id, { email: 'new@example.com' })).after.isEmailVerified,
    false,
  );
  assert.equal(
    (await accounts.changeAccountAsAdmin(id, { email: 'b@example.com', is_email_verified: true })).after
      .isEmailVerified,
    true,
  );
  await assert.rejects(
    accounts.changeAccountAsAdmin(id, { email: null, is_email_verified: true }),
    refusedWith('request.invalid', 'is_email_verified'),
  );
});

withEachStore('account update: an expected version that is no longer current is refused', async (backend) => {
  const { accounts } = createWorld(backend);
  const { id, version } = await accounts.create(alice);
  await accounts.changeAccountAsAdmin(id, { name: 'A' }, { version });
  await assert.rejects(
    accounts.changeAccountAsAdmin(id, { name: 'B' }, { version }),
    refusedWith('account.changed'),
  );
});

withEachStore('account update: parallel updates of different fields lose nothing', async (backend) => {
  const { accounts } = createWorld(backend);
  const { id } = await accounts.create(alice);
  await Promise.all([
    accounts.changeAccountAsAdmin(id, { given_name: 'A' }),
    accounts.changeAccountAsAdmin(id, { family_name: 'B' }),
    accounts.changeAccountAsAdmin(id, { phone_number: '+41 44 123 45 67' }),
    accounts.changeAccountAsAdmin(id, { is_email_verified: true }),
  ]);
  const after = await accounts.find(id);
  assert.deepEqual(after?.profile, { given_name: 'A', family_name: 'B' });
  assert.deepEqual([after?.phoneNumber, after?.isEmailVerified], ['+41 44 123 45 67', true]);
});

withEachStore('account: an unknown id, username or address finds no account', async (backend) => {
  const { accounts } = createWorld(backend);
  assert.equal(await accounts.find('nobody'), undefined);
  await assert.rejects(accounts.changeAccountAsAdmin('nobody', {}), refusedWith('account.not_found'));
  await assert.rejects(accounts.unlock('nobody'), refusedWith('account.not_found'));
  await assert.rejects(accounts.removeAccountAsAdmin('nobody'), refusedWith('account.not_found'));
});

withEachStore(
  'attack: one username in 100 spellings, sent at once, creates one account (R077)',
  async (backend) => {
    const { accounts } = createWorld(backend);
    const letters = [...'mississippi'];
    const spellings = Array.from({ length: 100 }, (_, n) => {
      const cased = letters.map((letter, at) => (((n * 37) >> (at % 7)) & 1 ? letter.toUpperCase() : letter));
      const dotless = cased.map((letter) => (letter === 'i' ? 'ı' : letter === 'I' ? 'İ' : letter));
      const wide = cased.map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0));
      const forms = [cased, dotless, wide, [...cased, '\u3000'], [' ', ...dotless.join('').normalize('NFD')]];
      return (forms[n % forms.length] ?? cased).join('');
    });
    assert.ok(new Set(spellings).size > 90);
    const results = await Promise.allSettled(
      spellings.map((username) => accounts.create({ username, password: goodPassword })),
    );
    for (const result of results) {
      if (result.status === 'rejected') refusedWith('account.username_taken', 'username')(result.reason);
    }
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await accounts.query({ sort: 'id', order: 'asc', limit: 10 })).total, 1);
  },
);

withEachStore('attack: one e-mail address in many spellings creates one account (R077)', async (backend) => {
  const { accounts } = createWorld(backend);
  const spellings = [
    'a.b@bücher.example',
    'A.B@BÜCHER.example',
    'a.b@xn--bcher-kva.example',
    'A.b@bu\u0308cher.EXAMPLE',
  ];
  const results = await Promise.allSettled(
    spellings.map((email, n) => accounts.create({ username: `user${n}`, password: goodPassword, email })),
  );
  for (const result of results) {
    if (result.status === 'rejected') refusedWith('account.email_taken', 'email')(result.reason);
  }
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

withEachStore(
  'attack: a username that is another account’s e-mail address (CVE-2021-3754)',
  async (backend) => {
    const { accounts } = createWorld(backend);
    const victim = await accounts.create({ ...alice, is_email_verified: true });
    const password = goodPassword;
    for (const username of ['alice@example.com', 'ALICE＠example.com']) {
      await assert.rejects(
        accounts.create({ username, password }),
        refusedWith('request.invalid', 'username'),
      );
      await assert.rejects(
        accounts.create({ username, password, email: 'mallory@example.com' }),
        refusedWith('request.invalid', 'username'),
      );
      await assert.rejects(
        accounts.create({ username, password, email: 'alice@example.com' }),
        (error) => error instanceof AppError && error.status === 409,
      );
    }
    const mallory = await accounts.create({ username: 'mallory', password, email: 'mallory@example.com' });
    await assert.rejects(
      accounts.changeAccountAsAdmin(mallory.id, { username: 'alice@example.com' }),
      refusedWith('request.invalid', 'username'),
    );
    assert.equal((await accounts.findByLogin('alice@example.com'))?.id, victim.id);
  },
);

withEachStore(
  'username: may be the own e-mail address, and then changes only together with it',
  async (backend) => {
    const { accounts } = createWorld(backend);
    const own = { username: 'Me@Bücher.example', password: goodPassword, email: 'me@bücher.example' };
    const { id } = await accounts.create(own);
    // As a username it signs in, verified or not.
    assert.equal((await accounts.findByLogin('me@xn--bcher-kva.example'))?.id, id);
    await assert.rejects(
      accounts.changeAccountAsAdmin(id, { email: 'else@example.com' }),
      refusedWith('request.invalid', 'email'),
    );
    await assert.rejects(
      accounts.changeAccountAsAdmin(id, { email: null }),
      refusedWith('request.invalid', 'email'),
    );
    await accounts.changeAccountAsAdmin(id, { email: 'else@example.com', username: 'else@example.com' });
    assert.equal(await accounts.findByLogin('me@bücher.example'), undefined);
  },
);

withEachStore(
  'attack: username and e-mail address claimed at the same moment (CVE-2021-3754)',
  async (backend) => {
    const { accounts } = createWorld(backend);
    for (let round = 0; round < 10; round += 1) {
      const address = `target${round}@example.com`;
      const password = goodPassword;
      await Promise.allSettled([
        accounts.create({ username: `owner${round}`, password, email: address, is_email_verified: true }),
        accounts.create({ username: address, password, email: address, is_email_verified: true }),
        accounts.create({ username: address, password, email: `other${round}@example.com` }),
      ]);
      const { items } = await accounts.query({ sort: 'id', order: 'asc', limit: 100 });
      const claimants = items.filter((one) => one.usernameKey === address || one.emailKey === address);
      assert.equal(claimants.length, 1);
    }
  },
);

withEachStore('account list: hides accounts being deleted and counts correctly', async (backend) => {
  const stuck = { isOn: true };
  const { accounts } = createWorld(backend, {
    endSessions: async () => {
      if (stuck.isOn) throw new Error('the power is gone');
    },
  });
  const { id } = await accounts.create(alice);
  await accounts.create({ username: 'bob', password: goodPassword });
  await assert.rejects(accounts.removeAccountAsAdmin(id));
  const page = await accounts.query({ sort: 'username', order: 'asc', limit: 10 });
  assert.deepEqual([page.total, page.items.map(({ username }) => username)], [1, ['bob']]);
});
