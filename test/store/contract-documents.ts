// Rules about one document: C1 expiry on read, C3–C5 the three ways to write, C11 and C12 expiry on write.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlreadyExists, VersionConflict } from '../../src/store/port.ts';
import type { Fixture } from './contract-fixture.ts';

const ada = { name: 'ada', team: 'red' };
const bob = { name: 'bob', team: 'blue' };

export const isTaken =
  (index: string) =>
  (error: unknown): boolean =>
    error instanceof AlreadyExists && error.index === index && error.collection === 'contract_people';

export function documentRules(fixture: Fixture): void {
  test('C1 a missing id is undefined', async () => {
    assert.equal(await fixture.people.find('nobody'), undefined);
    assert.equal(await fixture.people.remove('nobody'), false);
  });

  test('C1 a document exists until its expiry and is gone from that millisecond on', async () => {
    const { people, backend } = fixture;
    await people.insert('a', ada, { expiresAt: backend.now() + 1000 });
    backend.advance(999);
    assert.deepEqual(await people.find('a'), {
      id: 'a',
      version: 1,
      expiresAt: backend.now() + 1,
      value: ada,
    });
    backend.advance(1);
    assert.equal(await people.find('a'), undefined);
  });

  test('C1 an expired document is gone for every operation, with no sweeper running', async () => {
    const { people, backend } = fixture;
    await people.insert('a', ada, { expiresAt: backend.now() + 1000 });
    backend.advance(1000);
    assert.deepEqual(await people.findBy('team', 'red'), []);
    assert.deepEqual(await people.findBy('name', 'ada'), []);
    assert.equal(await people.remove('a'), false);
    assert.equal(await people.removeBy('team', 'red'), 0);
    await assert.rejects(people.replace('a', 1, ada), VersionConflict);
  });

  test('C1 sweep removes expired documents up to the given number, and no live ones', async () => {
    const { people, backend } = fixture;
    for (let n = 0; n < 5; n += 1)
      await people.insert(`old${n}`, { name: `old${n}` }, { expiresAt: backend.now() + 10 });
    const things = fixture.anything();
    for (const id of ['x', 'y', 'z']) await things.insert(id, 'elsewhere', { expiresAt: backend.now() + 10 });
    await people.insert('young', { name: 'young' }, { expiresAt: backend.now() + 11 });
    await people.insert('eternal', { name: 'eternal' });
    assert.equal(await backend.store.sweep(100), 0);
    backend.advance(10);
    assert.equal(await backend.store.sweep(3), 3);
    assert.equal(await backend.store.sweep(3), 3);
    assert.equal(await backend.store.sweep(3), 2);
    assert.equal(await backend.store.sweep(3), 0);
    assert.equal((await people.find('young'))?.version, 1);
    assert.equal((await people.find('eternal'))?.version, 1);
  });

  test('C3 insert creates at version 1', async () => {
    const { people } = fixture;
    assert.deepEqual(await people.insert('a', ada), { id: 'a', version: 1, value: ada });
    assert.deepEqual(await people.find('a'), { id: 'a', version: 1, value: ada });
  });

  test('C3 insert of a taken id throws AlreadyExists and changes nothing', async () => {
    const { people } = fixture;
    await people.insert('a', ada);
    await assert.rejects(people.insert('a', bob), isTaken('id'));
    assert.deepEqual(await people.find('a'), { id: 'a', version: 1, value: ada });
    assert.deepEqual(await people.findBy('name', 'bob'), []);
  });

  test('C3 an expired holder of the id does not count: a new document starts at version 1', async () => {
    const { people, backend } = fixture;
    await people.insert('a', ada, { expiresAt: backend.now() + 10 });
    await people.put('a', ada, { expiresAt: backend.now() + 10 });
    backend.advance(10);
    assert.deepEqual(await people.insert('a', bob), { id: 'a', version: 1, value: bob });
    assert.deepEqual(await people.findBy('team', 'red'), []);
  });

  test('C4 put always writes: version 1, then previous + 1', async () => {
    const { people } = fixture;
    assert.equal((await people.put('a', ada)).version, 1);
    assert.deepEqual(await people.put('a', bob), { id: 'a', version: 2, value: bob });
    assert.deepEqual(await people.find('a'), { id: 'a', version: 2, value: bob });
  });

  test('C4 put over an expired document starts at 1', async () => {
    const { people, backend } = fixture;
    await people.put('a', ada);
    await people.put('a', ada, { expiresAt: backend.now() + 10 });
    backend.advance(10);
    assert.equal((await people.put('a', bob)).version, 1);
  });

  test('C4 put without an expiry removes an existing one', async () => {
    const { people, backend } = fixture;
    await people.put('a', ada, { expiresAt: backend.now() + 10 });
    await people.put('a', ada);
    backend.advance(10);
    assert.deepEqual(await people.find('a'), { id: 'a', version: 2, value: ada });
  });

  test('C5 replace with the current version writes', async () => {
    const { people } = fixture;
    await people.insert('a', ada);
    assert.deepEqual(await people.replace('a', 1, bob), { id: 'a', version: 2, value: bob });
    assert.deepEqual(await people.find('a'), { id: 'a', version: 2, value: bob });
  });

  test('C5 replace with another version, or of an absent document, throws and writes nothing', async () => {
    const { people } = fixture;
    await people.insert('a', ada);
    await assert.rejects(people.replace('a', 0, bob), VersionConflict);
    await assert.rejects(people.replace('a', 2, bob), VersionConflict);
    assert.deepEqual(await people.find('a'), { id: 'a', version: 1, value: ada });
    assert.deepEqual(await people.findBy('team', 'blue'), []);
    await people.remove('a');
    await assert.rejects(people.replace('a', 1, bob), VersionConflict);
    await assert.rejects(people.replace('b', 1, bob), VersionConflict);
    assert.equal(await people.find('b'), undefined);
  });

  test('C5 a stale replace is a VersionConflict even if its unique key is taken by now', async () => {
    const { people } = fixture;
    await people.insert('a', ada);
    await people.put('a', { name: 'ada2' });
    await people.insert('b', ada);
    await assert.rejects(people.replace('a', 1, { ...ada, count: 1 }), VersionConflict);
  });

  test('C11 replace keeps the expiry', async () => {
    const { people, backend } = fixture;
    const expiresAt = backend.now() + 10;
    await people.insert('a', ada, { expiresAt });
    assert.deepEqual(await people.replace('a', 1, bob), { id: 'a', version: 2, expiresAt, value: bob });
    backend.advance(10);
    assert.equal(await people.find('a'), undefined);
  });

  test('C11 replace moves the expiry when one is given, and null clears it', async () => {
    const { people, backend } = fixture;
    await people.insert('a', ada, { expiresAt: backend.now() + 10 });
    await people.insert('b', bob, { expiresAt: backend.now() + 10 });
    const later = backend.now() + 20;
    assert.equal((await people.replace('a', 1, ada, { expiresAt: later })).expiresAt, later);
    assert.deepEqual(await people.replace('b', 1, bob, { expiresAt: null }), {
      id: 'b',
      version: 2,
      value: bob,
    });
    backend.advance(10);
    assert.equal((await people.find('a'))?.expiresAt, later);
    assert.deepEqual(await people.find('b'), { id: 'b', version: 2, value: bob });
    backend.advance(10);
    assert.equal(await people.find('a'), undefined);
    assert.equal((await people.find('b'))?.version, 2);
  });

  test('C12 an expiry in the past is accepted and never readable', async () => {
    const { people, backend } = fixture;
    const expiresAt = backend.now() - 1;
    assert.equal((await people.insert('a', ada, { expiresAt })).version, 1);
    assert.equal(await people.find('a'), undefined);
    assert.equal((await people.put('a', ada, { expiresAt: 0 })).version, 1);
    assert.equal(await people.find('a'), undefined);
    await people.insert('b', bob);
    assert.equal((await people.replace('b', 1, bob, { expiresAt })).version, 2);
    assert.equal(await people.find('b'), undefined);
    assert.deepEqual(await people.findBy('team', 'blue'), []);
    assert.equal((await people.insert('a', ada)).version, 1);
  });

  test('C12 an expiry that is no instant is refused, not treated as "never"', async () => {
    const { people } = fixture;
    for (const expiresAt of [Number.NaN, Number.POSITIVE_INFINITY]) {
      await assert.rejects(people.insert('a', ada, { expiresAt }), TypeError);
      await assert.rejects(people.put('a', ada, { expiresAt }), TypeError);
      await assert.rejects(people.replace('a', 1, ada, { expiresAt }), TypeError);
    }
    assert.equal(await people.find('a'), undefined);
  });
}
