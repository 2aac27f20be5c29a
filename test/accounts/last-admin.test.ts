// The last active administrator cannot be removed, also in races and after crashes.
import assert from 'node:assert/strict';
import type { Accounts } from '../../src/accounts/contract.ts';
import { AppError } from '../../src/errors.ts';
import { accounts as accountsDefinition } from '../../src/store/collections.ts';
import { type Backend, createWorld, goodPassword, observed, withEachStore } from './support.ts';

const isLastAdmin = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'account.last_admin';

const admin = (username: string) => ({ username, password: goodPassword, role: 'admin' as const });

const activeAdmins = async (accounts: Accounts): Promise<number> => {
  const { items } = await accounts.query({ sort: 'id', order: 'asc', limit: 100 });
  return items.filter(({ role, isActive }) => role === 'admin' && isActive).length;
};

const ways: readonly (readonly [string, (accounts: Accounts, id: string) => Promise<unknown>])[] = [
  ['demoted', (accounts, id) => accounts.changeAccountAsAdmin(id, { role: 'user' })],
  ['deactivated', (accounts, id) => accounts.changeAccountAsAdmin(id, { is_active: false })],
  ['deleted', (accounts, id) => accounts.removeAccountAsAdmin(id)],
];

for (const [way, make] of ways) {
  withEachStore(`last administrator: cannot be ${way}; with a second one it can (R131)`, async (backend) => {
    const { accounts } = createWorld(backend);
    const one = await accounts.create(admin('one'));
    await accounts.create({ username: 'user', password: goodPassword });
    const asleep = await accounts.create(admin('asleep'));
    await accounts.changeAccountAsAdmin(asleep.id, { is_active: false });
    await assert.rejects(make(accounts, one.id), isLastAdmin);
    assert.equal((await accounts.find(one.id))?.isActive, true);
    const two = await accounts.create(admin('two'));
    await make(accounts, one.id);
    await assert.rejects(make(accounts, two.id), isLastAdmin);
    assert.equal(await activeAdmins(accounts), 1);
  });

  withEachStore(`attack: two administrators are ${way} at once, in two processes (R131)`, async (backend) => {
    const here = createWorld(backend).accounts;
    const there = createWorld({ ...backend, store: backend.reopen() }).accounts;
    for (let round = 0; round < 15; round += 1) {
      const [one, two] = [await here.create(admin(`one${round}`)), await here.create(admin(`two${round}`))];
      await removeOthers(here, [one.id, two.id]);
      const results = await Promise.allSettled([make(here, one.id), make(there, two.id)]);
      for (const result of results) {
        if (result.status === 'rejected') assert.ok(isLastAdmin(result.reason), String(result.reason));
      }
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.equal(await activeAdmins(here), 1);
    }
  });
}

async function removeOthers(accounts: Accounts, keep: readonly string[]): Promise<void> {
  const { items } = await accounts.query({ sort: 'id', order: 'asc', limit: 100 });
  for (const { id } of items) if (!keep.includes(id)) await accounts.removeAccountAsAdmin(id);
}

withEachStore(
  'attack: ten administrators demoted, deactivated and deleted all at once (R131)',
  async (backend) => {
    const worlds = [
      createWorld(backend).accounts,
      createWorld({ ...backend, store: backend.reopen() }).accounts,
    ];
    const [here] = worlds;
    assert.ok(here);
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) ids.push((await here.create(admin(`admin${n}`))).id);
    const results = await Promise.allSettled(
      ids.map((id, n) => {
        const [, make] = ways[n % ways.length] ?? [];
        const accounts = worlds[n % 2];
        return accounts && make?.(accounts, id);
      }),
    );
    for (const result of results) {
      if (result.status === 'rejected') assert.ok(isLastAdmin(result.reason), String(result.reason));
    }
    assert.ok((await activeAdmins(here)) >= 1);
  },
);

/** An accounts of its own whose every account write first does what the test says. */
const withWrites = (backend: Backend, before: () => Promise<void>): Accounts => {
  const collection = observed(backend.store.collection(accountsDefinition), (method) =>
    method === 'replace' ? before() : undefined,
  );
  return createWorld(backend, { collection }).accounts;
};

withEachStore('last administrator: a demotion that died before its write blocks no one', async (backend) => {
  const { accounts } = createWorld(backend);
  const one = await accounts.create(admin('one'));
  const two = await accounts.create(admin('two'));
  // The slow process: it has declared to demote one, and then hangs before the write.
  const woken = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const slow = withWrites(backend, () => {
    arrived.resolve();
    return woken.promise;
  });
  const late = slow.changeAccountAsAdmin(one.id, { role: 'user' });
  await arrived.promise;
  // While it may still be alive, the other one has to stay.
  await assert.rejects(accounts.changeAccountAsAdmin(two.id, { role: 'user' }), isLastAdmin);
  // Later it is taken for dead: its write is fenced off, and two may go.
  backend.advance(11_000);
  await accounts.changeAccountAsAdmin(two.id, { role: 'user' });
  // Now it wakes up after all: its write meets another version, and the rule holds.
  woken.resolve();
  await assert.rejects(late, isLastAdmin);
  assert.equal(await activeAdmins(accounts), 1);
  assert.equal((await accounts.find(one.id))?.role, 'admin');
});

withEachStore('last administrator: a demotion whose write fails leaves nothing behind', async (backend) => {
  const { accounts } = createWorld(backend);
  const one = await accounts.create(admin('one'));
  const two = await accounts.create(admin('two'));
  const broken = withWrites(backend, async () => {
    throw new Error('disk full');
  });
  await assert.rejects(broken.changeAccountAsAdmin(one.id, { role: 'user' }), /disk full/);
  await accounts.changeAccountAsAdmin(two.id, { role: 'user' });
  await assert.rejects(accounts.changeAccountAsAdmin(one.id, { role: 'user' }), isLastAdmin);
});

withEachStore(
  'last administrator: two concurrent changes of one administrator do not cancel out',
  async (backend) => {
    const { accounts } = createWorld(backend);
    const one = await accounts.create(admin('one'));
    const two = await accounts.create(admin('two'));
    await Promise.allSettled([
      accounts.changeAccountAsAdmin(one.id, { role: 'user' }),
      accounts.changeAccountAsAdmin(one.id, { is_active: false }),
      accounts.removeAccountAsAdmin(one.id),
      accounts.changeAccountAsAdmin(two.id, { role: 'user' }),
      accounts.changeAccountAsAdmin(two.id, { is_active: false }),
    ]);
    assert.ok((await activeAdmins(accounts)) >= 1);
  },
);

withEachStore(
  'last administrator: a failed change does not release another change in progress',
  async (backend) => {
    const { accounts } = createWorld(backend);
    const one = await accounts.create(admin('one'));
    const two = await accounts.create(admin('two'));
    const woken = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const slow = withWrites(backend, () => {
      arrived.resolve();
      return woken.promise;
    });
    const broken = withWrites(backend, async () => {
      throw new Error('disk full');
    });
    const late = slow.changeAccountAsAdmin(one.id, { is_active: false });
    await arrived.promise;
    await assert.rejects(broken.changeAccountAsAdmin(one.id, { role: 'user' }), /disk full/);
    await assert.rejects(accounts.changeAccountAsAdmin(two.id, { role: 'user' }), isLastAdmin);
    woken.resolve();
    await late;
    assert.equal(await activeAdmins(accounts), 1);
  },
);
