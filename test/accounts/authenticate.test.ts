// Password sign-in, lockout and known browsers, and attacks on them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createCompleteSignIn } from '../../src/accounts/complete-sign-in.ts';
import { createPasswords } from '../../src/accounts/passwords/password.ts';
import { AppError } from '../../src/errors.ts';
import { accounts as accountsDefinition } from '../../src/store/collections.ts';
import {
  cheapParameters,
  countOf,
  createWorld,
  goodPassword,
  observed,
  type World,
  withEachStore,
} from './support.ts';

const alice = {
  username: 'alice',
  password: goodPassword,
  email: 'alice@example.com',
  is_email_verified: true,
};

async function fail(world: World, times: number, name = 'alice'): Promise<void> {
  for (let n = 0; n < times; n += 1) assert.equal(await world.authenticate(name, `wrong ${n}`), undefined);
}

withEachStore(
  'sign-in: correct password by username or verified address, recorded as complete',
  async (backend) => {
    const world = createWorld(backend);
    const { id, updatedAt } = await world.accounts.create(alice);
    backend.advance(1000);
    for (const name of ['alice', ' ALICE', 'alice@example.com']) {
      const account = (await world.authenticate(name, goodPassword)) ?? assert.fail();
      assert.deepEqual([account.id, account.provenAt], [id, backend.now()]);
      await world.signIns.complete(account);
      const stored = await world.collection.find(id);
      assert.deepEqual([stored?.value.lastLoginAt, stored?.value.updatedAt], [backend.now(), updatedAt]);
      assert.equal('provenAt' in (stored?.value ?? {}), false);
    }
    assert.deepEqual(world.outcomes[0], { outcome: 'success', accountId: id });
  },
);

withEachStore(
  'sign-in: unknown, wrong, locked and inactive get one answer; only logs say (R084)',
  async (backend) => {
    const world = createWorld(backend);
    const { accounts, authenticate } = world;
    await accounts.create(alice);
    const asleep = await accounts.create({ username: 'asleep', password: goodPassword, is_active: false });
    const locked = await accounts.create({ username: 'locked', password: goodPassword });
    const passkeyOnly = await accounts.create({ username: 'passkey' });
    await fail(world, 5, 'locked');
    world.outcomes.length = 0;
    assert.equal(await authenticate('nobody', goodPassword), undefined);
    assert.equal(await authenticate('alice', 'wrong'), undefined);
    assert.equal(await authenticate('locked', goodPassword), undefined);
    assert.equal(await authenticate('asleep', goodPassword), undefined);
    assert.equal(await authenticate('passkey', ''), undefined);
    assert.equal(await authenticate('', ''), undefined);
    assert.deepEqual(
      world.outcomes.map(({ outcome }) => outcome),
      ['unknown', 'wrong', 'locked', 'inactive', 'wrong', 'unknown'],
    );
    assert.deepEqual(
      [world.outcomes[2]?.accountId, world.outcomes[3]?.accountId, world.outcomes[4]?.accountId],
      [locked.id, asleep.id, passkeyOnly.id],
    );
    // Nothing that could be guessed, so nothing to lock.
    assert.equal((await accounts.find(passkeyOnly.id))?.failedLoginAttempts, 0);
  },
);

withEachStore(
  'lockout: five failures lock for 15 minutes each; a completed sign-in clears it',
  async (backend) => {
    const world = createWorld(backend);
    const { id } = await world.accounts.create(alice);
    for (let round = 0; round < 4; round += 1) {
      await fail(world, 5);
      const locked = await world.accounts.find(id);
      assert.equal(locked?.lockedUntil, backend.now() + 900_000);
      assert.equal(await world.authenticate('alice', goodPassword), undefined);
      backend.advance(899_999);
      assert.equal(await world.authenticate('alice', goodPassword), undefined);
      backend.advance(1);
    }
    assert.equal((await world.accounts.find(id))?.failedLoginAttempts, 20);
    // The owner is told once in 24 hours.
    assert.deepEqual(
      world.locks.map(({ isNoticeDue }) => isNoticeDue),
      [true, false, false, false],
    );
    await world.signIns.complete((await world.authenticate('alice', goodPassword)) ?? assert.fail());
    const after = await world.accounts.find(id);
    assert.deepEqual([after?.failedLoginAttempts, after?.lockCount, after?.lockedUntil], [0, 0, undefined]);
    backend.advance(86_400_000);
    await fail(world, 5);
    assert.equal(world.locks.at(-1)?.isNoticeDue, true);
  },
);

