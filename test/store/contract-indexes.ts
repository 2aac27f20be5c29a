// Rules about secondary keys: C6–C8 uniqueness, C9 document and index change together, C10 removeBy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EphemeralCollection } from '../../src/store/port.ts';
import { isTaken } from './contract-documents.ts';
import type { Fixture, Person, TestOf } from './contract-fixture.ts';

const idsOf = (found: readonly { id: string }[]): string[] => found.map(({ id }) => id);
const ids = async (people: EphemeralCollection<Person>, index: string, key: string): Promise<string[]> =>
  idsOf(await people.findBy(index, key));

/** @param testOfLists runs the rules that need several unique keys of one document in one index */
export function indexRules(fixture: Fixture, testOfLists: TestOf): void {
  test('C6 a clash on a unique key throws from insert, put and replace, and writes nothing', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada', email: 'ada@example.com' });
    const bob = { name: 'bob', email: 'bob@example.com', team: 'red' };
    await people.insert('b', bob);
    // The name is free, the address is not: the name must not be taken by a write that did not happen.
    const thief = { name: 'eve', email: 'ada@example.com', team: 'blue' };
    await assert.rejects(people.insert('c', thief), isTaken('email'));
    await assert.rejects(people.put('c', thief), isTaken('email'));
    await assert.rejects(people.put('b', thief), isTaken('email'));
    await assert.rejects(people.replace('b', 1, thief), isTaken('email'));
    await assert.rejects(people.insert('c', { name: 'ada' }), isTaken('name'));
    assert.equal(await people.find('c'), undefined);
    assert.deepEqual(await people.find('b'), { id: 'b', version: 1, value: bob });
    assert.deepEqual(await ids(people, 'team', 'red'), ['b']);
    assert.deepEqual(await ids(people, 'team', 'blue'), []);
    assert.equal((await people.insert('c', { name: 'eve' })).version, 1);
  });

  test('C6 a document does not clash with itself', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada', email: 'ada@example.com' });
    assert.equal((await people.put('a', { name: 'ada', email: 'ada@example.com', count: 1 })).version, 2);
    assert.equal(
      (await people.replace('a', 2, { name: 'ada', email: 'ada@example.com', count: 2 })).version,
      3,
    );
  });

  test('C7 a unique key is free after remove and removeBy', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada', team: 'red' });
    await people.remove('a');
    assert.equal((await people.insert('b', { name: 'ada', team: 'red' })).version, 1);
    await people.removeBy('team', 'red');
    assert.equal((await people.insert('c', { name: 'ada' })).version, 1);
  });

  test('C7 a unique key is free after its owner took another', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada' });
    await people.replace('a', 1, { name: 'ada2' });
    assert.equal((await people.insert('b', { name: 'ada' })).version, 1);
    await people.put('b', { name: 'bob' });
    assert.equal((await people.put('c', { name: 'ada' })).version, 1);
    assert.deepEqual(await ids(people, 'name', 'ada'), ['c']);
  });

  test('C7 a unique key is free after its owner expired, for insert, put and replace', async () => {
    const { people, backend } = fixture;
    const expiresAt = backend.now() + 10;
    for (const name of ['x', 'y', 'z']) await people.insert(name, { name }, { expiresAt });
    await people.insert('keeper', { name: 'keeper' });
    await assert.rejects(people.insert('a', { name: 'x' }), isTaken('name'));
    backend.advance(10);
    assert.equal((await people.insert('a', { name: 'x' })).version, 1);
    assert.equal((await people.put('b', { name: 'y' })).version, 1);
    assert.equal((await people.replace('keeper', 1, { name: 'z' })).version, 2);
    for (const [name, id] of [
      ['x', 'a'],
      ['y', 'b'],
      ['z', 'keeper'],
    ] as const) {
      assert.deepEqual(await ids(people, 'name', name), [id]);
      assert.equal(await people.find(name), undefined);
    }
    await backend.store.sweep(100);
    assert.deepEqual(await ids(people, 'name', 'x'), ['a']);
  });

  test('C8 undefined means "not indexed": many documents can lack a unique key', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada' });
    await people.insert('b', { name: 'bob' });
    await people.insert('c', { name: 'eve', email: '' });
    assert.deepEqual(await ids(people, 'email', ''), ['c']);
    assert.deepEqual(await ids(people, 'email', 'undefined'), []);
    assert.deepEqual(await ids(people, 'team', ''), []);
  });

  test('C8 a key that becomes undefined is free, and findBy no longer finds the document', async () => {
    const { people } = fixture;
    await people.insert('a', { name: 'ada', email: 'ada@example.com', team: 'red' });
    await people.replace('a', 1, { name: 'ada' });
    assert.deepEqual(await ids(people, 'email', 'ada@example.com'), []);
    assert.deepEqual(await ids(people, 'team', 'red'), []);
    assert.equal((await people.insert('b', { name: 'bob', email: 'ada@example.com' })).version, 1);
  });

  test('C9 further keys are keys: found by each, moved with the first in one write, free at once', async () => {
    const { people } = fixture;
    const ada = { name: 'ada', email: 'a@x', emails: ['a2@x', 'a3@x', 'a@x', 'a2@x'] };
    await people.insert('a', ada);
    for (const key of ['a@x', 'a2@x', 'a3@x']) assert.deepEqual(await ids(people, 'email', key), ['a']);
    await people.replace('a', 1, { name: 'ada', email: 'a2@x', emails: ['a@x'] });
    for (const key of ['a@x', 'a2@x']) assert.deepEqual(await ids(people, 'email', key), ['a']);
    assert.deepEqual(await ids(people, 'email', 'a3@x'), []);
    await people.insert('b', { name: 'bob', emails: ['a3@x', 'b@x'] });
    assert.deepEqual(await ids(people, 'email', 'a3@x'), ['b']);
    assert.equal(await people.removeBy('email', 'b@x'), 1);
    await people.put('a', { name: 'ada' });
    await people.insert('c', { name: 'eve', email: 'b@x', emails: ['a@x', 'a2@x', 'a3@x'] });
    for (const key of ['a@x', 'b@x', 'a3@x']) assert.deepEqual(await ids(people, 'email', key), ['c']);
  });

  testOfLists('C6 first and further keys of all documents have one owner', async () => {
    const { people, backend } = fixture;
    const ada = { name: 'ada', email: 'a@x', emails: ['a2@x', 'a3@x'] };
    await people.insert('a', ada);
    await assert.rejects(people.insert('b', { name: 'bob', email: 'a2@x' }), isTaken('email'));
    await assert.rejects(people.insert('b', { name: 'bob', emails: ['b@x', 'a@x'] }), isTaken('email'));
    await assert.rejects(people.insert('b', { name: 'bob', emails: ['b@x', 'a3@x'] }), isTaken('email'));
    assert.deepEqual(await ids(people, 'email', 'b@x'), []);
    const expiresAt = backend.now() + 10;
    await people.insert('b', { name: 'bob', email: 'b@x', emails: ['b2@x'] }, { expiresAt });
    await assert.rejects(people.replace('a', 1, { ...ada, emails: ['b2@x'] }), isTaken('email'));
    assert.deepEqual(await ids(people, 'email', 'a3@x'), ['a']);
    // C7 for owners that expired, whichever of their keys is wanted.
    backend.advance(10);
    await people.put('a', { name: 'ada', email: 'b2@x', emails: ['b@x', 'a2@x'] });
    for (const key of ['b@x', 'b2@x', 'a2@x']) assert.deepEqual(await ids(people, 'email', key), ['a']);
  });

  testOfLists('C6 of documents that take one further key at once, one gets it', async () => {
    const { people } = fixture;
    const takers = ['a', 'b', 'c', 'd'];
    for (const id of takers) await people.insert(id, { name: id, email: `${id}@x` });
    const takes = takers.map((id) =>
      people.replace(id, 1, { name: id, email: `${id}@x`, emails: ['shared@x'] }),
    );
    const outcomes = await Promise.allSettled([
      ...takes,
      people.insert('e', { name: 'e', email: 'shared@x' }),
    ]);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await ids(people, 'email', 'shared@x')).length, 1);
  });

  test('C9 findBy returns the live documents with this key, in id order', async () => {
    const { people, backend } = fixture;
    for (const id of ['c', 'a', 'd', 'b']) await people.insert(id, { name: id, team: 'red' });
    await people.insert('e', { name: 'e', team: 'red' }, { expiresAt: backend.now() + 10 });
    assert.deepEqual(await ids(people, 'team', 'red'), ['a', 'b', 'c', 'd', 'e']);
    await people.put('a', { name: 'a', team: 'blue' });
    await people.remove('b');
    backend.advance(10);
    assert.deepEqual(await ids(people, 'team', 'red'), ['c', 'd']);
    assert.deepEqual(await ids(people, 'team', 'blue'), ['a']);
    assert.deepEqual(await ids(people, 'team', 'r'), []);
    assert.deepEqual(await ids(people, 'team', 'RED'), []);
  });

  test('C9 an undeclared index is a programmer error', async () => {
    const { people } = fixture;
    await assert.rejects(people.findBy('nickname', 'x'), TypeError);
    await assert.rejects(people.removeBy('toString', 'x'), TypeError);
  });

  test('C9 a reader beside writers never gets a document of another key, nor one twice', async () => {
    const { people, backend, peopleOf } = fixture;
    const other = (await backend.reopen?.()) ?? backend.store;
    const readers = [people, peopleOf(other)];
    const members = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const id of members) await people.insert(id, { name: id, team: 'red' });
    let reads = 0;
    let writing = members.length;
    const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const write = async (id: string): Promise<void> => {
      for (let n = 0; reads < 100; n += 1) {
        if (n % 10 === 9) await people.remove(id);
        await people.put(id, { name: id, team: n % 2 === 0 ? 'blue' : 'red' });
        await pause();
      }
      await people.put(id, { name: id, team: 'red' });
      writing -= 1;
    };
    const watch = async (reader: EphemeralCollection<Person>): Promise<void> => {
      for (; writing > 0; reads += 1) {
        for (const team of ['red', 'blue']) {
          const found = await reader.findBy('team', team);
          for (const { value } of found) assert.equal(value.team, team);
          assert.deepEqual(idsOf(found), [...new Set(idsOf(found))]);
        }
        await pause();
      }
    };
    await Promise.all([...members.map(write), ...readers.map(watch)]);
    assert.deepEqual(await ids(people, 'team', 'red'), members);
  });

  test('C10 removeBy removes all live documents of the key, returns their number, spares others', async () => {
    const { people, backend } = fixture;
    for (const id of ['a', 'b', 'c']) await people.insert(id, { name: id, team: 'red' });
    await people.insert('d', { name: 'd', team: 'blue' });
    await people.insert('e', { name: 'e', team: 'red' }, { expiresAt: backend.now() + 10 });
    backend.advance(10);
    assert.equal(await people.removeBy('team', 'red'), 3);
    assert.equal(await people.removeBy('team', 'red'), 0);
    for (const id of ['a', 'b', 'c']) assert.equal(await people.find(id), undefined);
    assert.deepEqual(await ids(people, 'team', 'red'), []);
    assert.equal((await people.find('d'))?.value.team, 'blue');
  });

  test('C10 of parallel removeBy calls each document is counted once', async () => {
    const { people } = fixture;
    for (let n = 0; n < 20; n += 1) await people.insert(`${n}`, { name: `${n}`, team: 'red' });
    const counts = await Promise.all(Array.from({ length: 10 }, () => people.removeBy('team', 'red')));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      20,
    );
  });
}
