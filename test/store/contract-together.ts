// C16: writes that are requested together happen all or not at all, also in races.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AlreadyExists,
  type CollectionDefinition,
  type EphemeralCollection,
  type Store,
  VersionConflict,
} from '../../src/store/port.ts';
import type { Fixture, Person } from './contract-fixture.ts';

const N = 40;

interface Together {
  readonly fixture: Fixture;
  readonly people: CollectionDefinition<Person>;
  /** Another collection, beside that of the fixture. */
  readonly pets: CollectionDefinition<Person>;
  readonly open: <T>(store: Store, definition: CollectionDefinition<T>) => EphemeralCollection<T>;
}

/** Each writer's outcome; whoever lost must have been told so. */
async function winnersOf(race: readonly Promise<void>[]): Promise<number[]> {
  const outcomes = await Promise.allSettled(race);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected')
      assert.ok(outcome.reason instanceof VersionConflict || outcome.reason instanceof AlreadyExists);
  return outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []));
}

export function togetherRules({ fixture, people, pets, open }: Together): void {
  const all = () => ({
    store: fixture.backend.store,
    people: fixture.people,
    pets: open(fixture.backend.store, pets),
  });

  test('C16 writes to several collections happen together', async () => {
    const { store, ...found } = all();
    const expiresAt = fixture.backend.now() + 1000;
    await found.people.insert('old', { name: 'old' }, { expiresAt });
    await found.people.insert('gone', { name: 'gone' });
    await store.writeTogether((writes) => {
      writes.to(people).replace('old', 1, { name: 'old', isActive: false });
      writes.to(people).insert('new', { name: 'new', team: 'x' });
      writes.to(pets).insert('pet', { name: 'pet' }, { expiresAt });
      writes.to(people).remove('gone');
      writes.to(pets).remove('never there');
    });
    assert.deepEqual(await found.people.find('old'), {
      id: 'old',
      version: 2,
      expiresAt,
      value: { name: 'old', isActive: false },
    });
    assert.deepEqual(await found.people.findBy('team', 'x'), [
      { id: 'new', version: 1, value: { name: 'new', team: 'x' } },
    ]);
    assert.deepEqual(await found.pets.find('pet'), {
      id: 'pet',
      version: 1,
      expiresAt,
      value: { name: 'pet' },
    });
    assert.equal(await found.people.find('gone'), undefined);
    fixture.backend.advance(1000);
    assert.equal(await found.pets.find('pet'), undefined);
  });

  const refusals: Readonly<
    Record<string, (writes: Parameters<Parameters<Store['writeTogether']>[0]>[0]) => void>
  > = {
    'loses its compare-and-set': (writes) => writes.to(people).replace('other', 7, { name: 'other' }),
    'replaces what is not there': (writes) => writes.to(pets).replace('nobody', 1, { name: 'nobody' }),
    'finds its id taken': (writes) => writes.to(people).insert('other', { name: 'another' }),
    'finds its unique key taken': (writes) => writes.to(people).insert('fresh', { name: 'other' }),
  };
  for (const [what, refused] of Object.entries(refusals)) {
    for (const place of ['first', 'last'] as const) {
      test(`C16 none of the writes happens when one ${what}, the ${place}`, async () => {
        const { store, ...found } = all();
        const before = [
          await found.people.insert('old', { name: 'old' }, { expiresAt: fixture.backend.now() + 1000 }),
          await found.people.insert('other', { name: 'other' }),
          await found.people.insert('kept', { name: 'kept' }),
        ];
        const writing = store.writeTogether((writes) => {
          if (place === 'first') refused(writes);
          writes.to(people).replace('old', 1, { name: 'changed' }, { expiresAt: null });
          writes.to(people).insert('new', { name: 'new', team: 'x' });
          writes.to(people).remove('kept');
          writes.to(pets).insert('pet', { name: 'pet' });
          if (place === 'last') refused(writes);
        });
        await assert.rejects(writing, (error) =>
          /loses|not there/.test(what) ? error instanceof VersionConflict : error instanceof AlreadyExists,
        );
        // Without a version: a backend that takes a write back may count it.
        for (const { id, value, expiresAt } of before) {
          const now = await found.people.find(id);
          assert.deepEqual([now?.value, now?.expiresAt], [value, expiresAt]);
        }
        assert.equal(await found.people.find('new'), undefined);
        assert.deepEqual(await found.people.findBy('team', 'x'), []);
        assert.equal(await found.pets.find('pet'), undefined);
        // Its key is free.
        await found.people.insert('later', { name: 'new' });
      });
    }
  }

  test('C16 an expired holder of an id or a unique key is replaced', async () => {
    const { store, ...found } = all();
    const soon = { expiresAt: fixture.backend.now() + 10 };
    await found.people.insert('a', { name: 'ada' }, soon);
    await found.people.insert('b', { name: 'bob' }, soon);
    fixture.backend.advance(10);
    await store.writeTogether((writes) => {
      writes.to(people).insert('a', { name: 'new' });
      writes.to(people).insert('c', { name: 'bob' });
    });
    assert.deepEqual((await found.people.find('a'))?.value, { name: 'new' });
    assert.deepEqual(
      (await found.people.findBy('name', 'bob')).map(({ id }) => id),
      ['c'],
    );
    assert.equal(await found.people.find('b'), undefined);
  });

  test('C16 the written values are copies, and a document may be written once only', async () => {
    const { store, ...found } = all();
    const value = { name: 'ada' };
    const writing = store.writeTogether((writes) => writes.to(people).insert('a', value));
    value.name = 'changed';
    await writing;
    assert.deepEqual((await found.people.find('a'))?.value, { name: 'ada' });
    const twice = store.writeTogether((writes) => {
      writes.to(people).insert('b', value);
      writes.to(people).remove('b');
    });
    await assert.rejects(twice, TypeError);
    assert.equal(await found.people.find('b'), undefined);
  });

  test('C16 writes by themselves that are requested at the same time are not affected', async () => {
    const { store, ...found } = all();
    await found.people.insert('taken', { name: 'taken' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: N }, async (_, n) => {
        if (n % 3 === 0) return found.people.insert(`single${n}`, { name: `single${n}`, team: 'single' });
        return store.writeTogether((writes) => {
          writes.to(people).insert(`both${n}`, { name: `both${n}`, team: 'both' });
          writes.to(pets).insert(`pet${n}`, { name: `pet${n}`, team: 'both' });
          if (n % 3 === 1) writes.to(people).replace('taken', 9, { name: 'taken' });
        });
      }),
    );
    for (const [n, { status }] of outcomes.entries())
      assert.equal(status, n % 3 === 1 ? 'rejected' : 'fulfilled');
    const both = Array.from({ length: N }, (_, n) => n).filter((n) => n % 3 === 2).length;
    assert.equal((await found.people.findBy('team', 'single')).length, Math.ceil(N / 3));
    assert.equal((await found.people.findBy('team', 'both')).length, both);
    assert.equal((await found.pets.findBy('team', 'both')).length, both);
  });

  test('C16 writes become visible together, or at least the first of them first', async () => {
    const { store, ...found } = all();
    let isWriting = true;
    const write = async (): Promise<void> => {
      for (let n = 0; n < N; n += 1) {
        await store.writeTogether((writes) => {
          writes.to(people).insert(`${n}`, { name: `${n}` });
          writes.to(pets).insert(`${n}`, { name: `${n}` });
        });
      }
      isWriting = false;
    };
    const isThere = async (collection: EphemeralCollection<Person>, n: number): Promise<boolean> =>
      (await collection.find(`${n}`)) !== undefined;
    const read = async (): Promise<void> => {
      for (let n = 0; isWriting; n = (n + 1) % N) {
        if (await isThere(found.pets, n)) assert.ok(await isThere(found.people, n), `${n} came second first`);
        if (fixture.backend.isInSteps !== true && (await isThere(found.people, n)))
          assert.ok(await isThere(found.pets, n), `${n} came in parts`);
        await new Promise(setImmediate);
      }
    };
    await Promise.all([write(), read(), read()]);
  });

  const settings: Readonly<Record<string, () => Promise<Store[]>>> = {
    'in one store': async () => [fixture.backend.store],
    'over two stores': async () => {
      const second = await fixture.backend.reopen?.();
      return second ? [fixture.backend.store, second] : [fixture.backend.store];
    },
  };
  for (const [where, openAll] of Object.entries(settings)) {
    test(`C16 of ${N} consumers exactly one wins, the others leave no row ${where}`, async () => {
      const stores = await openAll();
      const found = all();
      let hasLost = 0;
      for (let round = 0; round < 3; ) {
        const code = `code${round}-${hasLost}`;
        await found.people.insert(code, { name: code, isActive: true });
        const race = Array.from({ length: N }, async (_, n) => {
          await stores[n % stores.length]?.writeTogether((writes) => {
            writes.to(people).replace(code, 1, { name: code, isActive: false });
            writes.to(people).insert(`${code} ${n}`, { name: `${code} ${n}`, team: code });
            writes.to(pets).insert(`${code} ${n}`, { name: `${code} ${n}`, team: code });
          });
        });
        const winners = await winnersOf(race);
        if (winners.length !== 1 && ++hasLost < (fixture.backend.tries ?? 1)) continue;
        const ids = winners.map((n) => `${code} ${n}`);
        assert.equal(winners.length, 1);
        assert.deepEqual(
          (await found.people.findBy('team', code)).map(({ id }) => id),
          ids,
        );
        assert.deepEqual(
          (await found.pets.findBy('team', code)).map(({ id }) => id),
          ids,
        );
        assert.equal((await found.people.find(code))?.version, 2);
        round += 1;
      }
    });
  }
}
