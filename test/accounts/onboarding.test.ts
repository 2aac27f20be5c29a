// The first administrator, and races for it.
import assert from 'node:assert/strict';
import { AppError } from '../../src/errors.ts';
import { accounts as accountsDefinition, facts } from '../../src/store/collections.ts';
import { type Backend, createWorld, goodPassword, observed, type World, withEachStore } from './support.ts';

const isClosed = (error: unknown): boolean => error instanceof AppError && error.code === 'onboarding.closed';
const first = { username: 'root', password: goodPassword, email: 'root@example.com' };

withEachStore('onboarding: the first administrator is created once and never again', async (backend) => {
  const world = createWorld(backend);
  assert.equal(await world.accounts.hasAdmin(), false);
  const account = await world.accounts.createFirstAdmin(first);
  assert.deepEqual([account.role, account.isActive], ['admin', true]);
  assert.equal(await world.accounts.hasAdmin(), true);
  await assert.rejects(world.accounts.createFirstAdmin({ ...first, username: 'other' }), isClosed);
  assert.equal((await world.authenticate('root', goodPassword))?.id, account.id);
  // For good: the candidate's expiry is gone.
  backend.advance(10 * 365 * 86_400_000);
  const restarted = createWorld({ ...backend, store: backend.reopen() });
  assert.equal(await restarted.accounts.hasAdmin(), true);
  await assert.rejects(restarted.accounts.createFirstAdmin({ ...first, username: 'other' }), isClosed);
  assert.equal((await restarted.accounts.find(account.id))?.username, 'root');
});

/** Exactly what is in the store when the process is killed right after step 1. */
async function crashedCandidate(world: World, backend: Backend): Promise<string> {
  const { id, version: _version, ...record } = await world.accounts.create({ ...first, role: 'admin' });
  await world.collection.remove(id);
  const options = { expiresAt: backend.now() + 60_000 };
  await world.collection.insert(`${id}-candidate`, { ...record, isActive: false }, options);
  return `${id}-candidate`;
}

for (const [kind, nameOf] of [
  ['different names', (n: number) => `root${n}`],
  ['one name', () => 'root'],
] as const) {
  withEachStore(
    `attack: 50 parallel calls in two processes with ${kind} create one administrator (R128)`,
    async (backend) => {
      const worlds = [createWorld(backend), createWorld({ ...backend, store: backend.reopen() })];
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, async (_, n) =>
          worlds[n % 2]?.accounts.createFirstAdmin({ username: nameOf(n), password: goodPassword }),
        ),
      );
      const won = results.filter((result) => result.status === 'fulfilled');
      assert.equal(won.length, 1);
      for (const result of results) {
        if (result.status === 'rejected') assert.ok(isClosed(result.reason), String(result.reason));
      }
      const restarted = createWorld({ ...backend, store: backend.reopen() });
      const { items, total } = await restarted.accounts.query({ sort: 'id', order: 'asc', limit: 100 });
      assert.equal(total, 1);
      assert.deepEqual([items[0]?.role, items[0]?.isActive], ['admin', true]);
      await assert.rejects(
        restarted.accounts.createFirstAdmin({ username: 'late', password: goodPassword }),
        isClosed,
      );
    },
  );
}

withEachStore('onboarding: closed by an administrator created in another way', async (backend) => {
  const { accounts } = createWorld(backend);
  await accounts.create({ username: 'made', password: goodPassword });
  assert.equal(await accounts.hasAdmin(), false);
  await accounts.create({ username: 'boss', password: goodPassword, role: 'admin' });
  assert.equal(await accounts.hasAdmin(), true);
  await assert.rejects(accounts.createFirstAdmin(first), isClosed);
});