withEachStore(
  'lockout: a correct password alone returns its own attempt and clears no count',
  async (backend) => {
    const world = createWorld(backend);
    const { id } = await world.accounts.create(alice);
    for (let round = 0; round < 3; round += 1) {
      await fail(world, round === 0 ? 4 : 0);
      assert.equal((await world.authenticate('alice', goodPassword))?.id, id);
      const after = await world.accounts.find(id);
      assert.deepEqual([after?.failedLoginAttempts, after?.lockCount, after?.lockedUntil], [4, 0, undefined]);
    }
  },
);

withEachStore(
  'lockout: after 100 failures the password is only for accounts without other ways',
  async (backend) => {
    const ways = { isOther: false };
    const world = createWorld(backend, { hasOtherWayIn: () => ways.isOther });
    const { id } = await world.accounts.create(alice);
    for (let round = 0; round < 20; round += 1) {
      await fail(world, 5);
      backend.advance(900_000);
    }
    ways.isOther = true;
    assert.equal(await world.authenticate('alice', goodPassword), undefined);
    ways.isOther = false;
    assert.equal((await world.authenticate('alice', goodPassword))?.id, id);
  },
);

/** A complete sign-in in a new browser. @returns what the browser keeps */
async function knownBrowser(world: World): Promise<{ tokens: string[] }> {
  const account = (await world.authenticate('alice', goodPassword)) ?? assert.fail();
  return { tokens: [(await world.signIns.complete(account, [])) ?? assert.fail()] };
}

withEachStore(
  'known browsers: ten at most, for 90 days, renewed by each completed sign-in',
  async (backend) => {
    const world = createWorld(backend);
    const { id } = await world.accounts.create(alice);
    const first = await knownBrowser(world);
    const rest: { tokens: string[] }[] = [];
    for (let n = 0; n < 10; n += 1) rest.push(await knownBrowser(world));
    assert.equal((await world.accounts.find(id))?.knownBrowsers?.length, 10);
    await fail(world, 5);
    assert.equal(await world.authenticate('alice', goodPassword, first), undefined, 'the oldest had to go');
    const [second] = rest;
    const account = (await world.authenticate('alice', goodPassword, second)) ?? assert.fail();
    const renewed = await world.signIns.complete(account, second?.tokens);
    assert.equal((await world.accounts.find(id))?.knownBrowsers?.length, 10, 'replaced, not added');
    backend.advance(90 * 86_400_000 - 1);
    await fail(world, 5);
    const late = { tokens: ['of another account', renewed ?? ''] };
    assert.equal((await world.authenticate('alice', goodPassword, late))?.id, id);
    backend.advance(1);
    assert.equal(await world.authenticate('alice', goodPassword, late), undefined);
  },
);

