// Rules about the store as a whole: other stores over the same data, stamp, ping, close.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../src/store/port.ts';
import type { Fixture } from './contract-fixture.ts';

export function lifecycleRules(fixture: Fixture): void {
  test('C15 acknowledged writes are visible to another store at once and after close', async () => {
    const { people, backend, peopleOf } = fixture;
    if (!backend.reopen) return;
    const other = await backend.reopen();
    await people.insert('a', { name: 'ada', team: 'red' });
    assert.equal((await peopleOf(other).find('a'))?.value.name, 'ada');
    assert.equal((await peopleOf(other).findBy('team', 'red')).length, 1);
    await backend.store.close();
    await other.close();
    const later = await backend.reopen();
    assert.deepEqual(await peopleOf(later).find('a'), {
      id: 'a',
      version: 1,
      value: { name: 'ada', team: 'red' },
    });
  });

  test('port: stamp changes when another store wrote, and otherwise stays', async () => {
    const { backend, peopleOf } = fixture;
    const before = backend.store.stamp();
    if (before === undefined || !backend.reopen) return;
    const other = peopleOf(await backend.reopen());
    const ready = backend.store.stamp();
    assert.equal(backend.store.stamp(), ready);
    await other.find('a');
    assert.equal(backend.store.stamp(), ready);
    await other.insert('a', { name: 'ada' });
    assert.notEqual(backend.store.stamp(), ready);
  });

  test('port: ping resolves while the store is open', async () => {
    await fixture.backend.store.ping();
    await fixture.backend.store.close();
    await assert.rejects(fixture.backend.store.ping(), StoreUnavailable);
  });

  test('port: close completes earlier calls, refuses later ones, and may be repeated', async () => {
    const { people, backend, peopleOf } = fixture;
    const pending = Array.from({ length: 50 }, (_, n) =>
      people.insert(`${n}`, { name: `${n}`, team: 'red' }),
    );
    await Promise.all([backend.store.close(), backend.store.close()]);
    assert.equal((await Promise.all(pending)).length, 50);
    await assert.rejects(people.find('0'), StoreUnavailable);
    await assert.rejects(people.insert('x', { name: 'x' }), StoreUnavailable);
    await assert.rejects(backend.store.sweep(1), StoreUnavailable);
    if (!backend.reopen) return;
    const later = peopleOf(await backend.reopen());
    assert.equal((await later.findBy('team', 'red')).length, 50);
  });
}