withEachStore(
  'onboarding: invalid input or an existing username is refused and it stays open',
  async (backend) => {
    const { accounts } = createWorld(backend);
    await accounts.create({ username: 'taken', password: goodPassword, email: 'taken@example.com' });
    const codeOf = async (input: typeof first) =>
      accounts.createFirstAdmin(input).then(
        () => 'made',
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      );
    assert.equal(await codeOf({ ...first, password: 'x' }), 'request.invalid');
    assert.equal(await codeOf({ ...first, username: 'TAKEN' }), 'account.username_taken');
    assert.equal(await codeOf({ ...first, email: 'taken@example.com' }), 'account.email_taken');
    assert.equal(await accounts.hasAdmin(), false);
    assert.equal(await codeOf(first), 'made');
  },
);

withEachStore(
  'onboarding: a crash before the decision leaves an unusable account that expires',
  async (backend) => {
    const world = createWorld(backend);
    const made = await crashedCandidate(world, backend);
    assert.equal(await world.authenticate('root', goodPassword), undefined);
    assert.equal(await world.accounts.hasAdmin(), false);
    backend.advance(61_000);
    const account = await world.accounts.createFirstAdmin(first);
    assert.notEqual(account.id, made);
  },
);

withEachStore(
  'onboarding: after a crash past the decision the next process completes it',
  async (backend) => {
    const world = createWorld(backend);
    const id = await crashedCandidate(world, backend);
    await backend.store.collection(facts).insert('onboarded', { at: backend.now(), value: id });
    const restarted = createWorld(backend);
    await assert.rejects(restarted.accounts.createFirstAdmin({ ...first, username: 'thief' }), isClosed);
    backend.advance(3_600_000);
    assert.equal((await restarted.accounts.find(id))?.isActive, true);
    assert.equal((await restarted.authenticate('root', goodPassword))?.id, id);
  },
);

withEachStore(
  'onboarding: a crash past the decision, unnoticed for an hour, reopens it once',
  async (backend) => {
    const id = await crashedCandidate(createWorld(backend), backend);
    await backend.store.collection(facts).insert('onboarded', { at: backend.now(), value: id });
    backend.advance(3_600_000);
    const worlds = [createWorld(backend), createWorld({ ...backend, store: backend.reopen() })];
    assert.equal(await worlds[0]?.accounts.hasAdmin(), false);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, async (_, n) =>
        worlds[n % 2]?.accounts.createFirstAdmin({ username: `root${n}`, password: goodPassword }),
      ),
    );
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    const { items } = (await worlds[1]?.accounts.query({ sort: 'id', order: 'asc', limit: 100 })) ?? {
      items: [],
    };
    assert.deepEqual(
      items.map(({ role, isActive }) => [role, isActive]),
      [['admin', true]],
    );
  },
);

withEachStore(
  'onboarding: a winner paused longer than its candidate lives is not reinstated',
  async (backend) => {
    const collection = observed(backend.store.collection(accountsDefinition), (method) => {
      // Asleep just before step 3, the only replace there is.
      if (method === 'replace') backend.advance(61_000);
    });
    const sleepy = createWorld(backend, { collection });
    await assert.rejects(
      sleepy.accounts.createFirstAdmin(first),
      (error) => error instanceof AppError && error.code === 'server.unavailable',
    );
    const world = createWorld(backend);
    assert.equal(await world.accounts.hasAdmin(), false);
    await world.accounts.createFirstAdmin({ ...first, username: 'second' });
    const { items } = await world.accounts.query({ sort: 'id', order: 'asc', limit: 100 });
    assert.deepEqual(
      items.map(({ username }) => username),
      ['second'],
    );
  },
);

withEachStore('onboarding: once closed, checking costs no store call', async (backend) => {
  let calls = 0;
  const collection = observed(backend.store.collection(accountsDefinition), () => {
    calls += 1;
  });
  const { accounts } = createWorld(backend, { collection });
  await accounts.createFirstAdmin(first);
  calls = 0;
  for (let n = 0; n < 5; n += 1) assert.equal(await accounts.hasAdmin(), true);
  assert.equal(calls, 0);
});