withEachStore(
  'attack: 200 guesses in one known browser, four processes: ten evaluated (R075)',
  async (backend) => {
    const stores = [backend.store, backend.reopen(), backend.reopen(), backend.reopen()];
    const worlds = stores.map((store) => createWorld({ ...backend, store }, { maxWaiting: 1000 }));
    const [here] = worlds;
    assert.ok(here);
    const { id } = await here.accounts.create(alice);
    const browser = await knownBrowser(here);
    // The lock keeps those out that come after the browser is unknown.
    await fail(here, 5);
    for (const { outcomes } of worlds) outcomes.length = 0;
    await here.authenticate('alice', 'first', browser);
    await Promise.all(
      Array.from({ length: 199 }, async (_, n) =>
        worlds[n % 4]?.authenticate('alice', `guess ${n}`, browser),
      ),
    );
    assert.equal(
      worlds.reduce((sum, { outcomes }) => sum + countOf(outcomes, 'wrong'), 0),
      10,
    );
    const after = await here.accounts.find(id);
    assert.deepEqual([after?.knownBrowsers, after?.failedLoginAttempts], [undefined, 5]);
  },
);

withEachStore(
  'attack: a sign-in overtaken by a new password does not make the browser known',
  async (backend) => {
    const world = createWorld(backend);
    const { id } = await world.accounts.create(alice);
    const account = (await world.authenticate('alice', goodPassword)) ?? assert.fail();
    await world.accounts.changeAccountAsAdmin(id, { password: 'nine low bridges' });
    assert.equal(await world.signIns.complete(account, []), undefined);
    assert.equal((await world.accounts.find(id))?.knownBrowsers, undefined);
  },
);

withEachStore('lockout: attempts during a lock neither count nor extend it', async (backend) => {
  const world = createWorld(backend);
  const { id } = await world.accounts.create(alice);
  await fail(world, 5);
  const locked = await world.accounts.find(id);
  await fail(world, 20);
  assert.deepEqual(await world.accounts.find(id), locked);
});

withEachStore('lockout: an administrator can lift it', async (backend) => {
  const world = createWorld(backend);
  const { id } = await world.accounts.create(alice);
  await fail(world, 5);
  const { after: unlocked } = await world.accounts.unlock(id);
  assert.deepEqual(
    [unlocked.failedLoginAttempts, unlocked.lockCount, unlocked.lockedUntil],
    [0, 0, undefined],
  );
  assert.equal((await world.authenticate('alice', goodPassword))?.id, id);
});

withEachStore(
  'attack: spellings, blanks, width and e-mail address share one count (R087)',
  async (backend) => {
    const world = createWorld(backend);
    const { id } = await world.accounts.create(alice);
    const names = [
      'alice',
      'ALICE',
      ' alice ',
      'Ａlice',
      'alice@example.com',
      'ALİCE',
      'alıce\u3000',
      'Alice＠EXAMPLE.com',
    ];
    for (const name of names) await world.authenticate(name, 'wrong');
    assert.equal(countOf(world.outcomes, 'wrong'), 5);
    assert.equal(countOf(world.outcomes, 'locked'), names.length - 5);
    assert.equal((await world.accounts.find(id))?.failedLoginAttempts, 5);
    for (const name of names) assert.equal(await world.authenticate(name, goodPassword), undefined, name);
  },
);

withEachStore(
  'attack: of 200 parallel wrong guesses only the threshold is evaluated (R088)',
  async (backend) => {
    const world = createWorld(backend, { maxWaiting: 1000 });
    const { id } = await world.accounts.create(alice);
    const names = ['alice', 'ALICE', 'alice@example.com'];
    const guesses = Array.from({ length: 199 }, (_, n) =>
      world.authenticate(names[n % 3] ?? '', `guess ${n}`),
    );
    // The right one among the last of them comes too late.
    guesses.push(world.authenticate('alice', goodPassword));
    assert.deepEqual(new Set(await Promise.all(guesses)), new Set([undefined]));
    assert.equal(countOf(world.outcomes, 'wrong'), 5);
    assert.equal(countOf(world.outcomes, 'locked'), 195);
    assert.equal((await world.accounts.find(id))?.failedLoginAttempts, 5);
    assert.equal(world.locks.length, 1);
  },
);

