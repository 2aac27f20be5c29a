// C14 (and as far as the store ensures them): races have one winner and lose no update, within one store and
// between two over the same data.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlreadyExists, type EphemeralCollection, VersionConflict } from '../../src/store/port.ts';
import { update } from '../../src/store/update.ts';
import type { Fixture, Person } from './contract-fixture.ts';

const N = 100;
type People = EphemeralCollection<Person>;

/** Starts N acts at once, in turn on each of the collections. @returns the winners; all others must fail as `isLost` */
async function race<R>(
  collections: readonly People[],
  act: (people: People, n: number) => Promise<R>,
  isLost: (error: unknown) => boolean,
): Promise<R[]> {
  const acts = Array.from({ length: N }, async (_, n) => {
    const people = collections[n % collections.length];
    assert.ok(people);
    return act(people, n);
  });
  const outcomes = await Promise.allSettled(acts);
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  for (const failure of failures) assert.ok(isLost(failure), String(failure));
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

const isExisting = (error: unknown): boolean => error instanceof AlreadyExists;
const isConflict = (error: unknown): boolean => error instanceof VersionConflict;

class Consumed extends Error {}
const isConsumedOrConflict = (error: unknown): boolean => error instanceof Consumed || isConflict(error);

async function consume(people: People, id: string): Promise<void> {
  const stored = await people.find(id);
  if (stored?.value.isActive !== true) throw new Consumed();
  await people.replace(id, stored.version, { ...stored.value, isActive: false });
}

export function concurrencyRules(fixture: Fixture): void {
  const settings: Readonly<Record<string, () => Promise<People[]>>> = {
    'in one store': async () => [fixture.people],
    'over two stores': async () => {
      const second = await fixture.backend.reopen?.();
      return second ? [fixture.people, fixture.peopleOf(second)] : [fixture.people];
    },
  };

  for (const [where, open] of Object.entries(settings)) {
    test(`C14 ${N} parallel read-change-replace loops lose no update ${where}`, async () => {
      const all = await open();
      for (let left = fixture.backend.tries ?? 1; ; left -= 1) {
        const id = `counter ${left}`;
        await fixture.people.insert(id, { name: id, count: 0 });
        const increment = (people: People): Promise<unknown> =>
          update(people, id, (value) => ({ value: { ...value, count: (value.count ?? 0) + 1 } }));
        await race(all, increment, () => false);
        const found = await fixture.people.find(id);
        if (left > 1 && found?.value.count !== N) continue;
        assert.deepEqual(found, { id, version: N + 1, value: { name: id, count: N } });
        return;
      }
    });

    test(`C14 of ${N} parallel consumers of one code exactly one succeeds ${where}`, async () => {
      const all = await open();
      for (let round = 0; round < 5; round += 1) {
        const id = `code${round}`;
        await fixture.people.insert(id, { name: id, isActive: true });
        const winners = await race(all, (people) => consume(people, id), isConsumedOrConflict);
        assert.equal(winners.length, 1);
        assert.equal((await fixture.people.find(id))?.version, 2);
      }
    });

    test(`C14 of ${N} parallel inserts of one id exactly one succeeds ${where}`, async () => {
      const all = await open();
      const winners = await race(all, (people, n) => people.insert('jti', { name: `n${n}` }), isExisting);
      assert.equal(winners.length, 1);
      assert.deepEqual(await fixture.people.find('jti'), winners[0]);
    });

    test(`C14 of ${N} parallel sign-ups with one name exactly one succeeds ${where}`, async () => {
      const all = await open();
      const winners = await race(all, (people, n) => people.insert(`id${n}`, { name: 'ada' }), isExisting);
      assert.equal(winners.length, 1);
      assert.deepEqual(await fixture.people.findBy('name', 'ada'), winners);
    });

    test(`C14 of ${N} parallel renames to one name exactly one succeeds ${where}`, async () => {
      const all = await open();
      await Promise.all(
        Array.from({ length: N }, (_, n) => fixture.people.insert(`id${n}`, { name: `n${n}` })),
      );
      const winners = await race(
        all,
        (people, n) => people.replace(`id${n}`, 1, { name: 'ada' }),
        isExisting,
      );
      assert.equal(winners.length, 1);
      assert.deepEqual(await fixture.people.findBy('name', 'ada'), winners);
    });

    test(`C14 of ${N} parallel removals exactly one removes ${where}`, async () => {
      const all = await open();
      await fixture.people.insert('a', { name: 'ada' });
      const answers = await race(
        all,
        (people) => people.remove('a'),
        () => false,
      );
      assert.equal(answers.filter((wasLive) => wasLive).length, 1);
    });
  }

  test('C14 writes of one caller are applied in order, even when not awaited', async () => {
    const { people } = fixture;
    const versions = await Promise.all(
      Array.from({ length: N }, (_, count) => people.put('a', { name: 'ada', count })),
    );
    assert.deepEqual(
      versions.map(({ version }) => version),
      Array.from({ length: N }, (_, n) => n + 1),
    );
    assert.equal((await people.find('a'))?.value.count, N - 1);
  });

  test('C14 a refused write affects none of those requested at the same time', async () => {
    const { people } = fixture;
    await people.insert('taken', { name: 'taken' });
    const attempts = Array.from({ length: N }, (_, n) => {
      if (n % 3 === 0) return people.insert(`refused${n}`, { name: 'taken' });
      if (n % 3 === 1) return people.replace('taken', 99, { name: 'refused' });
      return people.insert(`ok${n}`, { name: `ok${n}`, team: 'ok' });
    });
    const outcomes = await Promise.allSettled(attempts);
    const isExpected = ({ status }: PromiseSettledResult<unknown>, n: number): boolean =>
      status === (n % 3 === 2 ? 'fulfilled' : 'rejected');
    assert.ok(outcomes.every(isExpected));
    assert.equal((await people.findBy('team', 'ok')).length, Math.floor(N / 3));
    assert.deepEqual(await people.find('taken'), { id: 'taken', version: 1, value: { name: 'taken' } });
  });
}
