// Account deletion, with crashes at each step.
import assert from 'node:assert/strict';
import { AppError } from '../../src/errors.ts';
import { countOf, createWorld, goodPassword, withEachStore } from './support.ts';

const alice = { username: 'alice', password: goodPassword };

withEachStore('account deletion: ends sessions, removes owned data, then the account', async (backend) => {
  const order: string[] = [];
  const world = createWorld(backend, {
    endSessions: async () => {
      order.push('sessions');
      // From the first step on no one can sign in (R062).
      assert.equal(await world.authenticate('alice', goodPassword), undefined);
      assert.equal(await world.accounts.findByLogin('alice'), undefined);
    },
    removeOwned: async () => void order.push('owned'),
  });
  const { id } = await world.accounts.create(alice);
  await world.accounts.removeAccountAsAdmin(id);
  assert.deepEqual(order, ['sessions', 'owned']);
  assert.equal(await world.collection.find(id), undefined);
  await assert.rejects(
    world.accounts.removeAccountAsAdmin(id),
    (error) => error instanceof AppError && error.status === 404,
  );
});

for (const broken of ['endSessions', 'removeOwned'] as const) {
  withEachStore(
    `account deletion: interrupted in ${broken}, it is completed by the job or a retry`,
    async (backend) => {
      const crash = { isOn: true };
      const world = createWorld(backend, {
        [broken]: async () => {
          if (crash.isOn) throw new Error('the power is gone');
        },
      });
      const first = await world.accounts.create(alice);
      const second = await world.accounts.create({ ...alice, username: 'bob' });
      await assert.rejects(world.accounts.removeAccountAsAdmin(first.id), /power/);
      await assert.rejects(world.accounts.removeAccountAsAdmin(second.id), /power/);
      assert.equal(await world.accounts.find(first.id), undefined);
      assert.equal(await world.authenticate('alice', goodPassword), undefined);
      assert.equal(countOf(world.outcomes, 'success'), 0);
      // The name is free only when nothing of its last owner is left.
      await assert.rejects(
        world.accounts.create(alice),
        (error) => error instanceof AppError && error.code === 'account.username_taken',
      );
      crash.isOn = false;
      await world.accounts.removeAccountAsAdmin(second.id);
      assert.equal(await world.accounts.finishDeletions(), 1);
      assert.equal(await world.accounts.finishDeletions(), 0);
      assert.ok(world.removedOwnedOf.includes(first.id) && world.removedOwnedOf.includes(second.id));
      const again = await world.accounts.create(alice);
      assert.notEqual(again.id, first.id);
    },
  );
}

withEachStore('account deletion: an update cannot undo one that has begun', async (backend) => {
  const world = createWorld(backend, {
    endSessions: async (id) => {
      await assert.rejects(
        world.accounts.changeAccountAsAdmin(id, { is_active: true }),
        (error) => error instanceof AppError,
      );
      await assert.rejects(
        world.accounts.changeAccountAsAdmin(id, { password: 'nine low bridges' }),
        (error) => error instanceof AppError,
      );
    },
  });
  const { id } = await world.accounts.create(alice);
  await world.accounts.removeAccountAsAdmin(id);
  assert.equal(await world.accounts.find(id), undefined);
});

withEachStore(
  'account deletion: an update that began earlier does not restore the account',
  async (backend) => {
    const plain = createWorld(backend, {
      endSessions: async () => {
        throw new Error('the power is gone');
      },
    });
    const { id } = await plain.accounts.create(alice);
    const passwords = {
      ...plain.passwords,
      hash: async (password: string) => {
        await assert.rejects(plain.accounts.removeAccountAsAdmin(id), /power/);
        return plain.passwords.hash(password);
      },
    };
    const racing = createWorld(backend, { passwords });
    await assert.rejects(
      racing.accounts.changeAccountAsAdmin(id, { password: 'nine low bridges', is_active: true }),
      (error) => error instanceof AppError && error.code === 'account.not_found',
    );
    assert.equal((await plain.collection.find(id))?.value.isActive, false);
  },
);

withEachStore('deletions that are due: one that fails keeps no other from going', async (backend) => {
  const failing = { id: '' };
  const world = createWorld(backend, {
    endSessions: async (id) => {
      if (id === failing.id) throw new Error('the power is gone');
    },
  });
  const ids: string[] = [];
  for (const username of ['ada', 'bob', 'carol']) {
    const { id } = await world.accounts.create({ ...alice, username });
    await world.accounts.requestDeletion(id, backend.now());
    ids.push(id);
  }
  // The first of them in the order of the look-up.
  [failing.id = ''] = ids.toSorted();
  await assert.rejects(world.accounts.ownDeletions.run(), AggregateError);
  const left = await Promise.all(ids.map((id) => world.collection.find(id)));
  assert.deepEqual(
    left.flatMap((account) => account?.id ?? []),
    [failing.id],
  );
});