withEachStore(
  'attack: 200 guesses over four processes hardly exceed the threshold (R088, R090)',
  async (backend) => {
    const stores = [backend.store, backend.reopen(), backend.reopen(), backend.reopen()];
    const worlds = stores.map((store) => createWorld({ ...backend, store }, { maxWaiting: 1000 }));
    const [here] = worlds;
    assert.ok(here);
    const { id } = await here.accounts.create(alice);
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => worlds[n % 4]?.authenticate('alice', `guess ${n}`)),
    );
    const wrong = worlds.reduce((sum, { outcomes }) => sum + countOf(outcomes, 'wrong'), 0);
    assert.ok(wrong >= 5 && wrong < 5 + worlds.length, `${wrong} evaluated`);
    assert.equal(
      worlds.reduce((sum, { locks }) => sum + locks.length, 0),
      1,
    );
    const locked = await here.accounts.find(id);
    assert.equal(locked?.lockCount, 1);
    assert.ok((locked?.failedLoginAttempts ?? 0) >= 5);
  },
);

withEachStore(
  'attack: after the first failure the bound is exact over four processes (R090)',
  async (backend) => {
    const stores = [backend.store, backend.reopen(), backend.reopen(), backend.reopen()];
    const worlds = stores.map((store) => createWorld({ ...backend, store }, { maxWaiting: 1000 }));
    const [here] = worlds;
    assert.ok(here);
    await here.accounts.create(alice);
    await fail(here, 1);
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => worlds[n % 4]?.authenticate('alice', `guess ${n}`)),
    );
    assert.equal(
      worlds.reduce((sum, { outcomes }) => sum + countOf(outcomes, 'wrong'), 0),
      5,
    );
  },
);

withEachStore('lockout: the last attempt before the lock may still succeed', async (backend) => {
  const world = createWorld(backend);
  const { id } = await world.accounts.create(alice);
  await fail(world, 4);
  const account = await world.authenticate('alice', goodPassword);
  assert.deepEqual([account?.id, account?.failedLoginAttempts, account?.lockedUntil], [id, 4, undefined]);
  assert.deepEqual(world.locks, []);
});

withEachStore(
  'attack: a flood neither leaves guesses uncounted nor counts unevaluated attempts',
  async (backend) => {
    const passwords = createPasswords({ parameters: cheapParameters, maxInFlight: 1, maxQueued: 0 });
    const world = createWorld(backend, { passwords });
    const { id } = await world.accounts.create(alice);
    await fail(world, 4);
    const busy = passwords.hash('holds the only place');
    await assert.rejects(
      world.authenticate('alice', 'wrong'),
      (error) => error instanceof AppError && error.code === 'server.busy',
    );
    await busy;
    const after = await world.accounts.find(id);
    assert.deepEqual([after?.failedLoginAttempts, after?.lockedUntil], [4, undefined]);
    await fail(world, 1);
    assert.notEqual((await world.accounts.find(id))?.lockedUntil, undefined);
  },
);

withEachStore(
  'attack: returning an unevaluated attempt clears no count of another process',
  async (backend) => {
    const other = createWorld(backend);
    const { id } = await other.accounts.create(alice);
    await fail(other, 1);
    const passwords = createPasswords({ parameters: cheapParameters, maxInFlight: 1, maxQueued: 0 });
    const race = { isOn: true };
    const collection = observed(backend.store.collection(accountsDefinition), async (method) => {
      if (method !== 'replace' || !race.isOn) return;
      race.isOn = false;
      await fail(other, 1);
    });
    const world = createWorld(backend, { passwords, collection });
    const busy = passwords.hash('holds the only place');
    await assert.rejects(world.authenticate('alice', 'wrong'), (error) => error instanceof AppError);
    await busy;
    assert.equal((await world.accounts.find(id))?.failedLoginAttempts, 3);
  },
);

withEachStore('password queue: when full, known and unknown names are refused alike', async (backend) => {
  const world = createWorld(backend, { maxWaiting: 3 });
  await world.accounts.create(alice);
  const refusedOf = async (name: string): Promise<number> => {
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => world.authenticate(name, 'wrong')),
    );
    return results.filter(({ status }) => status === 'rejected').length;
  };
  assert.equal(await refusedOf('alice'), 6);
  assert.equal(await refusedOf('nobody'), 6);
  assert.equal(await world.authenticate('nobody', 'again'), undefined);
});

withEachStore('password queue: a flood on one name refuses no other name', async (backend) => {
  const world = createWorld(backend, { maxWaiting: 20 });
  await world.accounts.create(alice);
  const flood = Array.from({ length: 200 }, () => world.authenticate('mallory', 'wrong'));
  const flooded = Promise.allSettled(flood);
  const own = await Promise.all(Array.from({ length: 5 }, () => world.authenticate('alice', goodPassword)));
  assert.ok(own.every((account) => account !== undefined));
  const served = (await flooded).filter(({ status }) => status === 'fulfilled').length;
  assert.ok(served >= 16 && served <= 22, `${served} of the flood were served`);
});

withEachStore('password queue: 100 parallel sign-ins of one person all succeed', async (backend) => {
  const world = createWorld(backend);
  await world.accounts.create(alice);
  const own = await Promise.all(Array.from({ length: 100 }, () => world.authenticate('alice', goodPassword)));
  assert.ok(own.every((account) => account !== undefined));
});

for (const [what, meddle] of [
  [
    'password is changed',
    (world: World, id: string) => world.accounts.changeAccountAsAdmin(id, { password: 'nine low bridges' }),
  ],
  [
    'account is switched off',
    (world: World, id: string) => world.accounts.changeAccountAsAdmin(id, { is_active: false }),
  ],
  ['account is deleted', (world: World, id: string) => world.accounts.removeAccountAsAdmin(id)],
] as const) {
  for (const failures of [0, 1]) {
    withEachStore(
      `attack: the ${what} while the old password is checked, after ${failures}`,
      async (backend) => {
        const plain = createWorld(backend);
        const { id } = await plain.accounts.create(alice);
        await fail(plain, failures);
        const passwords = {
          ...plain.passwords,
          verify: async (hash: string | undefined, password: string) => {
            const check = await plain.passwords.verify(hash, password);
            await meddle(plain, id);
            return check;
          },
        };
        const racing = createWorld(backend, { passwords });
        const proven = await racing.authenticate('alice', goodPassword);
        // Without a write it is accepted, and nothing follows from it.
        const isWorth =
          proven &&
          ((await racing.signIns.isUnchanged(proven)) || (await racing.signIns.complete(proven, [])));
        assert.ok(!isWorth);
        assert.equal((await plain.accounts.find(id))?.knownBrowsers, undefined);
      },
    );
  }
}

withEachStore(
  'sign-in: a concurrent harmless account change is kept and the sign-in succeeds',
  async (backend) => {
    const plain = createWorld(backend);
    const { id } = await plain.accounts.create(alice);
    const passwords = {
      ...plain.passwords,
      verify: async (hash: string | undefined, password: string) => {
        await plain.accounts.changeAccountAsAdmin(id, { name: 'Alice' });
        return plain.passwords.verify(hash, password);
      },
    };
    const racing = createWorld(backend, { passwords });
    await racing.signIns.complete((await racing.authenticate('alice', goodPassword)) ?? assert.fail());
    const account = await plain.accounts.findByLogin('alice');
    assert.deepEqual([account?.profile.name, account?.lastLoginAt], ['Alice', backend.now()]);
  },
);

withEachStore('password hash: one with older parameters is replaced at sign-in (R083)', async (backend) => {
  const old = createPasswords({
    parameters: { ...cheapParameters, passes: 2 },
    maxInFlight: 1,
    maxQueued: 9,
  });
  const { id } = await createWorld(backend, { passwords: old }).accounts.create(alice);
  const world = createWorld(backend);
  await fail(world, 1);
  assert.match((await world.accounts.find(id))?.passwordHash ?? '', /t=2/);
  await world.authenticate('alice', goodPassword);
  const account = await world.accounts.find(id);
  assert.match(account?.passwordHash ?? '', /t=1/);
  assert.equal(account?.passwordChangedAt, backend.now());
  assert.equal((await world.authenticate('alice', goodPassword))?.id, id);
});

withEachStore(
  'store calls: one write per failure and per completed sign-in, none while locked',
  async (backend) => {
    const calls: string[] = [];
    const collection = observed(backend.store.collection(accountsDefinition), (method) => calls.push(method));
    const world = createWorld(backend, { collection });
    await world.accounts.create(alice);
    const callsOf = async (name: string, password: string): Promise<string[]> => {
      calls.length = 0;
      await world.authenticate(name, password);
      return [...calls];
    };
    assert.deepEqual(await callsOf('alice', goodPassword), ['findBy']);
    const account = (await world.authenticate('alice', goodPassword)) ?? assert.fail();
    calls.length = 0;
    await createCompleteSignIn({ collection, clock: backend.now }).complete(account, []);
    assert.deepEqual(calls, ['replace']);
    assert.deepEqual(await callsOf('alice', 'wrong'), ['findBy', 'replace']);
    assert.deepEqual(await callsOf('alice', 'wrong'), ['findBy', 'replace']);
    assert.deepEqual(await callsOf('alice', goodPassword), ['findBy', 'replace', 'replace']);
    assert.deepEqual(await callsOf('nobody', 'wrong'), ['findBy']);
    await fail(world, 5);
    assert.deepEqual(await callsOf('alice', 'wrong'), ['findBy']);
  },
);

withEachStore('sign-in: a failure that cannot be counted gets no answer', async (backend) => {
  const disk = { isFull: false };
  const collection = observed(backend.store.collection(accountsDefinition), (method) => {
    if (disk.isFull && method === 'replace') throw new Error('disk full');
  });
  const world = createWorld(backend, { collection });
  await world.accounts.create(alice);
  disk.isFull = true;
  await assert.rejects(world.authenticate('alice', 'wrong'), /disk full/);
  disk.isFull = false;
  await fail(world, 1);
  disk.isFull = true;
  await assert.rejects(world.authenticate('alice', goodPassword), /disk full/);
});

// As many as the medians need on a machine that has other things to do.
const TIMED_ROUNDS = 151;

test('attack: response time does not reveal which accounts exist (R085)', async () => {
  let now = 0;
  const store = createMemoryStore({ clock: () => now });
  const passwords = createPasswords({
    parameters: { memoryKib: 4096, passes: 1, lanes: 1 },
    maxInFlight: 1,
    maxQueued: 9,
  });
  const world = createWorld({ store, now: () => now }, { passwords });
  await world.accounts.create({ ...alice, username: 'known' });
  await world.accounts.create({ ...alice, username: 'locked', email: null, is_email_verified: false });
  await fail(world, 5, 'locked');
  const kinds = ['known', 'unknown', 'locked'] as const;
  const times: Record<(typeof kinds)[number], number[]> = { known: [], unknown: [], locked: [] };
  for (let round = 0; round < TIMED_ROUNDS; round += 1) {
    for (const kind of kinds) {
      const start = performance.now();
      await world.authenticate(kind, 'wrong');
      times[kind].push(performance.now() - start);
    }
    // Keeps `known` from being locked and `locked` from being free.
    await world.accounts.unlock((await world.accounts.findByLogin('known'))?.id ?? '');
    now += 1;
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[TIMED_ROUNDS >> 1] ?? 0;
  for (const kind of ['unknown', 'locked'] as const) {
    const ratio = median(times.known) / median(times[kind]);
    assert.ok(ratio > 0.25 && ratio < 4, `known/${kind}: ${ratio}`);
  }
});
